//! What Claude Code says, told as the events of a run.

use std::collections::HashMap;

use countersign_claude::message::{
    AssistantMessage, ContentBlock, InitMessage, ResultMessage, StreamEvent, SystemMessage,
    UserMessage,
};
use countersign_claude::{Message, format_cost};
use countersign_core::{Event, TokenUsage, ToolOutput};
use countersign_gate::{LiveEvent, NewRunMessage, RunJournal, StoreError};
use serde_json::{Value, json};

use super::gatekeeper::Gatekeeper;

/// Tells one run.
pub(super) struct EventRecorder<'a> {
    journal: &'a RunJournal,
    keeper: &'a Gatekeeper,
    /// The subagents that were sent, by the calls that sent them.
    agents: HashMap<String, String>,
    /// The answer whose blocks are coming, by the API's id of it.
    answer: Option<(String, Vec<Value>)>,
    was_started: bool,
    usage: TokenUsage,
    cost: Option<String>,
    failure: Option<String>,
}

impl<'a> EventRecorder<'a> {
    pub(super) fn new(journal: &'a RunJournal, keeper: &'a Gatekeeper) -> Self {
        Self {
            journal,
            keeper,
            agents: HashMap::new(),
            answer: None,
            was_started: false,
            usage: TokenUsage::default(),
            cost: None,
            failure: None,
        }
    }

    /// Tells one message. What people have no use for is passed over.
    pub(super) async fn record_message(&mut self, message: Message) -> Result<(), StoreError> {
        match message {
            Message::System(frame) => match &*frame {
                SystemMessage::Init(init) => self.started(init).await,
                _ => Ok(()),
            },
            Message::StreamEvent(piece) => {
                self.piece(&piece);
                Ok(())
            }
            Message::Assistant(said) => self.record_answer(&said).await,
            Message::User(heard) => self.results(&heard).await,
            Message::Result(result) => {
                self.result(&result);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Comes first, though the CLI says it before every turn.
    async fn started(&mut self, init: &InitMessage) -> Result<(), StoreError> {
        if self.was_started {
            return Ok(());
        }
        self.was_started = true;
        let (model, tools) = (init.model.clone(), init.tools.clone());
        self.journal.record(Vec::new(), vec![Event::RunStarted { model, tools }]).await
    }

    /// Subagents speak to the one that sent them, not to the person.
    fn piece(&self, piece: &StreamEvent) {
        if let (None, Some(text)) = (&piece.parent_tool_use_id, piece.text()) {
            self.journal.show_live(LiveEvent::TextDelta(text.to_owned()));
        }
    }

    async fn record_answer(&mut self, said: &AssistantMessage) -> Result<(), StoreError> {
        let is_main = said.parent_tool_use_id.is_none();
        let mut events = Vec::new();
        for block in &said.message.content {
            match block {
                ContentBlock::Text(text) if is_main => {
                    events.push(Event::Text { text: text.text.clone() });
                }
                ContentBlock::ToolUse(call) => {
                    if let Some(sent) = call.input.get("subagent_type").and_then(Value::as_str) {
                        self.agents.insert(call.id.clone(), sent.to_owned());
                    }
                    events.push(Event::ToolUse {
                        id: call.id.as_str().into(),
                        name: call.name.clone(),
                        input: call.input.clone(),
                        agent: said.parent_tool_use_id.as_deref().map(|sender| self.agent(sender)),
                    });
                }
                _ => {}
            }
        }
        let before = if is_main { self.add(said) } else { None };
        if events.is_empty() && before.is_none() {
            return Ok(());
        }
        self.journal.record(before.into_iter().collect(), events).await
    }

    /// Returns the name of the subagent that a call sent; one that an earlier run sent has none here.
    fn agent(&self, sender: &str) -> String {
        self.agents.get(sender).cloned().unwrap_or_else(|| "subagent".to_owned())
    }

    /// Keeps a block with those of the same answer; returns the answer before it, now whole.
    fn add(&mut self, said: &AssistantMessage) -> Option<NewRunMessage> {
        let blocks = said.message.content.iter().filter_map(|it| serde_json::to_value(it).ok());
        match &mut self.answer {
            Some((id, known)) if *id == said.message.id => {
                known.extend(blocks);
                None
            }
            _ => {
                let answer = (said.message.id.clone(), blocks.collect());
                self.answer.replace(answer).map(whole)
            }
        }
    }

    /// Answers to calls, each told once: by the gate, or here where the gate knows nothing of it.
    async fn results(&mut self, heard: &UserMessage) -> Result<(), StoreError> {
        let results: Vec<_> = heard.tool_results().collect();
        if results.is_empty() {
            return Ok(());
        }
        let mut events = Vec::new();
        for result in &results {
            let output =
                ToolOutput { is_error: result.is_error(), ..ToolOutput::ok(result.text()) };
            if !self.keeper.record_result(&result.tool_use_id, output.clone()).await {
                events.push(Event::ToolResult {
                    tool_use_id: result.tool_use_id.as_str().into(),
                    content: output.content,
                    is_error: output.is_error,
                });
            }
        }
        let mut messages: Vec<NewRunMessage> = Vec::new();
        if heard.parent_tool_use_id.is_none() {
            messages.extend(self.answer.take().map(whole));
            let content: Vec<_> = results.iter().filter_map(|result| block_of(result)).collect();
            messages.push(json!({ "role": "user", "content": content }).into());
        }
        self.journal.record(messages, events).await
    }

    fn result(&mut self, result: &ResultMessage) {
        if let Some(usage) = &result.usage {
            let cached = usage.cache_read_input_tokens.unwrap_or_default()
                + usage.cache_creation_input_tokens.unwrap_or_default();
            self.usage.input_tokens += usage.input_tokens + cached;
            self.usage.output_tokens += usage.output_tokens;
        }
        self.cost = result.total_cost_usd.map(format_cost).or(self.cost.take());
        if result.answers_the_caller() {
            self.failure = result.failure();
        }
    }

    /// Records what is left of the last answer.
    pub(super) async fn close(&mut self) -> Result<(), StoreError> {
        match self.answer.take() {
            Some(answer) => self.journal.record(vec![whole(answer)], Vec::new()).await,
            None => Ok(()),
        }
    }

    /// Returns why the prompt was not answered, if the CLI said so.
    pub(super) fn failure(&self) -> Option<String> {
        self.failure.clone()
    }

    pub(super) fn done(&self) -> Event {
        Event::RunDone { usage: self.usage, cost: self.cost.clone() }
    }
}

fn whole((_, blocks): (String, Vec<Value>)) -> NewRunMessage {
    json!({ "role": "assistant", "content": blocks }).into()
}

fn block_of(result: &countersign_claude::message::ToolResultBlock) -> Option<Value> {
    serde_json::to_value(ContentBlock::ToolResult(result.clone())).ok()
}
