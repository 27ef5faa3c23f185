//! A request for approval as clients see it: S1.7's fields, and ours.

use countersign_core::{
    Approval, CommandPreview, DiffPreview, Outcome, PartPreview, Preview, Risk, State, Status,
    Verdict,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

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

/// One command of a command line, what it would do and what was said of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PartView {
    text: String,
    /// The file that would run, where it was found and is trusted.
    #[schema(required)]
    program: Option<String>,
    wrappers: Vec<String>,
    #[schema(value_type = OutcomeView)]
    verdict: Outcome,
    effects: Vec<String>,
    reasons: Vec<String>,
}

impl From<PartPreview> for PartView {
    fn from(part: PartPreview) -> Self {
        let PartPreview { text, program, wrappers, verdict, effects, reasons } = part;
        let program = program.map(|program| program.display().to_string());
        Self { text, program, wrappers, verdict, effects, reasons }
    }
}

/// `allow`, `ask` or `deny`.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: core does not know of OpenAPI")]
pub(crate) enum OutcomeView {
    Allow,
    Ask,
    Deny,
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
        /// Its commands one by one.
        parts: Vec<PartView>,
    },
    Generic {
        input: Value,
    },
}

impl RequestStatus {
    pub(super) fn of(status: Status) -> Self {
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
            reasons: reasons(approval.verdict),
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

/// Why a person is asked: what spoke for less is not a reason to ask.
fn reasons(verdict: Verdict) -> Vec<String> {
    let spoke = verdict.reasons.into_iter().filter(|reason| reason.outcome >= verdict.outcome);
    spoke.map(|reason| reason.text).collect()
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
            // Until the wire knows several files at once.
            Some(Preview::MultiDiff { .. }) | None => Self::of_input(input.clone()),
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
        let CommandPreview { command, cwd, description, timeout_ms, warnings, parts } = preview;
        let parts = parts.into_iter().map(PartView::from).collect();
        let data = PreviewData::Command { command, cwd, description, timeout_ms, warnings, parts };
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
