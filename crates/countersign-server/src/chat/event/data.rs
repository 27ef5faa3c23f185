//! What the events of the stream carry, each in the words of the wire.

use countersign_core::Preimage;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::approvals::view::ApprovalView;
use crate::chat::executor_slot::ClientRole;
use crate::socket::message::UsageView;
use crate::status::CallStatus;
use crate::tools::lease::LeaseView;
use crate::tools::view::WaitingFor;

/// When something happened, and where it belongs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventContext {
    #[schema(value_type = String, format = DateTime)]
    pub(crate) timestamp: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) run_id: Option<String>,
}

/// What waits, all of it, and for how long.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalAsked {
    #[serde(flatten)]
    pub(crate) approval: ApprovalView,
    /// How long people have, from `timestamp` on.
    pub(crate) timeout_seconds: u64,
    /// What it would do, in one sentence.
    pub(crate) description: String,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) timestamp: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalDecided {
    pub(crate) approval_id: String,
    pub(crate) tool_id: String,
    pub(crate) tool_name: String,
    pub(crate) status: CallStatus,
    #[schema(required)]
    pub(crate) decided_by: Option<String>,
    #[schema(required)]
    pub(crate) feedback: Option<String>,
    /// Whom it waits for now, where it is approved and run elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) waiting_for: Option<WaitingFor>,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolState {
    pub(crate) tool_id: String,
    pub(crate) tool_name: String,
    pub(crate) status: CallStatus,
    /// Whom it waits for, where it is approved and run elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) waiting_for: Option<WaitingFor>,
    /// Whether a client is connected that could run it, where it waits for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) client_connected: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) error_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) error: Option<String>,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

/// What a client is to run. The clocks of two machines differ: `expires_at` less `timestamp` is how
/// long it has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecutionSignal {
    pub(crate) tool_id: String,
    pub(crate) tool_name: String,
    /// The input as it was approved, nothing masked.
    pub(crate) tool_params: Value,
    pub(crate) approval_id: String,
    /// The files as they were when the change was shown: a client that has another one there does not
    /// write it. Left out where none was shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) preimages: Vec<PreimageView>,
    pub(crate) lease: LeaseView,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

/// A file of the client, as it has shown it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreimageView {
    /// Its path on the client's machine.
    path: String,
    /// By what the client knows it again; none where there was no file.
    #[schema(required)]
    digest: Option<String>,
}

impl PreimageView {
    pub(crate) fn from_preimage(preimage: &Preimage) -> Self {
        let digest = preimage.digest.as_ref().map(ToString::to_string);
        Self { path: preimage.path.display().to_string(), digest }
    }
}

/// What a client is asked before anybody decides.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviewRequested {
    pub(crate) tool_id: String,
    pub(crate) tool_name: String,
    /// The input, nothing masked.
    pub(crate) tool_params: Value,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

/// What a client is to the calls of its project.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExecutorRoleName {
    /// It runs them.
    Executing,
    /// Another one does.
    StandingBy,
}

/// What a client is told of its place among those that run calls.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExecutorRoleEvent {
    role: ExecutorRoleName,
    /// The same in a sentence, with what can be done.
    message: String,
    #[schema(value_type = String, format = DateTime)]
    timestamp: Timestamp,
}

impl ExecutorRoleEvent {
    pub(crate) fn new(role: ClientRole, is_named: bool, timestamp: Timestamp) -> Self {
        let stands_by = "another client executes this project's calls; this one stands by";
        let (role, message) = match role {
            ClientRole::Executes => (
                ExecutorRoleName::Executing,
                "this client now executes the project's calls".to_owned(),
            ),
            ClientRole::StandsBy if is_named => {
                (ExecutorRoleName::StandingBy, stands_by.to_owned())
            }
            ClientRole::StandsBy => (
                ExecutorRoleName::StandingBy,
                format!(
                    "{stands_by}. A client that names itself (`?executor=NAME`) goes before one that \
                     does not; `?executor=none` only listens"
                ),
            ),
        };
        Self { role, message, timestamp }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResultAck {
    pub(crate) tool_id: String,
    pub(crate) status: ResultAckStatus,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

/// The only word there is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultAckStatus {
    Received,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResultRefused {
    pub(crate) tool_id: String,
    pub(crate) reason: String,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolUndone {
    pub(crate) tool_ids: Vec<String>,
    pub(crate) undone_by: String,
    /// How many files are as they were before.
    pub(crate) files: u64,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolOutput {
    pub(crate) tool_id: String,
    pub(crate) text: String,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolUseEvent {
    pub(crate) tool_use_id: String,
    pub(crate) tool_name: String,
    pub(crate) tool_input: Value,
    /// The subagent that wants it; left out for the main conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) agent: Option<String>,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ToolResult {
    pub(crate) tool_use_id: String,
    pub(crate) content: String,
    pub(crate) is_error: bool,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatMessage {
    pub(crate) role: ChatRole,
    pub(crate) content: String,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

/// Who speaks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChatRole {
    User,
    Assistant,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatDelta {
    pub(crate) text: String,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatRetry {
    pub(crate) attempt: u32,
    pub(crate) wait_ms: u64,
    pub(crate) reason: String,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChatNotice {
    pub(crate) message: String,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunStarted {
    pub(crate) model: String,
    pub(crate) tools: Vec<String>,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunResumed {
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunDone {
    /// What it cost, where that is known: `$0.0234`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) cost: Option<String>,
    pub(crate) usage: UsageView,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunError {
    pub(crate) code: String,
    pub(crate) message: String,
    #[schema(required)]
    pub(crate) hint: Option<String>,
    #[serde(flatten)]
    pub(crate) at: EventContext,
}

/// Numbers that are forgotten.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogGap {
    pub(crate) from: u64,
    pub(crate) to: u64,
}
