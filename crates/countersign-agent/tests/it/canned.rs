//! A model that says exactly these events: for what no scenario can say.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use countersign_agent::message::Block;
use countersign_agent::model::{
    EventStream, Model, ModelError, PartialUsage, Request, StopReason, StreamEvent,
};
use countersign_agent::{Message, ToolUse};
use futures_util::StreamExt;
use serde_json::json;

/// One answer after the other, and the requests they were given to.
#[derive(Clone, Default)]
pub(crate) struct Canned {
    answers: Arc<Mutex<VecDeque<Vec<StreamEvent>>>>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Canned {
    pub(crate) fn saying(answers: impl IntoIterator<Item = Vec<StreamEvent>>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        Self { answers, requests: Arc::default() }
    }

    /// Returns the conversation as it was sent with each request.
    pub(crate) fn sent(&self) -> Vec<Vec<Message>> {
        self.requests.lock().unwrap().iter().map(|request| request.messages.clone()).collect()
    }
}

#[async_trait]
impl Model for Canned {
    fn name(&self) -> &'static str {
        "canned"
    }

    async fn stream(&self, request: &Request) -> Result<EventStream, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap();
        Ok(futures_util::stream::iter(answer.into_iter().map(Ok)).boxed())
    }
}

/// Returns an answer of one text.
pub(crate) fn text(text: &str, stop: StopReason) -> Vec<StreamEvent> {
    let block = Block::text(text);
    vec![StreamEvent::BlockStart { index: 0, block }, end(stop), StreamEvent::MessageStop]
}

/// Returns an answer of one call whose input is this text, whatever it is.
pub(crate) fn call(tool: &str, json: &str, stop: StopReason) -> Vec<StreamEvent> {
    let block = Block::ToolUse(ToolUse::new("toolu_1", tool, json!({})));
    vec![
        StreamEvent::BlockStart { index: 0, block },
        StreamEvent::InputJsonDelta { index: 0, json: json.into() },
        StreamEvent::BlockStop { index: 0 },
        end(stop),
        StreamEvent::MessageStop,
    ]
}

/// Returns an answer that says nothing at all.
pub(crate) fn nothing(stop: StopReason) -> Vec<StreamEvent> {
    vec![end(stop), StreamEvent::MessageStop]
}

fn end(stop: StopReason) -> StreamEvent {
    StreamEvent::MessageDelta { stop_reason: Some(stop), usage: PartialUsage::default() }
}
