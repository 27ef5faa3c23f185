//! Requests for approval over REST: what the socket shows, by REST's names, and what people say to it.

use countersign_core::{Execution, ExecutionStatus};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::approval_request::{AllowedDecision, ApprovalRequest, EditedView, ProposalView};
use crate::call_context::CallContext;
use crate::call_origin::CallOrigin;
use crate::call_status::CallStatus;
use crate::decision_record::DecisionRecord;
use crate::execution::CallOutcome;
use crate::file_view::DiffStat;
use crate::preview::{PreviewData, PreviewType};
use crate::risk_level::RiskLevel;

/// A request for approval, and what became of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalView {
    pub approval_id: String,
    pub tool_id: String,
    pub tool_use_id: String,
    pub session_id: String,
    /// The run that waits for it; none where another program asked.
    #[schema(required)]
    pub run_id: Option<String>,
    /// Who asked: our own agent, one whose tools a client runs, or another program.
    pub origin: CallOrigin,
    /// The child agent that wants it, as a path such as `main/explore`; left out for the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub agent: Option<String>,
    #[serde(flatten)]
    pub context: CallContext,
    pub tool_name: String,
    /// The input, secrets masked.
    pub tool_input: Value,
    pub status: CallStatus,
    pub risk_level: RiskLevel,
    /// Why a person is asked.
    pub reasons: Vec<String>,
    /// What it would do, in one sentence.
    pub summary: String,
    pub preview_type: PreviewType,
    pub preview_data: PreviewData,
    pub diff_lines: Vec<String>,
    #[schema(required)]
    pub diff_stat: Option<DiffStat>,
    #[schema(required)]
    pub file_path: Option<String>,
    /// What a decision is bound to.
    pub digest: String,
    /// What can be said to it now; nothing once it is settled.
    pub allowed_decisions: Vec<AllowedDecision>,
    /// What "always" could mean here, narrowest first.
    pub proposals: Vec<ProposalView>,
    /// What the model wrote, where a person has changed it.
    #[schema(required)]
    pub edited: Option<EditedView>,
    /// What moved, where it was approved before.
    #[schema(required)]
    pub asked_again: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// Until when a decision counts; none once it is settled.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    #[serde(flatten)]
    pub decided: DecisionRecord,
    /// Why it failed, or did not get to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error: Option<String>,
    /// The kind of failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error_type: Option<String>,
    /// The request that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub replaced_by: Option<String>,
}

impl ApprovalView {
    pub fn new(approval: &Execution, context: CallContext) -> Self {
        let (tool_id, status) = (approval.call().id.to_string(), approval.status());
        let session_id = approval.call().session.to_string();
        let run_id = approval.call().run.map(|run| run.to_string());
        let (origin, decided) =
            (CallOrigin::from_call(approval.call()), DecisionRecord::from_execution(approval));
        let replaced_by = approval.replaced_by().map(|id| id.to_string());
        let CallOutcome { error, error_type, .. } = CallOutcome::from_execution(approval);
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

/// A page of requests, the latest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ApprovalList {
    pub success: bool,
    pub approvals: Vec<ApprovalView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// One request.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OneApproval {
    pub success: bool,
    #[serde(flatten)]
    pub approval: ApprovalView,
}

/// A yes. A field that is not known is refused: nobody means nothing by it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"decision": "approved"}))]
pub struct ApproveBody {
    /// The path says it already; where it is given it has to be `approved`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<ApprovedLiteral>,
    /// The whole input as the person changed it. It is judged again: denied is 409, riskier than what
    /// was asked becomes a new request, otherwise it runs as edited and the model is told so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub edited_input: Option<Value>,
    /// How far the yes reaches; `once` unless said.
    #[serde(default, skip_serializing_if = "DecisionScope::is_once")]
    #[schema(nullable = false)]
    pub scope: DecisionScope,
    /// The rules of the proposal that was picked, a line each; the narrowest if none. Needs a scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the person wants to add. It is kept beside the decision; the model is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The digest of what the person saw; if the request is another by now, the answer is 409.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// The word for yes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedLiteral {
    Approved,
}

/// The word for no.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RejectedLiteral {
    Rejected,
}

/// A no. A field that is not known is refused.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "User declined execution"}))]
pub struct RejectBody {
    /// The path says it already; where it is given it has to be `rejected`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RejectedLiteral>,
    /// What to do instead: the model reads `User rejected: <reason>` and goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of what the person saw; if the request is another by now, the answer is 409.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether the run is to be stopped, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(nullable = false)]
    pub interrupt: bool,
}

/// The decision that stands.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    pub success: bool,
    pub approval_id: String,
    /// What stands: `approved` or `rejected`; `awaiting_approval` where an edited input is asked for
    /// again.
    pub status: CallStatus,
    pub tool_id: String,
    /// How far the call has come since.
    pub tool_status: CallStatus,
    #[serde(flatten)]
    pub decided: DecisionRecord,
    /// The request that waits in its place, where an edited input is riskier than what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub replaced_by: Option<String>,
}

/// How far a yes reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecisionScope {
    /// This call.
    #[default]
    Once,
    /// Calls like it in this conversation.
    Session,
    /// Calls like it in this project.
    Project,
}

impl DecisionScope {
    /// Returns whether it is no more than this call.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_once(&self) -> bool {
        *self == Self::Once
    }
}
