//! A request for approval as the socket shows it: S1.7's fields, and ours.

use std::collections::BTreeSet;

use countersign_core::{Execution, ExecutionStatus, GrantProposal, Verdict, mask_input};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::call_context::CallContext;
use crate::call_origin::CallOrigin;
use crate::file_view::DiffStat;
use crate::preview::{PreviewData, PreviewFields, PreviewType};
use crate::risk_level::RiskLevel;

/// S1.7's request, and what we add.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalRequest {
    pub request_id: String,
    pub tool_name: String,
    pub tool_input: Value,
    pub tool_use_id: String,
    pub preview_type: PreviewType,
    pub preview_data: PreviewData,
    #[schema(required)]
    pub file_path: Option<String>,
    #[schema(required)]
    pub original_content: Option<String>,
    #[schema(required)]
    pub new_content: Option<String>,
    pub diff_lines: Vec<String>,
    /// How much changes; none where there is no diff.
    #[schema(required)]
    pub diff_stat: Option<DiffStat>,
    pub status: RequestStatus,
    #[schema(required)]
    pub user_feedback: Option<String>,
    /// What it would do, in one sentence.
    pub summary: String,
    pub risk_level: RiskLevel,
    pub reasons: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Until when a decision counts; none once it is settled.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// What a decision is bound to.
    pub digest: String,
    pub allowed_decisions: Vec<AllowedDecision>,
    /// What "always" could mean here, narrowest first.
    pub proposals: Vec<ProposalView>,
    /// What the model wrote, where a person has changed it.
    #[schema(required)]
    pub edited: Option<EditedView>,
    /// What moved, where it was approved before.
    #[schema(required)]
    pub asked_again: Option<String>,
    /// Who asked: our own agent, one whose tools a client runs, or another program.
    pub origin: CallOrigin,
    /// The child agent that wants it, as a path such as `main/explore`; left out for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agent: Option<String>,
    #[serde(flatten)]
    pub context: CallContext,
}

/// One thing that "always" could mean.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProposalView {
    /// The rules that would be kept, word for word.
    pub rules: Vec<String>,
    pub label: String,
    /// How many recent calls that asked it would have allowed.
    pub matched_before: u64,
}

impl From<GrantProposal> for ProposalView {
    fn from(proposal: GrantProposal) -> Self {
        let GrantProposal { rules, label, matched_before } = proposal;
        Self { rules, label, matched_before }
    }
}

/// An input that a person has changed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EditedView {
    pub original_input: Value,
}

/// S1.7's words for where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RequestStatus {
    Pending,
    Approved,
    Rejected,
    Timeout,
    Cancelled,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllowedDecision {
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
        if !approval.basis().proposals.is_empty() {
            allowed.extend([Self::Session, Self::Project]);
        }
        allowed
    }
}

impl RequestStatus {
    pub fn from_status(status: ExecutionStatus) -> Self {
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

impl ApprovalRequest {
    pub fn new(approval: &Execution, context: CallContext) -> Self {
        let expires_at = approval.deadline();
        let allowed_decisions = AllowedDecision::for_execution(approval);
        let status = RequestStatus::from_status(approval.status());
        let user_feedback = approval.state().decision_comment().map(str::to_owned);
        let origin = CallOrigin::from_call(approval.call());
        let shown =
            PreviewFields::from_preview(approval.preview().cloned(), &approval.call().input);
        Self {
            request_id: approval.id().to_string(),
            tool_name: approval.call().tool_name.clone(),
            tool_input: mask_input(&approval.call().input),
            tool_use_id: approval.call().tool_use_id.to_string(),
            preview_type: shown.kind,
            preview_data: shown.data,
            file_path: shown.file_path,
            original_content: shown.original_content,
            new_content: shown.new_content,
            diff_lines: shown.diff_lines,
            diff_stat: shown.diff_stat,
            status,
            user_feedback,
            summary: approval.summary().to_owned(),
            risk_level: approval.risk().into(),
            reasons: reasons(approval.verdict().clone()),
            created_at: approval.created_at(),
            expires_at,
            digest: approval.digest().to_string(),
            allowed_decisions,
            proposals: approval.basis().proposals.iter().cloned().map(ProposalView::from).collect(),
            edited: approval
                .basis()
                .edited_from
                .clone()
                .map(|original| EditedView { original_input: mask_input(&original) }),
            asked_again: approval.basis().asked_again.clone(),
            origin,
            agent: approval.call().agent.clone(),
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
