//! Why a run stops, and what is recorded and told of that.

use countersign_core::Event;
use countersign_gate::{NewRunMessage, RunEnd, StoreError};

use crate::model::ModelError;

/// What is recorded with the end of a run.
#[derive(Debug, Default)]
pub(crate) struct ClosingRecord {
    pub(crate) messages: Vec<NewRunMessage>,
    pub(crate) events: Vec<Event>,
}

/// Why the turns of a run do not go on.
#[derive(Debug)]
pub(crate) enum RunHalt {
    /// The run is over, with these last words.
    Over(RunStopCause, ClosingRecord),
    /// The run is left as it stands.
    Suspended,
}

impl From<RunStopCause> for RunHalt {
    fn from(stop: RunStopCause) -> Self {
        Self::Over(stop, ClosingRecord::default())
    }
}

impl From<StoreError> for RunHalt {
    fn from(error: StoreError) -> Self {
        RunStopCause::from(error).into()
    }
}

/// Why a run stopped before the model was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunStopCause {
    #[error("stopped")]
    Cancelled,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the conversation could not be recorded, so it was stopped")]
    Store(#[from] StoreError),
    #[error("the answer reached the limit of {0} tokens")]
    MaxTokens(u32),
    #[error("the model declined to answer")]
    Refusal,
    #[error("stopped after {0} answers to one prompt")]
    TooManyTurns(u32),
    #[error("the run failed internally (a panic)")]
    Broken,
    #[cfg(feature = "claude-code")]
    #[error("{message}")]
    ClaudeCode { message: String, hint: &'static str },
}

impl RunStopCause {
    pub(crate) fn end(&self) -> RunEnd {
        match self {
            Self::Cancelled => RunEnd::Cancelled,
            _ => RunEnd::Failed,
        }
    }

    pub(crate) fn event(&self) -> Event {
        let (code, hint) = match self {
            Self::Cancelled => ("cancelled", None),
            Self::Model(error) => (error.code(), error.hint().map(str::to_owned)),
            Self::Store(error) => ("store", Some(error.remedy().to_owned())),
            Self::MaxTokens(_) => {
                ("max_tokens", Some("send `continue` to let it go on".to_owned()))
            }
            Self::Refusal => ("refusal", Some("put the request in other words".to_owned())),
            Self::TooManyTurns(_) => {
                ("too_many_turns", Some("send `continue` if it was getting somewhere".to_owned()))
            }
            Self::Broken => ("broken", Some("look at the log of the program".to_owned())),
            #[cfg(feature = "claude-code")]
            Self::ClaudeCode { hint, .. } => ("claude_cli", Some((*hint).to_owned())),
        };
        Event::RunFailed { code: code.to_owned(), message: self.to_string(), hint }
    }
}
