//! A CLI that a test plays, line by line.

use countersign_claude::process::ProcessExit;
use countersign_claude::query::{Query, query_with_transport};
use countersign_claude::transport::{PipeCliEnd, PipeTransport};
use countersign_claude::{ClaudeClient, Options};
use serde_json::{Value, json};

pub(crate) struct Fake(pub(crate) PipeCliEnd);

impl Fake {
    /// Returns the next line of the SDK; there has to be one.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.0.read().await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) async fn say(&mut self, line: Value) {
        self.0.write(format!("{line}\n").as_bytes()).await;
    }

    /// Takes the first request, which is `initialize`, and answers it.
    pub(crate) async fn initialize(&mut self, offers: Value) -> Value {
        let request = self.expect("initialize").await;
        self.reply(&request, offers).await;
        request
    }

    /// Takes the next line, which is a request of that subtype.
    pub(crate) async fn expect(&mut self, subtype: &str) -> Value {
        let line = self.next().await;
        assert_eq!(line["type"], "control_request", "{line}");
        assert_eq!(line["request"]["subtype"], subtype, "{line}");
        line
    }

    pub(crate) async fn reply(&mut self, request: &Value, response: Value) {
        let id = &request["request_id"];
        let response = json!({ "subtype": "success", "request_id": id, "response": response });
        self.say(json!({ "type": "control_response", "response": response })).await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, error: &str, code: &str) {
        let id = &request["request_id"];
        let response =
            json!({ "subtype": "error", "request_id": id, "error": error, "error_code": code });
        self.say(json!({ "type": "control_response", "response": response })).await;
    }

    /// Takes the next line, which is a prompt, and returns its uuid.
    pub(crate) async fn prompt(&mut self) -> String {
        let line = self.next().await;
        assert_eq!(line["type"], "user", "{line}");
        line["uuid"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn ask(&mut self, id: &str, request: Value) {
        self.say(json!({ "type": "control_request", "request_id": id, "request": request })).await;
    }

    pub(crate) async fn cancel(&mut self, id: &str) {
        self.say(json!({ "type": "control_cancel_request", "request_id": id })).await;
    }

    /// Takes the next line, which is an answer, and returns it without its envelope.
    pub(crate) async fn answer(&mut self) -> Value {
        let line = self.next().await;
        assert_eq!(line["type"], "control_response", "{line}");
        line["response"].clone()
    }

    pub(crate) async fn lifecycle(&mut self, prompt: &str, state: &str) {
        let line = json!({ "type": "command_lifecycle", "command_uuid": prompt, "state": state });
        self.say(line).await;
    }

    pub(crate) async fn state(&mut self, state: &str) {
        self.say(json!({
            "type": "system", "subtype": "session_state_changed", "state": state,
            "sdk_host_only": true,
        }))
        .await;
    }

    /// Waits until the SDK closes the input; nothing may come before.
    pub(crate) async fn closed(&mut self) {
        let line = self.0.read().await;
        assert_eq!(line, None);
    }

    pub(crate) async fn exit(self, code: i32) {
        self.0.exit(ProcessExit { code: Some(code), signal: None }).await;
    }
}

/// Returns a success for `prompt`, as far as tests look at it.
pub(crate) fn result(prompt: &str, text: &str) -> Value {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "result": text,
        "user_message_uuid": prompt,
    })
}

pub(crate) fn assistant(text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "type": "assistant", "message": { "role": "assistant", "content": content } })
}

pub(crate) async fn connect(options: Options) -> (ClaudeClient, Fake) {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let offers = json!({ "hook_on_failure_supported": true });
    let (client, _) =
        tokio::join!(ClaudeClient::connect_with_transport(&pipe, options), fake.initialize(offers));
    (client.unwrap(), fake)
}

pub(crate) async fn ask_once(prompt: &str, options: Options) -> (Query, Fake, String) {
    let (pipe, far) = PipeTransport::new();
    let mut fake = Fake(far);
    let offers = json!({ "hook_on_failure_supported": true });
    let (query, _) =
        tokio::join!(query_with_transport(&pipe, prompt, options), fake.initialize(offers));
    let uuid = fake.prompt().await;
    (query.unwrap(), fake, uuid)
}
