//! The journal of one run: what is recorded of a conversation, and what is shown live.

use std::sync::Arc;

use countersign_core::{Event, ProjectId, RunId, SessionId};
use serde_json::Value;

use crate::clock::Clock;
use crate::live::{Channels, Live, News};
use crate::store::{RunEnd, Store, StoreError};

/// Writes down one run as it goes.
///
/// Messages and the events that tell of them are recorded in one step, so a reader never sees what
/// the conversation does not have.
#[derive(Clone)]
pub struct Journal {
    pub(crate) store: Store,
    pub(crate) channels: Arc<Channels>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) project: ProjectId,
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
}

impl Journal {
    /// Returns the project the run belongs to.
    pub fn project(&self) -> &ProjectId {
        &self.project
    }

    /// Returns the conversation the run belongs to.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Records messages of the conversation and the events that tell of them.
    pub async fn record(&self, messages: Vec<Value>, events: Vec<Event>) -> Result<(), StoreError> {
        // What was live becomes an entry: a reader that comes now finds it in the log.
        self.channels.settle(&self.project, self.run);
        let now = self.clock.now();
        self.store.record(&self.project, &self.session, self.run, messages, events, now).await
    }

    /// Shows something that need not survive.
    pub fn show(&self, news: News) {
        let live = Live { session: self.session.clone(), run: self.run, news };
        self.channels.show(&self.project, live);
    }

    /// Ends the run.
    pub async fn end(&self, end: RunEnd, event: Event) -> Result<(), StoreError> {
        self.channels.settle(&self.project, self.run);
        let now = self.clock.now();
        self.store.end_run(&self.project, &self.session, self.run, end, event, now).await
    }
}
