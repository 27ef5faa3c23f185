//! A model that says exactly these events: for what no scenario can say.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use countersign_agent::message::MessageBlock;
use countersign_agent::model::{
    AnswerStopReason, Model, ModelError, ModelEventStream, ModelRequest, ModelStreamEvent,
    PartialAnswerUsage,
};
use countersign_agent::{MessageToolUse, ModelMessage};
use futures_util::StreamExt;
use serde_json::json;

/// One answer after the other, and the requests they were given to.
#[derive(Clone, Default)]
pub(crate) struct Canned {
    answers: Arc<Mutex<VecDeque<Vec<ModelStreamEvent>>>>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl Canned {
    pub(crate) fn saying(answers: impl IntoIterator<Item = Vec<ModelStreamEvent>>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        Self { answers, requests: Arc::default() }
    }

    /// Returns the conversation as it was sent with each request.
    pub(crate) fn sent(&self) -> Vec<Vec<ModelMessage>> {
        self.requests.lock().unwrap().iter().map(|request| request.messages.clone()).collect()
    }
}

#[async_trait]
impl Model for Canned {
    fn name(&self) -> &'static str {
        "canned"
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelEventStream, ModelError> {
        self.requests.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front().unwrap();
        Ok(futures_util::stream::iter(answer.into_iter().map(Ok)).boxed())
    }
}

/// Returns an answer of one text.
pub(crate) fn text(text: &str, stop: AnswerStopReason) -> Vec<ModelStreamEvent> {
    let block = MessageBlock::text(text);
    vec![ModelStreamEvent::BlockStart { index: 0, block }, end(stop), ModelStreamEvent::MessageStop]
}

/// Returns an answer of one call whose input is this text, whatever it is.
pub(crate) fn call(tool: &str, json: &str, stop: AnswerStopReason) -> Vec<ModelStreamEvent> {
    let block = MessageBlock::ToolUse(MessageToolUse::new("toolu_1", tool, json!({})));
    vec![
        ModelStreamEvent::BlockStart { index: 0, block },
        ModelStreamEvent::InputJsonDelta { index: 0, json: json.into() },
        ModelStreamEvent::BlockStop { index: 0 },
        end(stop),
        ModelStreamEvent::MessageStop,
    ]
}

/// Returns an answer that says nothing at all.
pub(crate) fn nothing(stop: AnswerStopReason) -> Vec<ModelStreamEvent> {
    vec![end(stop), ModelStreamEvent::MessageStop]
}

fn end(stop: AnswerStopReason) -> ModelStreamEvent {
    ModelStreamEvent::MessageDelta { stop_reason: Some(stop), usage: PartialAnswerUsage::default() }
}
