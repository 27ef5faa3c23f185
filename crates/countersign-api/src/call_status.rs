//! Where a call stands, in the words of the wire.

use std::fmt;

use countersign_core::ExecutionStatus;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
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

impl CallStatus {
    /// Returns the word of the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Approved => "approved",
            Self::Executing => "executing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether a person has still to decide.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Pending | Self::AwaitingApproval)
    }

    /// Returns whether nothing can follow.
    pub fn is_over(self) -> bool {
        ExecutionStatus::from(self).is_terminal()
    }
}

impl fmt::Display for CallStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_word_everywhere() {
        for status in [
            CallStatus::Pending,
            CallStatus::AwaitingApproval,
            CallStatus::Approved,
            CallStatus::Executing,
            CallStatus::Completed,
            CallStatus::Failed,
            CallStatus::Rejected,
            CallStatus::Timeout,
            CallStatus::Cancelled,
        ] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
