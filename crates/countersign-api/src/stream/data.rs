//! What the events of the stream carry, each in the words of the wire.

use countersign_core::Preimage;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::approval::ApprovalView;
use crate::call_status::CallStatus;
use crate::execution::WaitingFor;
use crate::lease::LeaseView;
use crate::socket::message::UsageView;

/// When something happened, and where it belongs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EventContext {
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run_id: Option<String>,
}

/// What waits, all of it, and for how long.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalAsked {
    #[serde(flatten)]
    pub approval: ApprovalView,
    /// How long people have, from `timestamp` on.
    pub timeout_seconds: u64,
    /// What it would do, in one sentence.
    pub description: String,
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalDecided {
    pub approval_id: String,
    pub tool_id: String,
    pub tool_name: String,
    pub status: CallStatus,
    #[schema(required)]
    pub decided_by: Option<String>,
    #[schema(required)]
    pub feedback: Option<String>,
    /// Whom it waits for now, where it is approved and run elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub waiting_for: Option<WaitingFor>,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolState {
    pub tool_id: String,
    pub tool_name: String,
    pub status: CallStatus,
    /// Whom it waits for, where it is approved and run elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub waiting_for: Option<WaitingFor>,
    /// Whether a client is connected that could run it, where it waits for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub client_connected: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error: Option<String>,
    #[serde(flatten)]
    pub at: EventContext,
}

/// What a client is to run. The clocks of two machines differ: `expires_at` less `timestamp` is how
/// long it has.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutionSignal {
    pub tool_id: String,
    pub tool_name: String,
    /// The input as it was approved, nothing masked.
    pub tool_params: Value,
    pub approval_id: String,
    /// The files as they were when the change was shown: a client that has another one there does not
    /// write it. Left out where none was shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preimages: Vec<PreimageView>,
    pub lease: LeaseView,
    #[serde(flatten)]
    pub at: EventContext,
}

/// A file of the client, as it has shown it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PreimageView {
    /// Its path on the client's machine.
    pub path: String,
    /// By what the client knows it again; none where there was no file.
    #[schema(required)]
    pub digest: Option<String>,
}

impl PreimageView {
    /// Returns a file as a client has shown it.
    pub fn from_preimage(preimage: &Preimage) -> Self {
        let digest = preimage.digest.as_ref().map(ToString::to_string);
        Self { path: preimage.path.display().to_string(), digest }
    }
}

/// What a client is asked before anybody decides.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PreviewRequested {
    pub tool_id: String,
    pub tool_name: String,
    /// The input, nothing masked.
    pub tool_params: Value,
    #[serde(flatten)]
    pub at: EventContext,
}

/// What a client is to the calls of its project.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutorRoleName {
    /// It runs them.
    Executing,
    /// Another one does.
    StandingBy,
}

/// What a client is told of its place among those that run calls.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExecutorRoleEvent {
    pub role: ExecutorRoleName,
    /// The same in a sentence, with what can be done.
    pub message: String,
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
}

impl ExecutorRoleEvent {
    /// Returns what a client is told that runs the calls from now on.
    pub fn for_executing(timestamp: Timestamp) -> Self {
        let message = "this client now executes the project's calls".to_owned();
        Self { role: ExecutorRoleName::Executing, message, timestamp }
    }

    /// Returns what a client is told that has to stand by, and what it can do where it has no name.
    pub fn for_standing_by(is_named: bool, timestamp: Timestamp) -> Self {
        let message = "another client executes this project's calls; this one stands by";
        let message = if is_named {
            message.to_owned()
        } else {
            format!(
                "{message}. A client that names itself (`?executor=NAME`) goes before one that does \
                 not; `?executor=none` only listens"
            )
        };
        Self { role: ExecutorRoleName::StandingBy, message, timestamp }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultAck {
    pub tool_id: String,
    pub status: ResultAckStatus,
    #[serde(flatten)]
    pub at: EventContext,
}

/// The only word there is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResultAckStatus {
    Received,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResultRefused {
    pub tool_id: String,
    pub reason: String,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolUndone {
    pub tool_ids: Vec<String>,
    pub undone_by: String,
    /// How many files are as they were before.
    pub files: u64,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolOutput {
    pub tool_id: String,
    pub text: String,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolUseEvent {
    pub tool_use_id: String,
    pub tool_name: String,
    pub tool_input: Value,
    /// The subagent that wants it; left out for the main conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agent: Option<String>,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolResult {
    pub tool_use_id: String,
    pub content: String,
    pub is_error: bool,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChatMessage {
    pub role: ChatRole,
    pub content: String,
    #[serde(flatten)]
    pub at: EventContext,
}

/// Who speaks.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChatRole {
    User,
    Assistant,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChatDelta {
    pub text: String,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChatRetry {
    pub attempt: u32,
    pub wait_ms: u64,
    pub reason: String,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChatNotice {
    pub message: String,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunStarted {
    pub model: String,
    pub tools: Vec<String>,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunResumed {
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunDone {
    /// What it cost, where that is known: `$0.0234`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cost: Option<String>,
    pub usage: UsageView,
    #[serde(flatten)]
    pub at: EventContext,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunError {
    pub code: String,
    pub message: String,
    #[schema(required)]
    pub hint: Option<String>,
    #[serde(flatten)]
    pub at: EventContext,
}

/// Numbers that are forgotten.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LogGap {
    pub from: u64,
    pub to: u64,
}
