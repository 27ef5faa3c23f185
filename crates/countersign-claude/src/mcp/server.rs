//! The server behind [`McpServer::new`](super::McpServer::new): tools, and the four methods they take.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::rpc;
use super::tool::{SdkMcpTool, SdkMcpToolContext, SdkMcpToolOutput};

/// What is spoken when the client names no version.
const PROTOCOL: &str = "2025-11-25";

/// A server that has tools.
#[derive(Clone)]
pub(super) struct McpToolServer {
    name: String,
    version: String,
    pub(super) instructions: Option<String>,
    tools: Vec<SdkMcpTool>,
    running: CancellableCalls,
}

/// The calls in flight, by the client's id. An id in use is not taken a second time.
type CancellableCalls = Arc<Mutex<HashMap<String, CancellationToken>>>;

impl McpToolServer {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            name,
            version,
            instructions: None,
            tools: Vec::new(),
            running: CancellableCalls::default(),
        }
    }

    pub(super) fn add(&mut self, tool: SdkMcpTool) {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
    }

    /// Takes one message in; a notification has no reply.
    pub(super) async fn receive(
        &self,
        message: Value,
        cancelled: CancellationToken,
    ) -> Option<Value> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let Some(id) = message.get("id").filter(|id| !id.is_null()) else {
            self.handle_notification(method, &message);
            return None;
        };
        Some(match method {
            "initialize" => rpc::success(id, self.initialize_result(&message)),
            "ping" => rpc::success(id, json!({})),
            "tools/list" => {
                let tools: Vec<_> = self.tools.iter().map(SdkMcpTool::listing).collect();
                rpc::success(id, json!({ "tools": tools }))
            }
            "tools/call" => self.call(id, &message, cancelled).await,
            "" => rpc::error(id, rpc::INVALID_REQUEST, "the message has no method"),
            other => {
                rpc::error(id, rpc::METHOD_NOT_FOUND, &format!("there is no method `{other}`"))
            }
        })
    }

    fn initialize_result(&self, message: &Value) -> Value {
        let version = message.pointer("/params/protocolVersion").and_then(Value::as_str);
        let mut greeting = json!({
            "protocolVersion": version.unwrap_or(PROTOCOL),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": self.name, "version": self.version },
        });
        if let (Some(greeting), Some(text)) = (greeting.as_object_mut(), &self.instructions) {
            greeting.insert("instructions".to_owned(), json!(text));
        }
        greeting
    }

    fn handle_notification(&self, method: &str, message: &Value) {
        if method == "notifications/cancelled"
            && let Some(id) = message.pointer("/params/requestId")
            && let Some(call) = self.calls().get(&id.to_string())
        {
            call.cancel();
        }
    }

    /// Runs a tool. Whatever goes wrong inside it is a result the model can read, not an error of
    /// the protocol.
    async fn call(&self, id: &Value, message: &Value, cancelled: CancellationToken) -> Value {
        let Some(name) = message.pointer("/params/name").and_then(Value::as_str) else {
            return rpc::error(id, rpc::INVALID_PARAMS, "the call names no tool");
        };
        let arguments = message.pointer("/params/arguments").cloned().unwrap_or_else(|| json!({}));
        let Some(_held) = self.reserve_call_id(id, &cancelled) else {
            return rpc::error(id, rpc::INVALID_REQUEST, &format!("the id `{id}` is in use"));
        };
        let output = match self.tools.iter().find(|tool| tool.name() == name) {
            None => SdkMcpToolOutput::error(format!("there is no tool `{name}`")),
            Some(tool) => {
                let context = SdkMcpToolContext {
                    cancelled: cancelled.clone(),
                    meta: message.pointer("/params/_meta").cloned(),
                };
                tokio::select! {
                    output = tool.call(arguments, context) => output,
                    () = cancelled.cancelled() => SdkMcpToolOutput::error("the call was cancelled"),
                }
            }
        };
        rpc::success(id, output.to_wire())
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves an id until the call is over, however it ends.
    fn reserve_call_id(&self, id: &Value, token: &CancellationToken) -> Option<CallIdReservation> {
        let id = id.to_string();
        let mut calls = self.calls();
        if calls.contains_key(&id) {
            return None;
        }
        calls.insert(id.clone(), token.clone());
        Some(CallIdReservation { id, running: self.running.clone() })
    }
}

struct CallIdReservation {
    id: String,
    running: CancellableCalls,
}

impl Drop for CallIdReservation {
    fn drop(&mut self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}
