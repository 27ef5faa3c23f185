//! Following a log: every entry after a number once and in order, and what is live between them.

use std::collections::VecDeque;

use countersign_core::ProjectId;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::gate::Gate;
use crate::live::{ChannelSignal, LiveUpdate};
use crate::store::{LogEntry, Store, StoreError};

/// How many entries are read at a time: bounds what one slow reader holds in memory.
const PAGE: usize = 128;

/// What a follower sees next.
#[derive(Clone, Debug, PartialEq)]
pub enum LogFollowerItem {
    /// An entry of the log.
    Logged(LogEntry),
    /// Something live.
    Live(LiveUpdate),
}

/// One reader of one project's log.
#[derive(Debug)]
pub struct LogFollower {
    store: Store,
    project: ProjectId,
    signals: broadcast::Receiver<ChannelSignal>,
    page: VecDeque<LogEntry>,
    /// What was being written when we came: newer than every entry up to the head of that moment.
    drafts: VecDeque<LiveUpdate>,
    /// The number up to which everything has been read.
    read: u64,
    /// The number up to which the log is known to go.
    known: u64,
    /// Whether hints were missed, so that the log must be asked how far it goes.
    lagged: bool,
}

impl LogFollower {
    pub(crate) fn new(
        store: Store,
        project: ProjectId,
        signals: broadcast::Receiver<ChannelSignal>,
        drafts: Vec<LiveUpdate>,
        after: u64,
        head: u64,
    ) -> Self {
        let (page, drafts) = (VecDeque::new(), drafts.into());
        Self { store, project, signals, page, drafts, read: after, known: head, lagged: false }
    }

    /// Returns what comes next; waits for it if need be. None when the gate is gone.
    ///
    /// Dropping the future loses nothing: the next call starts where this one was.
    pub async fn next(&mut self) -> Option<Result<LogFollowerItem, StoreError>> {
        loop {
            if let Some(entry) = self.page.pop_front() {
                return Some(Ok(LogFollowerItem::Logged(entry)));
            }
            if self.read < self.known {
                if let Err(error) = self.read_page().await {
                    return Some(Err(error));
                }
                continue;
            }
            if self.lagged {
                match self.store.head(&self.project).await {
                    Ok(head) => self.known = self.known.max(head),
                    Err(error) => return Some(Err(error)),
                }
                self.lagged = false;
                continue;
            }
            if let Some(draft) = self.drafts.pop_front() {
                return Some(Ok(LogFollowerItem::Live(draft)));
            }
            match self.signals.recv().await {
                Ok(ChannelSignal::Logged(seq)) => self.known = self.known.max(seq),
                Ok(ChannelSignal::Live(live)) => {
                    return Some(Ok(LogFollowerItem::Live(LiveUpdate::clone(&live))));
                }
                Err(RecvError::Lagged(_)) => self.lagged = true,
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Returns the number up to which everything has been returned.
    pub fn position(&self) -> u64 {
        self.page.front().map_or(self.read, |next| next.seq.saturating_sub(1))
    }

    async fn read_page(&mut self) -> Result<(), StoreError> {
        let page = self.store.entries(&self.project, self.read, self.known, PAGE).await?;
        // A short page is the last one up to `known`: numbers behind it are gone, not late.
        let last = page.last().map_or(self.known, |last| last.seq);
        self.read = if page.len() < PAGE { self.known } else { last };
        self.page.extend(page);
        Ok(())
    }
}

impl Gate {
    /// Follows a project's log after a number.
    pub async fn follow(&self, project: &ProjectId, after: u64) -> Result<LogFollower, StoreError> {
        let (signals, drafts) = self.inner().channels.listen(project);
        let store = self.inner().store.clone();
        let head = store.head(project).await?;
        Ok(LogFollower::new(store, project.clone(), signals, drafts, after, head))
    }
}
