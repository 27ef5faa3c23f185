//! The journal of one run: what is recorded of a conversation, and what is shown live.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{Event, ProjectId, RunId, SessionId};

use crate::activity_log::{log_run_end, run_span};
use crate::clock::Clock;
use crate::live::{LiveEvent, LiveUpdate, ProjectChannels};
use crate::retry::retry_until_available;
use crate::store::{NewRunMessage, RunEnd, RunKey, Store, StoreError};

/// Writes down one run as it goes.
///
/// Messages and the events that tell of them are recorded in one step, so a reader never sees what
/// the conversation does not have. While the database is away, the run waits for it.
#[derive(Clone)]
pub struct RunJournal {
    pub(crate) store: Store,
    pub(crate) channels: Arc<ProjectChannels>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) key: RunKey,
    /// When this driver took it up, by the running time of the clock.
    pub(crate) began: Duration,
    pub(crate) is_silent: bool,
}

impl RunJournal {
    /// Returns the journal of a child agent, whose calls are the run's and whose words are nobody's:
    /// nothing is recorded of a conversation that the person does not have.
    #[must_use]
    pub fn for_child_agent(&self) -> Self {
        Self { is_silent: true, ..self.clone() }
    }

    /// Returns the project the run belongs to.
    pub fn project(&self) -> &ProjectId {
        &self.key.project
    }

    /// Returns the conversation the run belongs to.
    pub fn session(&self) -> &SessionId {
        &self.key.session
    }

    /// Returns the run.
    pub fn run(&self) -> RunId {
        self.key.run
    }

    /// Returns the span of the run, for everything that its driver does.
    pub fn span(&self) -> tracing::Span {
        run_span(&self.key)
    }

    /// Records messages of the conversation and the events that tell of them.
    pub async fn record(
        &self,
        messages: Vec<NewRunMessage>,
        events: Vec<Event>,
    ) -> Result<(), StoreError> {
        if self.is_silent {
            return Ok(());
        }
        // What was live becomes an entry: a reader that comes now finds it in the log.
        self.discard_draft();
        retry_until_available(&self.clock, "a conversation", pending(), || {
            self.store.record(&self.key, messages.clone(), events.clone(), self.clock.now())
        })
        .await
    }

    /// Tells of something that is no part of the conversation: also what a child agent has to tell.
    pub async fn record_events(&self, events: Vec<Event>) -> Result<(), StoreError> {
        retry_until_available(&self.clock, "what is told", pending(), || {
            self.store.record(&self.key, Vec::new(), events.clone(), self.clock.now())
        })
        .await
    }

    /// Shows something that need not survive.
    pub fn show_live(&self, news: LiveEvent) {
        if self.is_silent {
            return;
        }
        let live = LiveUpdate { session: self.key.session.clone(), run: Some(self.key.run), news };
        self.channels.send_live(&self.key.project, live);
    }

    /// Forgets what was shown of an answer that is not going to be recorded.
    pub fn discard_draft(&self) {
        if self.is_silent {
            return;
        }
        self.channels.discard_draft(&self.key.project, self.key.run);
    }

    /// Ends the run with its last words, in one step; that of a child agent is not its own to end.
    pub async fn end(
        &self,
        end: RunEnd,
        messages: Vec<NewRunMessage>,
        events: Vec<Event>,
    ) -> Result<(), StoreError> {
        if self.is_silent {
            return Ok(());
        }
        self.discard_draft();
        retry_until_available(&self.clock, "the end of a run", pending(), || {
            self.store.end_run(&self.key, end, messages.clone(), events.clone(), self.clock.now())
        })
        .await?;
        let took = self.clock.running_for().saturating_sub(self.began);
        log_run_end(&self.key, end, Some(took));
        Ok(())
    }
}
