//! What is offered to whoever starts a run: its modes, and whether people are asked.

use serde::Serialize;
use utoipa::ToSchema;

use super::command::RunPermissionMode;
use crate::run_mode::ApprovalPolicy;

/// How runs may go in a project, as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AvailableModes {
    pub(crate) modes: Vec<ModeView>,
    /// Whether people are asked.
    pub(crate) approvals: ApprovalsView,
    /// The mode that a run gets which names none, in this connection's conversation.
    pub(crate) default_mode: RunPermissionMode,
}

/// Whether people are asked in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApprovalsView {
    /// They are, unless a run chooses otherwise.
    Chosen,
    /// They are, always: a run that asks nobody is refused.
    Kept,
    /// They are not, unless a run chooses otherwise.
    Off,
}

impl From<ApprovalPolicy> for ApprovalsView {
    fn from(approvals: ApprovalPolicy) -> Self {
        match approvals {
            ApprovalPolicy::Chosen => Self::Chosen,
            ApprovalPolicy::Kept => Self::Kept,
            ApprovalPolicy::Off => Self::Off,
        }
    }
}

/// A permission mode as the page offers it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModeView {
    id: RunPermissionMode,
    label: &'static str,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
}

impl ModeView {
    /// Returns a mode, and what speaks against it.
    pub(crate) fn new(mode: RunPermissionMode, reason: Option<String>) -> Self {
        Self { id: mode, label: mode.label(), available: reason.is_none(), reason }
    }
}
