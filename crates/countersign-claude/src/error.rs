//! What can go wrong with a session, one enum per operation.

use std::time::Duration;

use crate::message::{KnownFault, MessageParseError, ResultMessage};
use crate::options::OptionsError;
use crate::process::{LaunchError, ProcessExit};

/// Why a session did not come about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The options contradict each other.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The CLI was not started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The CLI went away before it had answered.
    #[error("the session ended before it began: {0}")]
    Ended(SessionEnd),
    /// The CLI is there and does not answer.
    #[error(
        "the CLI did not answer within {after:?}{}{}",
        .last_mark.as_ref().map(|mark| format!(", it got as far as `{mark}`")).unwrap_or_default(),
        stderr_suffix(.stderr)
    )]
    Timeout {
        /// How long it had.
        after: Duration,
        /// The last sign of life it gave.
        last_mark: Option<String>,
        /// The end of its error output.
        stderr: String,
    },
    /// The CLI said no.
    #[error("the CLI refused to start the session")]
    Refused(#[source] ControlError),
    /// A hook is to block when it fails, and the CLI cannot do that.
    #[error(
        "a hook is to block when it fails, which this CLI does not support: update it, or let the hook continue"
    )]
    OnFailureUnsupported,
}

/// Why a request to the CLI was not answered as hoped.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The CLI said no.
    #[error("`{subtype}`: {message}")]
    Refused {
        /// What was asked.
        subtype: String,
        /// Why not, as a word.
        code: Option<String>,
        /// Why not.
        message: String,
    },
    /// No answer came.
    #[error("`{subtype}` was not answered within {after:?}")]
    Timeout {
        /// What was asked.
        subtype: String,
        /// How long it had.
        after: Duration,
    },
    /// The session ended first.
    #[error(transparent)]
    Ended(#[from] SessionEnd),
    /// The run's input is closed already: nothing more can be asked of it.
    #[error("the CLI's input is closed, so it receives nothing more")]
    InputClosed,
    /// The answer was not of the expected form.
    #[error("the answer to `{subtype}` cannot be read: {reason}")]
    Unreadable {
        /// What was asked.
        subtype: String,
        /// What is wrong with it.
        reason: String,
    },
    /// In bypass mode the CLI never asks, so the callback would guard nothing.
    #[error(
        "a permission callback and `bypassPermissions` exclude each other: nothing would be asked"
    )]
    CallbackWithBypass,
}

/// Why a session is over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionEnd {
    /// This side closed it.
    #[error("the session was closed")]
    Closed,
    /// The CLI ended.
    #[error("the CLI ended {exit}{}", stderr_suffix(.stderr))]
    Exited {
        /// How.
        exit: ProcessExit,
        /// The end of its error output.
        stderr: String,
    },
    /// The CLI ended because its last result was a failure.
    #[error(
        "{}{}",
        .0.failure().unwrap_or_else(|| "the run failed".to_owned()),
        .1.as_ref().map(|fault| format!(" ({fault})")).unwrap_or_default()
    )]
    Failed(Box<ResultMessage>, Option<KnownFault>),
    /// The line to it broke.
    #[error("the connection to the CLI broke: {reason}{}", stderr_suffix(.stderr))]
    Broken {
        /// How.
        reason: String,
        /// The end of its error output.
        stderr: String,
    },
}

/// Something in the stream that is not a message.
///
/// Only [`Ended`](Self::Ended) ends it; after the others, the next message follows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A line was over the limit and was skipped.
    #[error("a line of {bytes} bytes is over the limit of {limit} and was skipped")]
    Oversize {
        /// How long it was.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A line that began like a message was none, and was skipped.
    #[error("a line was not a message and was skipped")]
    Malformed(#[from] MessageParseError),
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] SessionEnd),
}

/// Why a turn has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The prompt was taken back before its turn came, or the CLI had nothing to say to it.
    #[error("the prompt was cancelled, or the CLI finished without a result for it")]
    Cancelled,
    /// The session is over.
    #[error(transparent)]
    Ended(#[from] SessionEnd),
}

/// Returns what was said on the side, as the end of a sentence.
fn stderr_suffix(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("; it said: {stderr}") }
}
