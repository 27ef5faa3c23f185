//! A scripted server on a free port, a client that talks to it, and a clock that never makes wait.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use countersign_agent::model::{Model, ModelError, ModelRequest, ToolSpec};
use countersign_agent::scripted::{RequestLog, Scenario, ScriptedModel};
use countersign_agent::{
    AnswerProgress, AnthropicConnection, AnthropicModel, MessageToolResult, MessageToolUse,
    ModelMessage, ModelReply, ReplyDraft, RetrySettings, ask_model,
};
use countersign_gate::Clock;
use jiff::Timestamp;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A clock on which every wait is over at once.
pub(crate) struct Hasty;

#[async_trait]
impl Clock for Hasty {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn running_for(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    async fn sleep_until(&self, _until: Timestamp) {}
}

/// A server that plays a scenario until it is dropped.
pub(crate) struct World {
    pub(crate) url: String,
    model: ScriptedModel,
    _stop: DropGuard,
}

impl World {
    pub(crate) async fn playing(scenario: &str) -> Self {
        Self::with_clock(Scenario::parse(scenario).unwrap(), Arc::new(Hasty)).await
    }

    pub(crate) async fn with_clock(scenario: Scenario, clock: Arc<dyn Clock>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let model = ScriptedModel::new(scenario, clock);
        let shutdown = CancellationToken::new();
        let serving = (model.clone(), shutdown.clone());
        tokio::spawn(async move { serving.0.serve(listener, serving.1).await });
        Self { url, model, _stop: shutdown.drop_guard() }
    }

    pub(crate) fn recorded(&self) -> &RequestLog {
        self.model.recorded()
    }

    pub(crate) fn client(&self) -> AnthropicModel {
        self.client_with_key("any")
    }

    pub(crate) fn client_with_key(&self, key: &str) -> AnthropicModel {
        let connection = AnthropicConnection {
            base_url: self.url.clone(),
            key: Some(key.into()),
            ..AnthropicConnection::default()
        };
        AnthropicModel::new(connection).unwrap()
    }

    /// Asks once, without retries.
    pub(crate) async fn ask(&self, prompt: &str) -> Result<ModelReply, ModelError> {
        ask_with(&self.client(), request(vec![ModelMessage::user(prompt)]), 1).await
    }

    /// Asks with the usual retries.
    pub(crate) async fn insist(
        &self,
        prompt: &str,
    ) -> (Result<ModelReply, ModelError>, Vec<Duration>) {
        let mut waits = Vec::new();
        let mut observer = |progress: AnswerProgress<'_>| {
            if let AnswerProgress::Retry { wait, .. } = progress {
                waits.push(wait);
            }
        };
        let request = request(vec![ModelMessage::user(prompt)]);
        let (client, mut draft) = (self.client(), ReplyDraft::new());
        let reply = ask_model(
            &client,
            &request,
            RetrySettings::default(),
            &Hasty,
            &mut draft,
            &mut observer,
        )
        .await;
        (reply, waits)
    }
}

pub(crate) async fn ask_with(
    model: &dyn Model,
    request: ModelRequest,
    tries: u32,
) -> Result<ModelReply, ModelError> {
    let retries = RetrySettings { tries, ..RetrySettings::default() };
    ask_model(model, &request, retries, &Hasty, &mut ReplyDraft::new(), &mut |_| {}).await
}

/// Talks until the model ends its turn; `tool` gives the result of each call.
pub(crate) async fn talk(
    model: &dyn Model,
    talk: &mut Vec<ModelMessage>,
    mut tool: impl FnMut(&MessageToolUse) -> MessageToolResult,
) -> Vec<MessageToolUse> {
    let mut calls = Vec::new();
    loop {
        let reply = ask_with(model, request(talk.clone()), 1).await.unwrap();
        let results: Vec<MessageToolResult> = reply.message.tool_uses().map(&mut tool).collect();
        calls.extend(reply.message.tool_uses().cloned());
        talk.push(reply.message);
        if results.is_empty() {
            return calls;
        }
        talk.push(ModelMessage::results(results));
    }
}

pub(crate) fn request(messages: Vec<ModelMessage>) -> ModelRequest {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("The tool {name}."),
        input_schema: json!({"type": "object"}),
    };
    ModelRequest {
        model: "claude-sonnet-4-20250514".into(),
        max_tokens: 8192,
        system: "You help.\nWorking directory: /w".into(),
        messages,
        tools: ["Read", "Write", "Edit", "Bash", "Glob", "Grep"].map(tool).into(),
        ..ModelRequest::default()
    }
}
