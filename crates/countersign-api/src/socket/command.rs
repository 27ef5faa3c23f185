//! Commands: what a client says on the socket.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::approval::DecisionScope;
use crate::approval_request::ApprovalRequest;
use crate::run_mode::{RunMode, RunPermissionMode};

/// What a client wants.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum ClientCommand {
    /// Runs a prompt.
    Run(RunCommand),
    /// Decides a request.
    ToolApprovalResponse(ApprovalResponse),
    /// Stops a run; what it waits for is taken back.
    Cancel(SessionSelector),
    /// Approves exactly the requests that are listed, HIGH excepted.
    ApproveAll(ApproveAllCommand),
    /// Goes on reading the log after a number.
    Resume(ResumeCommand),
}

/// A prompt and how to run it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunCommand {
    /// What the person asks.
    pub prompt: String,
    /// Whether to go on with a conversation: `session_id`, or the project's latest.
    #[serde(default)]
    pub r#continue: bool,
    /// How calls are decided; as the project's settings and the conversation's last run say unless
    /// given, `sdk` where they say nothing.
    #[serde(default)]
    pub permission_mode: Option<RunPermissionMode>,
    /// What becomes of calls that would ask; as the rules say where it is not given.
    pub mode: Option<RunMode>,
    /// Whether calls that only look run without asking.
    #[serde(default = "yes")]
    pub auto_approve_safe: bool,
    /// The conversation.
    pub session_id: Option<String>,
    /// The folder to work in, inside the project's root.
    pub cwd: Option<String>,
    /// The model to ask.
    pub model: Option<String>,
    /// Added to the system prompt of the server's own loop; what the server was started with if left out.
    pub system_prompt: Option<String>,
    /// How long one answer of the model may be, in the server's own loop.
    #[schema(minimum = 1)]
    pub max_tokens: Option<u32>,
}

impl RunCommand {
    /// Returns a prompt that begins a conversation, with everything else as the server has it.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            r#continue: false,
            permission_mode: None,
            mode: None,
            auto_approve_safe: true,
            session_id: None,
            cwd: None,
            model: None,
            system_prompt: None,
            max_tokens: None,
        }
    }
}

/// A person's decision. A field that is not known is refused: nobody means nothing by it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalResponse {
    /// Which request.
    pub request_id: String,
    /// Yes or no.
    pub approved: bool,
    /// With a no: what to do instead. With a yes: words that are kept beside it.
    pub feedback: Option<String>,
    /// The digest of what the person saw.
    pub digest: Option<String>,
    /// The whole input as the person changed it.
    pub edited_input: Option<Value>,
    /// How far the decision reaches; `once` unless said.
    #[serde(default)]
    pub scope: DecisionScope,
    /// The rules of the proposal that was picked, a line each; the narrowest if none.
    pub rule: Option<String>,
}

impl ApprovalResponse {
    /// Returns the approval of exactly what a request shows, once.
    pub fn approve(request: &ApprovalRequest) -> Self {
        Self {
            request_id: request.request_id.clone(),
            approved: true,
            feedback: None,
            digest: Some(request.digest.clone()),
            edited_input: None,
            scope: DecisionScope::Once,
            rule: None,
        }
    }

    /// Returns a rejection, with what to do instead.
    pub fn reject(request: &ApprovalRequest, feedback: Option<String>) -> Self {
        Self { approved: false, feedback, ..Self::approve(request) }
    }
}

/// The conversation a command is about; the socket's own if none is named.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SessionSelector {
    pub session_id: Option<String>,
}

/// Which requests to approve: what the person saw, each with its digest.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApproveAllCommand {
    /// 1,000 at the most.
    #[schema(required, nullable = false, max_items = 1000)]
    pub requests: Option<Vec<SeenRequest>>,
}

/// A request as a person saw it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenRequest {
    pub request_id: String,
    pub digest: String,
}

/// Where to go on reading.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResumeCommand {
    /// The number of the last message that was seen.
    pub after: u64,
    /// The conversation to read; all of the project if none.
    pub session_id: Option<String>,
}

fn yes() -> bool {
    true
}
