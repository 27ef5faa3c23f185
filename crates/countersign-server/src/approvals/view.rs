//! A request for approval as REST clients see it: what the socket shows, by REST's names.

use countersign_core::{ApprovedBy, Execution, ExecutionStatus};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::call_context::CallContext;
use crate::socket::request::{
    AllowedDecision, ApprovalRequest, DiffStat, EditedView, PreviewData, PreviewType, ProposalView,
    RiskLevel,
};
use crate::status::CallStatus;
use crate::tools::view::{CallOrigin, CallOutcome};

/// A request for approval, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalView {
    approval_id: String,
    tool_id: String,
    tool_use_id: String,
    session_id: String,
    /// The run that waits for it; none where another program asked.
    #[schema(required)]
    run_id: Option<String>,
    /// Who asked: our own agent, one whose tools a client runs, or another program.
    origin: CallOrigin,
    /// The child agent that wants it, as a path such as `main/explore`; left out for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent: Option<String>,
    #[serde(flatten)]
    context: CallContext,
    tool_name: String,
    /// The input, secrets masked.
    tool_input: Value,
    status: CallStatus,
    risk_level: RiskLevel,
    /// Why a person is asked.
    reasons: Vec<String>,
    /// What it would do, in one sentence.
    summary: String,
    preview_type: PreviewType,
    preview_data: PreviewData,
    diff_lines: Vec<String>,
    #[schema(required)]
    diff_stat: Option<DiffStat>,
    #[schema(required)]
    file_path: Option<String>,
    /// What a decision is bound to.
    digest: String,
    /// What can be said to it now; nothing once it is settled.
    allowed_decisions: Vec<AllowedDecision>,
    /// What "always" could mean here, narrowest first.
    proposals: Vec<ProposalView>,
    /// What the model wrote, where a person has changed it.
    #[schema(required)]
    edited: Option<EditedView>,
    /// What moved, where it was approved before.
    #[schema(required)]
    asked_again: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Until when a decision counts; none once it is settled.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    #[serde(flatten)]
    decided: DecisionRecord,
    /// Why it failed, or did not get to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error_type: Option<String>,
    /// The request that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    replaced_by: Option<String>,
}

/// Who decided, when, and what they said; left out where nobody did.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub(crate) decided_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) feedback: Option<String>,
}

impl DecisionRecord {
    pub(crate) fn from_execution(approval: &Execution) -> Self {
        use countersign_core::ExecutionState;
        let of = |by: &ApprovedBy, at: &Timestamp| (Some(by.to_string()), Some(*at));
        let (decided_by, decided_at) = match &approval.state {
            ExecutionState::Approved { by, at, .. } | ExecutionState::Rejected { by, at, .. } => {
                of(by, at)
            }
            ExecutionState::Executing { by, approved_at, .. }
            | ExecutionState::Completed { by, approved_at, .. } => of(by, approved_at),
            ExecutionState::Failed { by, .. } => (by.as_ref().map(ApprovedBy::to_string), None),
            ExecutionState::Pending
            | ExecutionState::AwaitingApproval { .. }
            | ExecutionState::Timeout { .. }
            | ExecutionState::Cancelled { .. } => (None, None),
        };
        Self {
            decided_by,
            decided_at,
            feedback: approval.state.decision_comment().map(str::to_owned),
        }
    }
}

impl ApprovalView {
    pub(crate) fn new(approval: Execution, context: CallContext) -> Self {
        let (tool_id, status) = (approval.call.id.to_string(), approval.status());
        let session_id = approval.call.session.to_string();
        let run_id = approval.call.run.map(|run| run.to_string());
        let (origin, decided) =
            (CallOrigin::from_call(&approval.call), DecisionRecord::from_execution(&approval));
        let replaced_by = approval.replaced_by().map(|id| id.to_string());
        let CallOutcome { error, error_type, .. } = CallOutcome::from_execution(&approval);
        let error = error.filter(|_| status == ExecutionStatus::Failed);
        let shown = ApprovalRequest::new(approval, context);
        Self {
            approval_id: shown.request_id,
            tool_id,
            tool_use_id: shown.tool_use_id,
            session_id,
            run_id,
            origin,
            agent: shown.agent,
            context: shown.context,
            tool_name: shown.tool_name,
            tool_input: shown.tool_input,
            status: status.into(),
            risk_level: shown.risk_level,
            reasons: shown.reasons,
            summary: shown.summary,
            preview_type: shown.preview_type,
            preview_data: shown.preview_data,
            diff_lines: shown.diff_lines,
            diff_stat: shown.diff_stat,
            file_path: shown.file_path,
            digest: shown.digest,
            allowed_decisions: shown.allowed_decisions,
            proposals: shown.proposals,
            edited: shown.edited,
            asked_again: shown.asked_again,
            created_at: shown.created_at,
            expires_at: shown.expires_at,
            decided,
            error,
            error_type,
            replaced_by,
        }
    }
}
