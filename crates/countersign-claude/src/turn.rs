//! One prompt and what it caused.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::{Stream, StreamExt};

use crate::control::MessageReceiver;
use crate::error::{StreamError, TurnError};
use crate::message::{Message, ResultMessage};

/// One prompt and the stream of messages it causes, up to its result.
///
/// What other prompts cause, and what nobody asked for, does not come here. A turn that is dropped
/// goes on; its messages are thrown away.
#[derive(Debug)]
#[must_use = "a turn's messages come only to who reads them"]
pub struct TurnStream {
    uuid: String,
    messages: MessageStream,
}

impl TurnStream {
    pub(crate) fn new(uuid: String, queue: MessageReceiver) -> Self {
        Self { uuid, messages: MessageStream::new(queue) }
    }

    /// Returns the prompt's id, which later messages, receipts and rewinds go by.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }

    /// Returns the next message, or nothing once the turn is over.
    pub async fn next(&mut self) -> Option<Result<Message, StreamError>> {
        StreamExt::next(self).await
    }

    /// Reads the turn to its end and returns its result, which may tell of a failure.
    pub async fn result(mut self) -> Result<ResultMessage, TurnError> {
        loop {
            match self.next().await {
                Some(Ok(Message::Result(result))) => return Ok(result.into_body()),
                Some(Err(StreamError::Ended(end))) => return Err(end.into()),
                Some(_) => {}
                None => return Err(TurnError::Cancelled),
            }
        }
    }

    /// Reads the turn to its end and returns what the model said to the caller, without what it
    /// said to itself or what its subagents said.
    pub async fn text(mut self) -> Result<String, TurnError> {
        let mut texts = Vec::new();
        loop {
            match self.next().await {
                Some(Ok(Message::Result(_))) => return Ok(texts.join("\n")),
                Some(Ok(message)) if message.parent_tool_use_id().is_none() => {
                    let said = message.as_assistant().map(|_| message.text());
                    texts.extend(said.filter(|text| !text.is_empty()));
                }
                Some(Err(StreamError::Ended(end))) => return Err(end.into()),
                Some(_) => {}
                None => return Err(TurnError::Cancelled),
            }
        }
    }
}

impl Stream for TurnStream {
    type Item = Result<Message, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.poll_next_unpin(context)
    }
}

/// A stream of messages.
pub struct MessageStream {
    queue: MessageReceiver,
}

impl std::fmt::Debug for MessageStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageStream").finish_non_exhaustive()
    }
}

impl MessageStream {
    pub(crate) fn new(queue: MessageReceiver) -> Self {
        Self { queue }
    }

    /// Returns the next message, or nothing once the stream is over.
    pub async fn next(&mut self) -> Option<Result<Message, StreamError>> {
        StreamExt::next(self).await
    }
}

impl Stream for MessageStream {
    type Item = Result<Message, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll(context)
    }
}
