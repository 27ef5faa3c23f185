//! What was read from the CLI and not yet by the caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::error::StreamError;
use crate::message::Message;

/// What was read from the CLI and not yet by the caller, over all turns of a session.
///
/// The CLI is always read at once, since a full pipe would hold up its permission requests too. So
/// a caller that does not read costs memory: here is how much.
#[derive(Debug)]
pub struct Backlog {
    messages: AtomicUsize,
    bytes: AtomicUsize,
    dropped: AtomicU64,
    limit: usize,
}

impl Backlog {
    pub(crate) fn new(limit: usize) -> Self {
        let messages = AtomicUsize::new(0);
        Self { messages, bytes: AtomicUsize::new(0), dropped: AtomicU64::new(0), limit }
    }

    /// Returns how many messages wait.
    pub fn messages(&self) -> usize {
        self.messages.load(Ordering::Relaxed)
    }

    /// Returns how many bytes they had on the wire.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns how many partial messages were dropped because too much waited.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Whether a partial message is to be dropped; counts it if so.
    pub(super) fn drops_partial(&self) -> bool {
        let full = self.bytes() >= self.limit;
        if full {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        full
    }
}

/// One thing that waits in a queue. It counts until it is taken out or thrown away.
///
/// It is a line still: whoever takes it out reads it, so that a long one holds up nobody else.
pub(crate) struct Item {
    content: Option<Result<String, StreamError>>,
    bytes: usize,
    backlog: Arc<Backlog>,
}

impl Item {
    pub(super) fn new(content: Result<String, StreamError>, backlog: &Arc<Backlog>) -> Self {
        let bytes = content.as_ref().map_or(0, String::len);
        backlog.messages.fetch_add(1, Ordering::Relaxed);
        backlog.bytes.fetch_add(bytes, Ordering::Relaxed);
        Self { content: Some(content), bytes, backlog: backlog.clone() }
    }

    pub(crate) fn take(mut self) -> Option<Result<Message, StreamError>> {
        Some(self.content.take()?.and_then(|line| Ok(Message::parse(&line)?)))
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.backlog.messages.fetch_sub(1, Ordering::Relaxed);
        self.backlog.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
