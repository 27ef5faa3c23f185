//! How long and how much: what bounds a session.

use std::time::Duration;

use super::Options;

/// The longest line that is read from the CLI unless the caller says otherwise: a base64 image is
/// easily several MiB on one line.
pub const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// How many bytes of unread messages are kept before partial messages are dropped.
pub const BACKLOG_LIMIT: usize = 256 * 1024 * 1024;

/// What bounds a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionLimits {
    /// The longest line that is read.
    pub(crate) line: usize,
    /// The most unread messages before partial ones are dropped.
    pub(crate) backlog: usize,
    /// How long the first answer may take.
    pub(crate) initialize: Duration,
    /// How long any later answer may take.
    pub(crate) control: Duration,
    /// How long each step of the end may take.
    pub(crate) grace: Duration,
    /// How long a run stays open for what may never end.
    pub(crate) background: Option<Duration>,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            line: LINE_LIMIT,
            backlog: BACKLOG_LIMIT,
            initialize: Duration::from_mins(1),
            control: Duration::from_mins(1),
            grace: Duration::from_secs(5),
            background: Some(Duration::from_mins(10)),
        }
    }
}

impl Options {
    /// Sets the longest line that is read. A longer one is reported and skipped.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.limits.line = bytes;
        self
    }

    /// Sets how many bytes of unread messages are kept before partial messages are dropped.
    /// Nothing else ever is.
    pub fn backlog_limit(mut self, bytes: usize) -> Self {
        self.limits.backlog = bytes;
        self
    }

    /// Sets how long the CLI may take to answer the first request.
    pub fn initialize_timeout(mut self, timeout: Duration) -> Self {
        self.limits.initialize = timeout;
        self
    }

    /// Sets how long the CLI may take to answer any later request.
    pub fn control_timeout(mut self, timeout: Duration) -> Self {
        self.limits.control = timeout;
        self
    }

    /// Sets how long the CLI has to write its transcript once it is told to go, and again how long
    /// it has between being asked to end and being killed.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    /// Sets how long a one-shot query waits for background work after its last result; `None` is
    /// for ever. The time runs only while neither the model nor a subagent is at work.
    pub fn background_ceiling(mut self, ceiling: Option<Duration>) -> Self {
        self.limits.background = ceiling;
        self
    }
}
