//! The live side of the log: hints that it grew, and text that is still being written.
//!
//! Per project one ordered channel carries both, so a reader never sees a piece of a text after the
//! whole of it. Hints may be lost (a slow reader looks at the log again), pieces too (the whole text
//! follows as an entry); entries are never lost, since they are read from the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::{ExecutionId, ProjectId, RunId, SessionId};
use tokio::sync::broadcast;

/// How many signals a reader may be behind before it has to catch up from the log.
const BEHIND: usize = 1024;

/// Something to show that is not in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveUpdate {
    /// The conversation.
    pub session: SessionId,
    /// The run, where there is one.
    pub run: Option<RunId>,
    /// What.
    pub news: LiveEvent,
}

/// What happens at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveEvent {
    /// The model has written some more.
    TextDelta(String),
    /// The model's answer broke off and is asked for again: what was written of it is void.
    Retry {
        /// Which attempt comes next.
        attempt: u32,
        /// After how long.
        wait_ms: u64,
        /// Why.
        reason: String,
    },
    /// A call that runs elsewhere has written some more.
    ToolOutput {
        /// Which.
        execution: ExecutionId,
        /// What.
        text: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum ChannelSignal {
    /// The log has entries up to this number.
    Logged(u64),
    /// There is something to show that is not in the log.
    Live(Arc<LiveUpdate>),
}

/// The channels of all projects.
#[derive(Debug)]
pub(crate) struct ProjectChannels {
    projects: Mutex<HashMap<ProjectId, ProjectChannel>>,
    /// Which log has grown, and up to which number.
    grown: broadcast::Sender<(ProjectId, u64)>,
}

impl Default for ProjectChannels {
    fn default() -> Self {
        Self { projects: Mutex::default(), grown: broadcast::channel(BEHIND).0 }
    }
}

#[derive(Debug)]
struct ProjectChannel {
    signals: broadcast::Sender<ChannelSignal>,
    /// What has been written so far of texts that are not in the log yet.
    drafts: HashMap<RunId, (SessionId, String)>,
}

impl Default for ProjectChannel {
    fn default() -> Self {
        Self { signals: broadcast::channel(BEHIND).0, drafts: HashMap::new() }
    }
}

impl ProjectChannels {
    pub(crate) fn announce_entry(&self, project: &ProjectId, seq: u64) {
        if let Some(channel) = self.lock().get(project) {
            // Nobody listening is fine: the log keeps it.
            let _ = channel.signals.send(ChannelSignal::Logged(seq));
        }
        if self.grown.receiver_count() > 0 {
            let _ = self.grown.send((project.clone(), seq));
        }
    }

    /// Listens from now on for hints that a log has grown, of whatever project.
    pub(crate) fn listen_to_all(&self) -> broadcast::Receiver<(ProjectId, u64)> {
        self.grown.subscribe()
    }

    pub(crate) fn send_live(&self, project: &ProjectId, live: LiveUpdate) {
        let mut projects = self.lock();
        let channel = projects.entry(project.clone()).or_default();
        match (&live.news, live.run) {
            (LiveEvent::TextDelta(text), Some(run)) => {
                let draft = channel.drafts.entry(run);
                draft.or_insert_with(|| (live.session.clone(), String::new())).1.push_str(text);
            }
            (LiveEvent::Retry { .. }, Some(run)) => drop(channel.drafts.remove(&run)),
            // Only a run writes a text; what a call writes comes whole with its result.
            (LiveEvent::TextDelta(_) | LiveEvent::Retry { .. }, None)
            | (LiveEvent::ToolOutput { .. }, _) => {}
        }
        let _ = channel.signals.send(ChannelSignal::Live(Arc::new(live)));
    }

    /// Forgets what a run was writing: the whole of it is going into the log.
    pub(crate) fn discard_draft(&self, project: &ProjectId, run: RunId) {
        if let Some(channel) = self.lock().get_mut(project) {
            channel.drafts.remove(&run);
        }
    }

    /// Listens from now on, and returns what is being written at this moment.
    pub(crate) fn listen(
        &self,
        project: &ProjectId,
    ) -> (broadcast::Receiver<ChannelSignal>, Vec<LiveUpdate>) {
        let mut projects = self.lock();
        let channel = projects.entry(project.clone()).or_default();
        let drafts = channel.drafts.iter().map(|(run, (session, text))| LiveUpdate {
            session: session.clone(),
            run: Some(*run),
            news: LiveEvent::TextDelta(text.clone()),
        });
        let drafts = drafts.collect();
        (channel.signals.subscribe(), drafts)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProjectId, ProjectChannel>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
