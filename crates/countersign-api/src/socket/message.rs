//! Messages: what the server says on the socket, in S1's words.

use countersign_core::{Event, Execution, TokenUsage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::approval_request::{ApprovalRequest, RequestStatus};
use crate::call_origin::CallOrigin;
use crate::run_mode::{AvailableModes, RunPermissionMode};

/// What came of one request of an `approve_all`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApproveAnswer {
    pub request_id: String,
    pub outcome: ApproveOutcome,
    /// Why it was refused: `high_risk`, `digest_mismatch`, `already_settled`, `not_found`, or what
    /// went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub code: Option<String>,
    /// The same as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
}

/// Whether a request of an `approve_all` was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApproveOutcome {
    Approved,
    Refused,
}

/// One message, and where in the log it stands.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ServerMessage {
    #[serde(flatten)]
    pub body: MessageBody,
    #[serde(flatten)]
    pub place: MessagePosition,
}

/// Where a message belongs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct MessagePosition {
    /// Its number in the project's log, to resume after; live messages have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub seq: Option<u64>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub session_id: Option<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run_id: Option<String>,
}

/// What is said.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBody {
    /// About the connection or the run itself.
    System(SystemMessage),
    /// By the model.
    Assistant(AssistantMessage),
    /// By the person, or in their place.
    User(UserMessage),
    /// A call waits for a decision.
    ToolApprovalRequest(Box<ApprovalRequest>),
    /// The rehearsal of a call that waits came a step further: the request as it now is.
    ToolRehearsed(Box<ApprovalRequest>),
    /// A call that waited is decided.
    ToolApprovalResolved(ApprovalResolved),
    /// What came of each request of an `approve_all`.
    ApproveAllAnswered(ApproveAllAnswered),
    /// A call that runs elsewhere came a step further; only sent to those who resumed.
    ToolState(ToolStateMessage),
    /// What calls had done to files was undone.
    ToolUndone(ToolUndoneMessage),
    /// A call that runs elsewhere has written some more; only sent to those who resumed.
    ToolOutput(ToolOutputMessage),
    /// The end of a run.
    Result(RunResult),
    /// Something the client sent cannot be done; the connection stays.
    Error(ErrorMessage),
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub enum SystemMessage {
    /// First in every run.
    Init { session_id: String, model: String, tools: Vec<String> },
    /// The answer to `resume`, before what it asked for.
    Resumed(ResumeSummary),
    /// After `resumed`: everything up to its `head` has been sent.
    CaughtUp { head: u64 },
    /// The server was restarted, or another one took over, and the run goes on: the deltas since the
    /// last text are void.
    RunResumed { session_id: String, message: String },
    /// Something about the conversation that its person should know.
    Notice { session_id: String, message: String },
    /// What the project has settled was changed: this holds now. Only sent to those who resumed.
    Settings(AvailableModes),
    /// The model's answer broke off and is asked for again: the deltas since the last text are void.
    Retry { attempt: u32, wait_ms: u64, reason: String },
}

/// What a page needs to know to show itself.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResumeSummary {
    /// The newest number of the log.
    pub head: u64,
    #[schema(required)]
    pub session_id: Option<String>,
    /// The mode that conversation was last run in; null where it is new, or none is named.
    #[schema(required)]
    pub permission_mode: Option<RunPermissionMode>,
    /// Whether a run of that conversation is going on.
    pub active: bool,
    /// Whether the model is the scripted one.
    pub demo: bool,
    pub model: String,
    pub root: String,
    /// The server's time, to show countdowns by.
    #[schema(value_type = String, format = DateTime)]
    pub now: Timestamp,
    #[serde(flatten)]
    pub offered: AvailableModes,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub enum AssistantMessage {
    Text {
        text: String,
    },
    TextDelta {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
        /// The subagent that wants it; left out for the main conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        agent: Option<String>,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub enum UserMessage {
    /// What the person asked; only sent to those who resumed.
    Prompt {
        text: String,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        is_error: bool,
    },
}

/// S1's result, and beside it what we add.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunResult {
    #[serde(flatten)]
    pub outcome: RunOutcome,
    /// What the run took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub usage: Option<UsageView>,
    /// What it cost, where that is known: `$0.0234`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cost: Option<String>,
    /// What can be done about an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub enum RunOutcome {
    Success { message: String },
    Error { message: String, code: String },
}

/// How many tokens a run took.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct UsageView {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorMessage {
    pub content: ErrorContent,
    /// The request it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorContent {
    pub message: String,
    pub code: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalResolved {
    pub request_id: String,
    pub status: RequestStatus,
    #[schema(required)]
    pub decided_by: Option<String>,
    #[schema(required)]
    pub user_feedback: Option<String>,
    /// The input as it may run, secrets masked; left out where the person did not change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Object>)]
    pub edited_input: Option<Value>,
}

/// The answer to `approve_all`: one per request, in the order they were sent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApproveAllAnswered {
    pub content: ApproveAllContent,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApproveAllContent {
    pub answers: Vec<ApproveAnswer>,
}

/// Where a call stands that runs elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolStateMessage {
    pub content: ToolStateContent,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolStateContent {
    pub tool_id: String,
    pub tool_use_id: String,
    pub tool_name: String,
    /// `approved`, `executing`, `completed`, `failed`, …
    pub status: String,
    /// Who made the call, which says where it runs.
    pub origin: CallOrigin,
}

/// Calls whose work was undone; only sent to those who resumed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolUndoneMessage {
    pub content: ToolUndoneContent,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolUndoneContent {
    pub tool_ids: Vec<String>,
    pub undone_by: String,
    /// How many files are as they were before.
    pub files: u64,
}

/// What a call that runs elsewhere has written.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolOutputMessage {
    pub content: ToolOutputContent,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolOutputContent {
    pub tool_id: String,
    pub text: String,
}

impl From<TokenUsage> for UsageView {
    fn from(usage: TokenUsage) -> Self {
        Self { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens }
    }
}

impl MessageBody {
    /// Returns the message that says why something cannot be done.
    pub fn error(code: &str, message: String, request_id: Option<String>) -> Self {
        let content = ErrorContent { message, code: code.to_owned() };
        Self::Error(ErrorMessage { content, request_id })
    }

    /// Returns the message that ends a run with an error.
    pub fn run_failed(code: &str, message: String, hint: Option<String>) -> Self {
        let outcome = RunOutcome::Error { message, code: code.to_owned() };
        Self::Result(RunResult { outcome, usage: None, cost: None, hint })
    }

    /// Returns the answer to an `approve_all`.
    pub fn approve_all_answered(answers: Vec<ApproveAnswer>) -> Self {
        Self::ApproveAllAnswered(ApproveAllAnswered { content: ApproveAllContent { answers } })
    }

    /// Returns what an event says; none for what the socket does not tell, or what needs a look at
    /// the approval.
    pub fn from_event(event: Event, session: &str) -> Option<Self> {
        Some(match event {
            Event::RunStarted { model, tools } => {
                Self::System(SystemMessage::Init { session_id: session.to_owned(), model, tools })
            }
            Event::RunResumed => Self::System(SystemMessage::RunResumed {
                session_id: session.to_owned(),
                message: "The server was restarted; the run goes on.".to_owned(),
            }),
            Event::ConversationMended { removed, added } => Self::System(SystemMessage::Notice {
                session_id: session.to_owned(),
                message: describe_mending(removed, added),
            }),
            Event::Prompt { text } => Self::User(UserMessage::Prompt { text }),
            Event::Text { text } => Self::Assistant(AssistantMessage::Text { text }),
            Event::ToolUse { id, name, input, agent } => {
                let id = id.to_string();
                Self::Assistant(AssistantMessage::ToolUse { id, name, input, agent })
            }
            Event::ApprovalResolved { approval, status, by, feedback, edited_input } => {
                Self::ToolApprovalResolved(ApprovalResolved {
                    request_id: approval.to_string(),
                    status: RequestStatus::from_status(status),
                    decided_by: by,
                    user_feedback: feedback,
                    edited_input,
                })
            }
            Event::ToolResult { tool_use_id, content, is_error } => {
                let tool_use_id = tool_use_id.to_string();
                Self::User(UserMessage::ToolResult { tool_use_id, content, is_error })
            }
            Event::RunDone { usage, cost } => Self::Result(RunResult {
                outcome: RunOutcome::Success { message: "Conversation complete".to_owned() },
                usage: Some(usage.into()),
                cost,
                hint: None,
            }),
            Event::RunFailed { code, message, hint } => Self::run_failed(&code, message, hint),
            Event::ToolState { execution, tool_use_id: Some(id), tool_name, status, executor }
                if executor.is_remote() =>
            {
                let (tool_id, tool_use_id) = (execution.to_string(), id.to_string());
                let status = status.as_str().to_lowercase();
                let origin = executor.into();
                let content = ToolStateContent { tool_id, tool_use_id, tool_name, status, origin };
                Self::ToolState(ToolStateMessage { content })
            }
            Event::Undone { executions, by, files } => {
                let tool_ids = executions.iter().map(ToString::to_string).collect();
                let content = ToolUndoneContent { tool_ids, undone_by: by, files };
                Self::ToolUndone(ToolUndoneMessage { content })
            }
            Event::ApprovalRequested { .. }
            | Event::Rehearsed { .. }
            | Event::ToolState { .. }
            | Event::ExecutionSignal { .. }
            | Event::ResultReceived { .. }
            | Event::ResultRefused { .. }
            | Event::ClientLookWanted { .. }
            | Event::SettingsChanged => return None,
        })
    }
}

/// Says how a conversation was mended.
pub fn describe_mending(removed: u64, added: u64) -> String {
    let results = |count: u64| if count == 1 { "result" } else { "results" };
    format!(
        "This conversation could not go on: the model refused its record. It was mended ({removed} \
         repeated tool {} removed, {added} missing {} added) and can go on.",
        results(removed),
        results(added)
    )
}

impl MessagePosition {
    /// Returns where a call belongs; it has no number of its own.
    pub fn from_execution(approval: &Execution) -> Self {
        Self {
            seq: None,
            session_id: Some(approval.call().session.to_string()),
            run_id: approval.call().run.map(|run| run.to_string()),
        }
    }
}
