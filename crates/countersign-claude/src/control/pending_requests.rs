//! The questions we asked that wait for their answers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::oneshot;

use crate::error::{ControlError, SessionEnd};

/// The questions that wait, until the session is over.
#[derive(Default)]
pub(super) struct PendingRequests(Mutex<PendingRequestTable>);

#[derive(Default)]
struct PendingRequestTable {
    waiting: HashMap<String, oneshot::Sender<Result<Value, ControlRefusal>>>,
    end: Option<SessionEnd>,
}

/// A no of the CLI.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ControlRefusal {
    pub(super) message: String,
    pub(super) code: Option<String>,
}

impl ControlRefusal {
    pub(super) fn into_control_error(self, subtype: &str) -> ControlError {
        let Self { message, code } = self;
        ControlError::Refused { subtype: subtype.to_owned(), code, message }
    }
}

impl PendingRequests {
    pub(super) fn add(
        &self,
        id: &str,
        sender: oneshot::Sender<Result<Value, ControlRefusal>>,
    ) -> Result<(), SessionEnd> {
        let mut state = self.state();
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        state.waiting.insert(id.to_owned(), sender);
        Ok(())
    }

    /// Hands an answer to whoever waits for it. A late one is nobody's.
    pub(super) fn resolve(&self, id: &str, answer: Result<Value, ControlRefusal>) {
        let Some(sender) = self.state().waiting.remove(id) else {
            tracing::debug!(id, "an answer came that nobody waits for");
            return;
        };
        let _ = sender.send(answer);
    }

    /// Returns whether it still waited.
    pub(super) fn remove(&self, id: &str) -> bool {
        self.state().waiting.remove(id).is_some()
    }

    /// Lets everyone who waits know at once that no answer will come.
    pub(super) fn finish(&self, end: SessionEnd) {
        let mut state = self.state();
        state.end.get_or_insert(end);
        state.waiting.clear();
    }

    pub(super) fn end_reason(&self) -> Option<SessionEnd> {
        self.state().end.clone()
    }

    fn state(&self) -> MutexGuard<'_, PendingRequestTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
