//! From the reader to whoever reads the messages: one by one in, and out as many as came together.
//!
//! To wake somebody costs more than to read a message. So what came in one go is handed over in one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::backlog::MessageBacklog;
use crate::error::StreamError;
use crate::message::Message;

/// A line still: whoever takes it out reads it, so that a long one holds up nobody else.
type QueuedLine = Result<String, StreamError>;

/// The end that is filled. Dropped, it hands over what it holds and closes the other end.
pub(crate) struct MessageSender {
    batches: UnboundedSender<LineBatch>,
    held: VecDeque<QueuedLine>,
    backlog: Arc<MessageBacklog>,
}

/// The end that is read.
pub(crate) struct MessageReceiver {
    batches: UnboundedReceiver<LineBatch>,
    current: Option<LineBatch>,
}

/// What came in one go. It counts until it is taken out or thrown away.
struct LineBatch {
    lines: VecDeque<QueuedLine>,
    backlog: Arc<MessageBacklog>,
}

impl MessageSender {
    pub(crate) fn new(backlog: Arc<MessageBacklog>) -> (Self, MessageReceiver) {
        let (sender, receiver) = unbounded_channel();
        let queue = Self { batches: sender, held: VecDeque::new(), backlog };
        (queue, MessageReceiver { batches: receiver, current: None })
    }

    pub(super) fn backlog(&self) -> &Arc<MessageBacklog> {
        &self.backlog
    }

    /// Takes in a line, which waits for [`flush`](Self::flush).
    pub(super) fn push(&mut self, content: QueuedLine) {
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
        let _ = self.batches.send(LineBatch { lines, backlog: self.backlog.clone() });
    }
}

impl Drop for MessageSender {
    fn drop(&mut self) {
        self.flush();
    }
}

impl MessageReceiver {
    /// Returns the next message, or nothing once the queue is closed.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Message, StreamError>>> {
        loop {
            if let Some(content) = self.current.as_mut().and_then(LineBatch::take) {
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

impl LineBatch {
    fn take(&mut self) -> Option<QueuedLine> {
        let content = self.lines.pop_front()?;
        self.backlog.remove(size(&content));
        Some(content)
    }
}

impl Drop for LineBatch {
    fn drop(&mut self) {
        while self.take().is_some() {}
    }
}

fn size(content: &QueuedLine) -> usize {
    content.as_ref().map_or(0, String::len)
}
