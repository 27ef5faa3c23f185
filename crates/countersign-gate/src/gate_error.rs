//! Why the gate did not do what was asked, where that is not only about storage.

use countersign_core::{ApprovalId, ExecutionId};
use tokio::task::JoinError;

use crate::store::StoreError;

/// Why the gate did not do what was asked. Nothing was half done.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// It could not be read or written down.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such execution.
    #[error("no call has the id `{0}`")]
    Unknown(ApprovalId),
    /// No other request was to take its place.
    #[error("no other request replaces the call `{0}`")]
    NotReplaced(ApprovalId),
    /// Somebody else is to run the call, so it gets a lease and no permit.
    #[error("the call `{0}` runs elsewhere, so it gets no permit here")]
    RunsElsewhere(ExecutionId),
    /// The call runs here, so it gets a permit and no lease.
    #[error("the call `{0}` runs here, so no client gets it")]
    RunsHere(ExecutionId),
    /// A fault of ours: work on a thread of its own panicked.
    #[error("the server failed internally while it {doing}")]
    TaskFailed {
        /// What it was doing.
        doing: &'static str,
        /// How the task ended.
        #[source]
        source: JoinError,
    },
}

/// An error that may pass without anybody changing the program.
pub trait TransientError: std::error::Error + Send + Sync + 'static {
    /// Returns whether the same may succeed later.
    fn is_transient(&self) -> bool;
}

impl TransientError for StoreError {
    fn is_transient(&self) -> bool {
        Self::is_transient(self)
    }
}

impl TransientError for GateError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Unknown(_)
            | Self::NotReplaced(_)
            | Self::RunsElsewhere(_)
            | Self::RunsHere(_)
            | Self::TaskFailed { .. } => false,
        }
    }
}
