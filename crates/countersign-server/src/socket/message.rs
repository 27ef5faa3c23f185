//! Messages: what the server says on the socket, in S1's words.

use countersign_core::{
    Approval, CommandPreview, DiffPreview, Event, Preview, Risk, State, Status, Usage,
};
use countersign_gate::{Entry, Live, News};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::command::PermissionMode;

/// One message, and where in the log it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerMessage {
    #[serde(flatten)]
    pub(crate) body: Body,
    #[serde(flatten)]
    pub(crate) place: Place,
}

/// Where a message belongs.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Place {
    /// Its number in the project's log, to resume after; live messages have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seq: Option<u64>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
}

/// What is said.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Body {
    /// About the connection or the run itself.
    System(SystemMessage),
    /// By the model.
    Assistant(AssistantMessage),
    /// By the person, or in their place.
    User(UserMessage),
    /// A call waits for a decision.
    ToolApprovalRequest(Box<ApprovalRequest>),
    /// A call that waited is decided.
    ToolApprovalResolved(ApprovalResolved),
    /// The end of a run.
    Result(RunResult),
    /// Something the client sent cannot be done; the connection stays.
    Error(ErrorMessage),
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub(crate) enum SystemMessage {
    /// First in every run.
    Init { session_id: String, model: String, tools: Vec<String> },
    /// The answer to `resume`, before what it asked for.
    Resumed(Resumed),
    /// The model's answer broke off and is asked for again: the deltas since the last text are void.
    Retry { attempt: u32, wait_ms: u64, reason: String },
}

/// What a page needs to know to show itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Resumed {
    /// The newest number of the log.
    pub(crate) head: u64,
    #[schema(required)]
    pub(crate) session_id: Option<String>,
    /// Whether a run of that conversation is going on.
    pub(crate) active: bool,
    /// Whether the model is the scripted one.
    pub(crate) demo: bool,
    pub(crate) model: String,
    pub(crate) root: String,
    /// The server's time, to show countdowns by.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) now: Timestamp,
    pub(crate) modes: Vec<ModeView>,
}

/// A permission mode as the page offers it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModeView {
    id: PermissionMode,
    label: &'static str,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub(crate) enum AssistantMessage {
    Text { text: String },
    TextDelta { text: String },
    ToolUse { id: String, name: String, input: Value },
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub(crate) enum UserMessage {
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
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunResult {
    #[serde(flatten)]
    outcome: Outcome,
    /// What the run took.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageView>,
    /// What can be done about an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "subtype", content = "content", rename_all = "snake_case")]
pub(crate) enum Outcome {
    Success { message: &'static str },
    Error { message: String, code: String },
}

/// How many tokens a run took.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UsageView {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorMessage {
    content: ErrorContent,
    /// The request it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorContent {
    message: String,
    code: String,
}

/// S1.7's request, and what we add.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalRequest {
    request_id: String,
    tool_name: String,
    tool_input: Value,
    tool_use_id: String,
    preview_type: PreviewType,
    preview_data: PreviewData,
    #[schema(required)]
    file_path: Option<String>,
    #[schema(required)]
    original_content: Option<String>,
    #[schema(required)]
    new_content: Option<String>,
    diff_lines: Vec<String>,
    /// How much changes; none where there is no diff.
    #[schema(required)]
    diff_stat: Option<DiffStat>,
    status: RequestStatus,
    #[schema(required)]
    user_feedback: Option<String>,
    /// What it would do, in one sentence.
    summary: String,
    risk_level: RiskLevel,
    reasons: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Until when a decision counts; none once it is settled.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// What a decision is bound to.
    digest: String,
    allowed_decisions: Vec<AllowedDecision>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalResolved {
    request_id: String,
    status: RequestStatus,
    #[schema(required)]
    decided_by: Option<String>,
    #[schema(required)]
    user_feedback: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PreviewType {
    Diff,
    Command,
    Generic,
}

/// S1.7's words for where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum RequestStatus {
    Pending,
    Approved,
    Rejected,
    Timeout,
    Cancelled,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum RiskLevel {
    Low,
    Medium,
    High,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AllowedDecision {
    Approve,
    Reject,
}

/// How much a diff changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DiffStat {
    added: usize,
    removed: usize,
    /// How many lines of the diff were left out of `diff_lines`.
    omitted: usize,
}

/// What is known about a preview beside the diff itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum PreviewData {
    Diff {
        file_path: String,
        is_new_file: bool,
        original_lines: usize,
        new_lines: usize,
    },
    Command {
        command: String,
        cwd: String,
        #[schema(required)]
        description: Option<String>,
        timeout_ms: u64,
        warnings: Vec<String>,
    },
    Generic {
        input: Value,
    },
}

impl Body {
    pub(crate) fn error(code: &str, message: String, request_id: Option<String>) -> Self {
        let content = ErrorContent { message, code: code.to_owned() };
        Self::Error(ErrorMessage { content, request_id })
    }

    pub(crate) fn failed(code: &str, message: String, hint: Option<String>) -> Self {
        let outcome = Outcome::Error { message, code: code.to_owned() };
        Self::Result(RunResult { outcome, usage: None, hint })
    }

    /// Returns what an event says; none for what the socket does not tell, or what needs a look at
    /// the approval.
    pub(crate) fn of_event(event: Event, session: &str) -> Option<Self> {
        Some(match event {
            Event::RunStarted { model, tools } => {
                Self::System(SystemMessage::Init { session_id: session.to_owned(), model, tools })
            }
            Event::Prompt { text } => Self::User(UserMessage::Prompt { text }),
            Event::Text { text } => Self::Assistant(AssistantMessage::Text { text }),
            Event::ToolUse { id, name, input } => {
                Self::Assistant(AssistantMessage::ToolUse { id: id.to_string(), name, input })
            }
            Event::ApprovalResolved { approval, status, by, feedback } => {
                Self::ToolApprovalResolved(ApprovalResolved {
                    request_id: approval.to_string(),
                    status: RequestStatus::of(status),
                    decided_by: by,
                    user_feedback: feedback,
                })
            }
            Event::ToolResult { tool_use_id, content, is_error } => {
                let tool_use_id = tool_use_id.to_string();
                Self::User(UserMessage::ToolResult { tool_use_id, content, is_error })
            }
            Event::RunDone { usage } => Self::Result(RunResult {
                outcome: Outcome::Success { message: "Conversation complete" },
                usage: Some(usage.into()),
                hint: None,
            }),
            Event::RunFailed { code, message, hint } => Self::failed(&code, message, hint),
            Event::ApprovalRequested { .. } | Event::ToolState { .. } => return None,
        })
    }

    pub(crate) fn of_news(news: News) -> Self {
        match news {
            News::TextDelta(text) => Self::Assistant(AssistantMessage::TextDelta { text }),
            News::Retry { attempt, wait_ms, reason } => {
                Self::System(SystemMessage::Retry { attempt, wait_ms, reason })
            }
        }
    }
}

impl Place {
    pub(crate) fn of_entry(entry: &Entry) -> Self {
        Self {
            seq: Some(entry.seq),
            session_id: entry.session.as_ref().map(ToString::to_string),
            run_id: entry.run.map(|run| run.to_string()),
        }
    }

    pub(crate) fn of_live(live: &Live) -> Self {
        Self {
            seq: None,
            session_id: Some(live.session.to_string()),
            run_id: Some(live.run.to_string()),
        }
    }

    pub(crate) fn of_approval(approval: &Approval) -> Self {
        Self {
            seq: None,
            session_id: Some(approval.call.session.to_string()),
            run_id: approval.call.run.map(|run| run.to_string()),
        }
    }
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens }
    }
}

impl From<PermissionMode> for ModeView {
    fn from(mode: PermissionMode) -> Self {
        let reason = mode.missing();
        Self { id: mode, label: mode.label(), available: reason.is_none(), reason }
    }
}

impl RequestStatus {
    fn of(status: Status) -> Self {
        match status {
            Status::Pending | Status::AwaitingApproval => Self::Pending,
            // It was approved; how it went on is told by its result.
            Status::Approved | Status::Executing | Status::Completed | Status::Failed => {
                Self::Approved
            }
            Status::Rejected => Self::Rejected,
            Status::Timeout => Self::Timeout,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Risk> for RiskLevel {
    fn from(risk: Risk) -> Self {
        match risk {
            Risk::Low => Self::Low,
            Risk::Medium => Self::Medium,
            Risk::High => Self::High,
        }
    }
}

impl From<Approval> for ApprovalRequest {
    fn from(approval: Approval) -> Self {
        let expires_at = approval.deadline();
        let open = expires_at.is_some();
        let status = RequestStatus::of(approval.status());
        let user_feedback = match &approval.state {
            State::Rejected { feedback, .. } => feedback.clone(),
            _ => None,
        };
        let shown = Shown::of(approval.preview, &approval.call.input);
        Self {
            request_id: approval.id.to_string(),
            tool_name: approval.call.tool_name,
            tool_input: approval.call.input,
            tool_use_id: approval.call.tool_use_id.to_string(),
            preview_type: shown.kind,
            preview_data: shown.data,
            file_path: shown.file_path,
            original_content: shown.original_content,
            new_content: shown.new_content,
            diff_lines: shown.diff_lines,
            diff_stat: shown.diff_stat,
            status,
            user_feedback,
            summary: approval.summary,
            risk_level: approval.risk.into(),
            reasons: approval.verdict.reasons.into_iter().map(|reason| reason.text).collect(),
            created_at: approval.created_at,
            expires_at,
            digest: approval.digest.to_string(),
            allowed_decisions: if open {
                vec![AllowedDecision::Approve, AllowedDecision::Reject]
            } else {
                Vec::new()
            },
        }
    }
}

/// A preview, spread over S1.7's fields.
struct Shown {
    kind: PreviewType,
    data: PreviewData,
    file_path: Option<String>,
    original_content: Option<String>,
    new_content: Option<String>,
    diff_lines: Vec<String>,
    diff_stat: Option<DiffStat>,
}

impl Shown {
    fn of(preview: Option<Preview>, input: &Value) -> Self {
        match preview {
            Some(Preview::Diff(diff)) => Self::of_diff(diff),
            Some(Preview::Command(command)) => Self::of_command(command),
            Some(Preview::Generic { input, .. }) => Self::of_input(input),
            None => Self::of_input(input.clone()),
        }
    }

    fn of_diff(diff: DiffPreview) -> Self {
        Self {
            kind: PreviewType::Diff,
            data: PreviewData::Diff {
                file_path: diff.file_path.clone(),
                is_new_file: diff.is_new_file,
                original_lines: diff.original_lines,
                new_lines: diff.new_lines,
            },
            file_path: Some(diff.file_path),
            original_content: diff.original_content,
            new_content: diff.new_content,
            diff_stat: Some(DiffStat {
                added: diff.diff.added,
                removed: diff.diff.removed,
                omitted: diff.diff.omitted,
            }),
            diff_lines: diff.diff.lines,
        }
    }

    fn of_command(preview: CommandPreview) -> Self {
        let CommandPreview { command, cwd, description, timeout_ms, warnings } = preview;
        let data = PreviewData::Command { command, cwd, description, timeout_ms, warnings };
        Self { kind: PreviewType::Command, data, ..Self::of_input(json!(null)) }
    }

    fn of_input(input: Value) -> Self {
        Self {
            kind: PreviewType::Generic,
            data: PreviewData::Generic { input },
            file_path: None,
            original_content: None,
            new_content: None,
            diff_lines: Vec::new(),
            diff_stat: None,
        }
    }
}
