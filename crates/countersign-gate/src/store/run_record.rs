//! What is recorded of a run.

use countersign_core::{Event, ProjectId, RunId, SessionId};
use serde_json::Value;

/// A run about to begin.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// Where it belongs.
    pub project: ProjectId,
    /// The conversation it begins or goes on with.
    pub session: SessionId,
    /// What a new conversation is called in lists.
    pub title: String,
    /// What another driver needs to know to go on with it.
    pub settings: Value,
    /// The person's message, as the model's API has it. Calls that an earlier run left open are answered
    /// before it, once the conversation is claimed.
    pub message: Value,
    /// What the log tells first.
    pub events: Vec<Event>,
}

/// A message about to be recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRunMessage {
    /// The message, as the model's API has it.
    pub body: Value,
    /// How the answer ended whose message this is: what the message itself does not say.
    pub outcome: Option<Value>,
}

impl From<Value> for NewRunMessage {
    fn from(body: Value) -> Self {
        Self { body, outcome: None }
    }
}

/// A run that nobody drives.
#[derive(Clone, Debug, PartialEq)]
pub struct OrphanedRun {
    /// Its id.
    pub id: RunId,
    /// Where it belongs.
    pub project: ProjectId,
    /// Its conversation.
    pub session: SessionId,
    /// What it was begun with; null if that cannot be read.
    pub settings: Value,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The model had its say.
    Done,
    /// Something broke.
    Failed,
    /// A person stopped it.
    Cancelled,
}

impl RunEnd {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Failed => "FAILED",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// Which run something is about, and where that belongs.
#[derive(Clone, Debug)]
pub(crate) struct RunKey {
    pub(crate) project: ProjectId,
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
}
