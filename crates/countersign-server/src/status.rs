//! Where a call stands, in the words of the wire.

use countersign_core::Status;
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

impl From<Status> for CallStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::AwaitingApproval => Self::AwaitingApproval,
            Status::Approved => Self::Approved,
            Status::Executing => Self::Executing,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Rejected => Self::Rejected,
            Status::Timeout => Self::Timeout,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl From<CallStatus> for Status {
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
