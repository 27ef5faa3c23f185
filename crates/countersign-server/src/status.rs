//! Where a call stands, in the words of the wire.

use countersign_core::ExecutionStatus;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallStatus {
    Pending,
    AwaitingApproval,
    Approved,
    Executing,
    Completed,
    Failed,
    Rejected,
    Timeout,
    Cancelled,
}

impl From<ExecutionStatus> for CallStatus {
    fn from(status: ExecutionStatus) -> Self {
        match status {
            ExecutionStatus::Pending => Self::Pending,
            ExecutionStatus::AwaitingApproval => Self::AwaitingApproval,
            ExecutionStatus::Approved => Self::Approved,
            ExecutionStatus::Executing => Self::Executing,
            ExecutionStatus::Completed => Self::Completed,
            ExecutionStatus::Failed => Self::Failed,
            ExecutionStatus::Rejected => Self::Rejected,
            ExecutionStatus::Timeout => Self::Timeout,
            ExecutionStatus::Cancelled => Self::Cancelled,
        }
    }
}

impl From<CallStatus> for ExecutionStatus {
    /// In a filter `pending` means what waits for a person: nothing is ever kept as anything before.
    fn from(status: CallStatus) -> Self {
        match status {
            CallStatus::Pending | CallStatus::AwaitingApproval => Self::AwaitingApproval,
            CallStatus::Approved => Self::Approved,
            CallStatus::Executing => Self::Executing,
            CallStatus::Completed => Self::Completed,
            CallStatus::Failed => Self::Failed,
            CallStatus::Rejected => Self::Rejected,
            CallStatus::Timeout => Self::Timeout,
            CallStatus::Cancelled => Self::Cancelled,
        }
    }
}
