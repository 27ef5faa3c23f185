//! The format of the log.

use clap::ValueEnum;

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of text each, with colours on a terminal.
    Text,
    /// A JSON object each.
    Json,
}
