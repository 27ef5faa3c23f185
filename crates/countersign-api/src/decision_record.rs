//! Who decided on a call, when, and what they said.

use countersign_core::{ApprovedBy, Execution, ExecutionState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who decided, when, and what they said; left out where nobody did.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DecisionRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub decided_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub feedback: Option<String>,
}

impl DecisionRecord {
    pub fn from_execution(approval: &Execution) -> Self {
        let of = |by: &ApprovedBy, at: &Timestamp| (Some(by.to_string()), Some(*at));
        let (decided_by, decided_at) = match approval.state() {
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
            feedback: approval.state().decision_comment().map(str::to_owned),
        }
    }
}
