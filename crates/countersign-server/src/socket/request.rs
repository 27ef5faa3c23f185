//! A request for approval as clients see it: S1.7's fields, and ours.

mod preview;
mod rehearsal;

use std::collections::BTreeSet;

use countersign_core::{Execution, ExecutionStatus, GrantProposal, Risk, Verdict, mask_input};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use self::preview::PreviewFields;
pub(crate) use self::preview::{DiffStat, FileView, PartView, PreviewData, PreviewType};

use crate::call_context::CallContext;
use crate::tools::view::CallOrigin;

/// S1.7's request, and what we add.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalRequest {
    pub(crate) request_id: String,
    pub(crate) tool_name: String,
    pub(crate) tool_input: Value,
    pub(crate) tool_use_id: String,
    pub(crate) preview_type: PreviewType,
    pub(crate) preview_data: PreviewData,
    #[schema(required)]
    pub(crate) file_path: Option<String>,
    #[schema(required)]
    pub(crate) original_content: Option<String>,
    #[schema(required)]
    pub(crate) new_content: Option<String>,
    pub(crate) diff_lines: Vec<String>,
    /// How much changes; none where there is no diff.
    #[schema(required)]
    pub(crate) diff_stat: Option<DiffStat>,
    pub(crate) status: RequestStatus,
    #[schema(required)]
    pub(crate) user_feedback: Option<String>,
    /// What it would do, in one sentence.
    pub(crate) summary: String,
    pub(crate) risk_level: RiskLevel,
    pub(crate) reasons: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// Until when a decision counts; none once it is settled.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
    /// What a decision is bound to.
    pub(crate) digest: String,
    pub(crate) allowed_decisions: Vec<AllowedDecision>,
    /// What "always" could mean here, narrowest first.
    pub(crate) proposals: Vec<ProposalView>,
    /// What the model wrote, where a person has changed it.
    #[schema(required)]
    pub(crate) edited: Option<EditedView>,
    /// What moved, where it was approved before.
    #[schema(required)]
    pub(crate) asked_again: Option<String>,
    /// Who asked: our own agent, one whose tools a client runs, or another program.
    pub(crate) origin: CallOrigin,
    /// The child agent that wants it, as a path such as `main/explore`; left out for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) agent: Option<String>,
    #[serde(flatten)]
    pub(crate) context: CallContext,
}

/// One thing that "always" could mean.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProposalView {
    /// The rules that would be kept, word for word.
    rules: Vec<String>,
    label: String,
    /// How many recent calls that asked it would have allowed.
    matched_before: u64,
}

impl From<GrantProposal> for ProposalView {
    fn from(proposal: GrantProposal) -> Self {
        let GrantProposal { rules, label, matched_before } = proposal;
        Self { rules, label, matched_before }
    }
}

/// An input that a person has changed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EditedView {
    original_input: Value,
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

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
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
    /// Approve with another input.
    Edit,
    /// Approve, and do not ask again in this conversation.
    Session,
    /// Approve, and do not ask again in this project.
    Project,
}

impl AllowedDecision {
    fn for_execution(approval: &Execution) -> Vec<Self> {
        if approval.deadline().is_none() {
            return Vec::new();
        }
        let mut allowed = vec![Self::Approve, Self::Reject, Self::Edit];
        if !approval.basis.proposals.is_empty() {
            allowed.extend([Self::Session, Self::Project]);
        }
        allowed
    }
}

impl RequestStatus {
    pub(super) fn from_status(status: ExecutionStatus) -> Self {
        match status {
            ExecutionStatus::Pending | ExecutionStatus::AwaitingApproval => Self::Pending,
            // It was approved; how it went on is told by its result.
            ExecutionStatus::Approved
            | ExecutionStatus::Executing
            | ExecutionStatus::Completed
            | ExecutionStatus::Failed => Self::Approved,
            ExecutionStatus::Rejected => Self::Rejected,
            ExecutionStatus::Timeout => Self::Timeout,
            ExecutionStatus::Cancelled => Self::Cancelled,
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

impl From<RiskLevel> for Risk {
    fn from(level: RiskLevel) -> Self {
        match level {
            RiskLevel::Low => Self::Low,
            RiskLevel::Medium => Self::Medium,
            RiskLevel::High => Self::High,
        }
    }
}

impl ApprovalRequest {
    pub(crate) fn new(approval: Execution, context: CallContext) -> Self {
        let expires_at = approval.deadline();
        let allowed_decisions = AllowedDecision::for_execution(&approval);
        let status = RequestStatus::from_status(approval.status());
        let user_feedback = approval.state.decision_comment().map(str::to_owned);
        let origin = CallOrigin::from_call(&approval.call);
        let shown = PreviewFields::from_preview(approval.preview, &approval.call.input);
        Self {
            request_id: approval.id.to_string(),
            tool_name: approval.call.tool_name,
            tool_input: mask_input(&approval.call.input),
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
            allowed_decisions,
            proposals: approval.basis.proposals.into_iter().map(ProposalView::from).collect(),
            edited: approval
                .basis
                .edited_from
                .map(|original| EditedView { original_input: mask_input(&original) }),
            asked_again: approval.basis.asked_again,
            origin,
            agent: approval.call.agent,
            context,
        }
    }
}

/// Why a person is asked, each once: what spoke for less is not a reason to ask.
fn reasons(verdict: Verdict) -> Vec<String> {
    let spoke = verdict.reasons.into_iter().filter(|reason| reason.outcome >= verdict.outcome);
    let mut said = BTreeSet::new();
    spoke.map(|reason| reason.text).filter(|text| said.insert(text.clone())).collect()
}
