//! Why a tool could not do its work, in words for the model.

use std::io;

use countersign_core::{FailureKind, InvalidCall};

/// Why a tool could not do its work. The whole text goes to the model, causes included.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The call cannot run as it was made.
    #[error(transparent)]
    Invalid(#[from] InvalidCall),
    /// A file is no longer the one the decision was bound to.
    #[error("`{path}` has changed since it was approved; read it again and repeat the change")]
    Drift {
        /// The path as the call gives it.
        path: String,
    },
    /// The call would no longer do what was judged.
    #[error(
        "what this call reaches has changed since it was judged (a link or folder moved); make the call again"
    )]
    Moved,
    /// The command would no longer do what it did in its rehearsal.
    #[error("what the command does has changed since it was rehearsed")]
    OutOfDate,
    /// The run was cancelled.
    #[error("interrupted before it finished")]
    Interrupted,
    /// The machine said no.
    #[error("could not {doing} `{path}`: {cause}")]
    Io {
        /// What was tried: `read`, `write`, …
        doing: &'static str,
        /// The path as the call gives it.
        path: String,
        /// What the machine said.
        cause: io::Error,
    },
    /// It failed in the middle, and not all that was done before could be taken back.
    #[error("{why}; these earlier changes could not be undone: {}", left.join(", "))]
    HalfDone {
        /// What failed.
        why: String,
        /// The paths as the call gives them.
        left: Vec<String>,
    },
    /// The tool itself broke: a fault of ours.
    #[error("the tool broke while it worked; whether it had an effect is unknown")]
    Broken,
}

impl ToolError {
    /// Returns the error of a call that cannot run as it was made.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(InvalidCall(text.into()))
    }

    /// Returns the kind of the failure, for programs.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Invalid(_) => FailureKind::Invalid,
            Self::Drift { .. } | Self::Moved | Self::OutOfDate => FailureKind::Drift,
            Self::Interrupted => FailureKind::Interrupted,
            Self::Io { .. } => FailureKind::Io,
            Self::HalfDone { .. } => FailureKind::HalfDone,
            Self::Broken => FailureKind::Broken,
        }
    }
}
