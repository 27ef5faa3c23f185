//! Where the CLI's own requests are answered: each by a task of its own, none left without a reply
//! unless that is what the CLI expects.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::writer::CliWriter;
use crate::hook::{HookInput, HookMatcher};
use crate::mcp::{McpServer, rpc_error};
use crate::options::Options;
use crate::permission::{
    DialogHandler, DialogRequest, ElicitationAnswer, ElicitationHandler, ElicitationRequest,
    PermissionHandler, PermissionResult, ToolRequest,
};

/// How long a callback may go on after nobody waits for it, to clean up.
const GRACE: Duration = Duration::from_secs(5);

/// Hands the requests of the CLI to whoever answers them.
#[derive(Clone)]
pub(super) struct RequestDispatcher(Arc<DispatcherInner>);

struct DispatcherInner {
    can_use_tool: Option<Arc<dyn PermissionHandler>>,
    deadline: Option<Duration>,
    hooks: Vec<HookMatcher>,
    servers: BTreeMap<String, McpServer>,
    elicitation: Option<Arc<dyn ElicitationHandler>>,
    dialogs: Option<Arc<dyn DialogHandler>>,
    outgoing: CliWriter,
    /// The requests at work; fires when the session ends.
    running: Mutex<HashMap<String, CancellationToken>>,
    stop: CancellationToken,
}

/// What is answered.
pub(super) enum ControlReply {
    Success(Value),
    Error {
        message: String,
        code: Option<&'static str>,
    },
    /// Some requests are answered by whoever can, and by nobody else.
    Silence,
}

/// A request of the CLI.
#[derive(Deserialize)]
struct ControlRequestFrame {
    request_id: String,
    request: Value,
}

impl RequestDispatcher {
    pub(super) fn new(options: &Options, outgoing: CliWriter, stop: CancellationToken) -> Self {
        Self(Arc::new(DispatcherInner {
            can_use_tool: options.can_use_tool.clone(),
            deadline: options.permission_deadline,
            hooks: options.hooks.clone(),
            servers: options.sdk_servers.clone(),
            elicitation: options.elicitation.clone(),
            dialogs: options.dialogs.as_ref().map(|(_, handler)| handler.clone()),
            outgoing,
            running: Mutex::default(),
            stop,
        }))
    }

    /// Takes a request in. One that is at work already is not taken twice.
    pub(super) fn dispatch(&self, line: &str) {
        let Ok(ControlRequestFrame { request_id: id, request }) = serde_json::from_str(line) else {
            tracing::warn!(line, "a request of the CLI cannot be read");
            return;
        };
        let cancelled = self.0.stop.child_token();
        {
            let mut running = self.0.running();
            if running.contains_key(&id) {
                return;
            }
            running.insert(id.clone(), cancelled.clone());
        }
        let inner = self.0.clone();
        tokio::spawn(async move { inner.run_request(id, request, cancelled).await });
    }

    /// The CLI no longer wants an answer.
    pub(super) fn cancel(&self, id: &str) {
        if let Some(cancelled) = self.0.running().remove(id) {
            cancelled.cancel();
        }
    }

    /// Nobody will read an answer any more.
    pub(super) fn close(&self) {
        self.0.stop.cancel();
    }
}

impl DispatcherInner {
    async fn run_request(&self, id: String, request: Value, cancelled: CancellationToken) {
        let (work, on_panic) = self.prepare_reply(&id, request, &cancelled);
        // A panic ends in an answer, too.
        let mut work = AssertUnwindSafe(work).catch_unwind();
        let reply = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            reply = &mut work => Some(reply.unwrap_or(on_panic)),
        };
        self.running().remove(&id);
        match reply {
            Some(reply) => self.send_reply(&id, reply),
            None => wind_down(work).await,
        }
    }

    /// Returns what answers a request, and what to say should it panic.
    fn prepare_reply(
        &self,
        id: &str,
        request: Value,
        cancelled: &CancellationToken,
    ) -> (BoxFuture<'static, ControlReply>, ControlReply) {
        let subtype = request.get("subtype").and_then(Value::as_str).unwrap_or_default().to_owned();
        match subtype.as_str() {
            "can_use_tool" => self.permission(id, request, cancelled),
            "hook_callback" => self.hook(request, cancelled),
            "mcp_message" => self.mcp(request, cancelled),
            "elicitation" => self.elicitation(request),
            "request_user_dialog" => self.dialog(request),
            "remote_tool_call"
            | "remote_plumbing_call"
            | "remote_tools_probe"
            | "remote_tools_reannounce" => immediate_reply(ControlReply::Silence),
            other => immediate_reply(ControlReply::unsupported(other)),
        }
    }

    fn permission(
        &self,
        id: &str,
        raw: Value,
        cancelled: &CancellationToken,
    ) -> (BoxFuture<'static, ControlReply>, ControlReply) {
        let Some(handler) = self.can_use_tool.clone() else {
            return immediate_reply(ControlReply::error("no permission callback is set"));
        };
        let mut request = match ToolRequest::deserialize(&raw) {
            Ok(request) => request,
            Err(error) => {
                let denied = PermissionResult::deny(format!("the request cannot be read: {error}"));
                return immediate_reply(ControlReply::Success(
                    denied.to_wire(&serde_json::Map::new(), None),
                ));
            }
        };
        id.clone_into(&mut request.request_id);
        // The deadline fires this one only: the denial still has to go out.
        let cancelled = cancelled.child_token();
        request.cancelled = cancelled.clone();
        request.raw = raw;
        let (input, tool_use) = (request.input.clone(), request.tool_use_id.clone());
        let panicked = PermissionResult::deny("the permission callback panicked");
        let on_panic = ControlReply::Success(panicked.to_wire(&input, tool_use.as_deref()));
        let deadline = self.deadline;
        let work = async move {
            let decided = match deadline {
                None => handler.decide(request).await,
                Some(deadline) => decide_within(deadline, handler, request, &cancelled).await,
            };
            ControlReply::Success(decided.to_wire(&input, tool_use.as_deref()))
        };
        (Box::pin(work), on_panic)
    }

    fn hook(
        &self,
        mut request: Value,
        cancelled: &CancellationToken,
    ) -> (BoxFuture<'static, ControlReply>, ControlReply) {
        let text = |key: &str| request.get(key).and_then(Value::as_str).map(str::to_owned);
        let (id, tool_use) = (text("callback_id").unwrap_or_default(), text("tool_use_id"));
        let Some(hook) = HookMatcher::find_by_id(&self.hooks, &id).cloned() else {
            return immediate_reply(ControlReply::error(format!("there is no hook `{id}`")));
        };
        let input = request.get_mut("input").map(Value::take).unwrap_or_default();
        let input = HookInput::new(input, tool_use, cancelled.clone());
        let failed = |hook: &HookMatcher, why: &str| match hook.blocking_output(why) {
            Some(output) => ControlReply::success(&output),
            None => ControlReply::error(why),
        };
        let on_panic = failed(&hook, "the hook panicked");
        let work = async move {
            match hook.handler.run(input).await.0 {
                Ok(output) => ControlReply::success(&output),
                Err(why) => failed(&hook, &why),
            }
        };
        (Box::pin(work), on_panic)
    }

    fn mcp(
        &self,
        mut request: Value,
        cancelled: &CancellationToken,
    ) -> (BoxFuture<'static, ControlReply>, ControlReply) {
        let message = request.get_mut("message").map(Value::take).unwrap_or_default();
        let id = message.get("id").cloned().unwrap_or_default();
        let name = request.get("server_name").and_then(Value::as_str).unwrap_or_default();
        let reply = |rpc: Value| ControlReply::Success(json!({ "mcp_response": rpc }));
        let Some(server) = self.servers.get(name).cloned() else {
            let unknown = format!("there is no server `{name}`");
            return immediate_reply(reply(rpc_error(&id, -32601, &unknown)));
        };
        let on_panic = reply(rpc_error(&id, -32603, "the server panicked"));
        let cancelled = cancelled.clone();
        (Box::pin(async move { reply(server.receive(message, cancelled).await) }), on_panic)
    }

    fn elicitation(&self, raw: Value) -> (BoxFuture<'static, ControlReply>, ControlReply) {
        let declined = || ControlReply::success(&ElicitationAnswer::Decline);
        let Some(handler) = self.elicitation.clone() else { return immediate_reply(declined()) };
        match ElicitationRequest::deserialize(&raw) {
            Ok(question) => {
                let question = ElicitationRequest { raw, ..question };
                let work = async move { ControlReply::success(&handler.answer(question).await) };
                (Box::pin(work), declined())
            }
            Err(error) => immediate_reply(ControlReply::error(format!(
                "the question cannot be read: {error}"
            ))),
        }
    }

    fn dialog(&self, raw: Value) -> (BoxFuture<'static, ControlReply>, ControlReply) {
        let Some(handler) = self.dialogs.clone() else {
            return immediate_reply(ControlReply::Silence);
        };
        match serde_json::from_value::<DialogRequest>(raw) {
            Ok(dialog) => {
                let work = async move { ControlReply::success(&handler.show(dialog).await) };
                (Box::pin(work), ControlReply::error("the dialog panicked"))
            }
            Err(error) => {
                immediate_reply(ControlReply::error(format!("the dialog cannot be read: {error}")))
            }
        }
    }

    fn send_reply(&self, id: &str, reply: ControlReply) {
        let response = match reply {
            ControlReply::Success(response) => {
                json!({ "subtype": "success", "request_id": id, "response": response })
            }
            ControlReply::Error { message, code: None } => {
                json!({ "subtype": "error", "request_id": id, "error": message })
            }
            ControlReply::Error { message, code } => {
                json!({ "subtype": "error", "request_id": id, "error": message, "error_code": code })
            }
            ControlReply::Silence => return,
        };
        self.outgoing.send(&json!({ "type": "control_response", "response": response }));
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControlReply {
    fn success(answer: &impl serde::Serialize) -> Self {
        match serde_json::to_value(answer) {
            Ok(answer) => Self::Success(answer),
            Err(error) => Self::error(error.to_string()),
        }
    }

    fn error(message: impl Into<String>) -> Self {
        Self::Error { message: message.into(), code: None }
    }

    fn unsupported(subtype: &str) -> Self {
        let message = format!("Unsupported control request subtype: {subtype}");
        Self::Error { message, code: Some("unsupported_request") }
    }
}

fn immediate_reply(reply: ControlReply) -> (BoxFuture<'static, ControlReply>, ControlReply) {
    (Box::pin(std::future::ready(reply)), ControlReply::Silence)
}

/// Asks the callback, and denies once its time is up. It may still clean up then.
async fn decide_within(
    deadline: Duration,
    handler: Arc<dyn PermissionHandler>,
    request: ToolRequest,
    cancelled: &CancellationToken,
) -> PermissionResult {
    let work = tokio::spawn(async move { handler.decide(request).await });
    let mut work = AbortOnDropHandle::new(work);
    match timeout(deadline, &mut work).await {
        Ok(Ok(decision)) => decision,
        Ok(Err(_)) => PermissionResult::deny("the permission callback panicked"),
        Err(_) => {
            cancelled.cancel();
            tokio::spawn(wind_down(work));
            PermissionResult::deny(format!("nobody decided within {deadline:?}"))
        }
    }
}

/// Lets a callback nobody waits for clean up for a moment.
async fn wind_down(work: impl Future) {
    let _ = timeout(GRACE, work).await;
}
