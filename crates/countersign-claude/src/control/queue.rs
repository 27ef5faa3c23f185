//! From the reader to whoever reads the messages: one by one in, and out as many as came together.
//!
//! To wake somebody costs more than to read a message. So what came in one go is handed over in one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::backlog::Backlog;
use crate::error::StreamError;
use crate::message::Message;

/// A line still: whoever takes it out reads it, so that a long one holds up nobody else.
type Content = Result<String, StreamError>;

/// The end that is filled. Dropped, it hands over what it holds and closes the other end.
pub(crate) struct Queue {
    batches: UnboundedSender<Batch>,
    held: VecDeque<Content>,
    backlog: Arc<Backlog>,
}

/// The end that is read.
pub(crate) struct Unread {
    batches: UnboundedReceiver<Batch>,
    current: Option<Batch>,
}

/// What came in one go. It counts until it is taken out or thrown away.
struct Batch {
    lines: VecDeque<Content>,
    backlog: Arc<Backlog>,
}

impl Queue {
    pub(crate) fn new(backlog: Arc<Backlog>) -> (Self, Unread) {
        let (sender, receiver) = unbounded_channel();
        let queue = Self { batches: sender, held: VecDeque::new(), backlog };
        (queue, Unread { batches: receiver, current: None })
    }

    pub(super) fn backlog(&self) -> &Arc<Backlog> {
        &self.backlog
    }

    /// Takes in a line, which waits for [`flush`](Self::flush).
    pub(super) fn push(&mut self, content: Content) {
        self.backlog.add(size(&content));
        self.held.push_back(content);
    }

    /// Hands over what came since the last time.
    pub(super) fn flush(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let lines = std::mem::take(&mut self.held);
        // Nobody reads any more: it is thrown away.
        let _ = self.batches.send(Batch { lines, backlog: self.backlog.clone() });
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Unread {
    /// Returns the next message, or nothing once the queue is closed.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Message, StreamError>>> {
        loop {
            if let Some(content) = self.current.as_mut().and_then(Batch::take) {
                return Poll::Ready(Some(content.and_then(|line| Ok(Message::from_line(line)?))));
            }
            match self.batches.poll_recv(context) {
                Poll::Ready(Some(batch)) => self.current = Some(batch),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    self.current = None;
                    return Poll::Pending;
                }
            }
        }
    }
}

impl Batch {
    fn take(&mut self) -> Option<Content> {
        let content = self.lines.pop_front()?;
        self.backlog.remove(size(&content));
        Some(content)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        while self.take().is_some() {}
    }
}

fn size(content: &Content) -> usize {
    content.as_ref().map_or(0, String::len)
}
