//! The model: a scripted Messages API in this process, which survives whatever is done to the servers.

use std::sync::Arc;

use countersign_agent::{Scenario, ScriptedModel};
use countersign_gate::SystemClock;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) struct Model {
    pub(crate) url: String,
    scripted: ScriptedModel,
    _shutdown: DropGuard,
}

impl Model {
    pub(crate) async fn start(scenario: &str) -> Self {
        let scenario = Scenario::parse(scenario).unwrap();
        let scripted = ScriptedModel::new(scenario, Arc::new(SystemClock));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let (serving, until) = (scripted.clone(), shutdown.clone());
        tokio::spawn(async move { serving.serve(listener, until).await });
        Self { url, scripted, _shutdown: shutdown.drop_guard() }
    }

    /// Returns the messages of every request of a conversation, known by its prompt, oldest first.
    pub(crate) fn requests(&self, prompt: &str) -> Vec<Vec<Value>> {
        let prompt = Value::from(prompt);
        let is_of = |body: &Value| body["messages"][0]["content"][0]["text"] == prompt;
        let requests = self.scripted.recorded().filter(|request| is_of(&request.body));
        requests.into_iter().map(|mut request| messages(&mut request.body)).collect()
    }
}

/// Takes the messages out of a request, without the marks that move from one request to the next.
fn messages(body: &mut Value) -> Vec<Value> {
    let Value::Array(mut messages) = body["messages"].take() else { return Vec::new() };
    let contents = messages.iter_mut().filter_map(|message| message["content"].as_array_mut());
    for block in contents.flatten().filter_map(Value::as_object_mut) {
        block.remove("cache_control");
    }
    messages
}
