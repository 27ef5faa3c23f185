//! What is offered to whoever starts a run: its modes, and whether people are asked.

use serde::Serialize;
use utoipa::ToSchema;

use super::command::PermissionMode;
use crate::ways::Approvals;

/// How runs may go in a project, as it stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Offered {
    pub(crate) modes: Vec<ModeView>,
    /// Whether people are asked.
    pub(crate) approvals: ApprovalsView,
    /// The mode that a run gets which names none, in this connection's conversation.
    pub(crate) default_mode: PermissionMode,
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

impl From<Approvals> for ApprovalsView {
    fn from(approvals: Approvals) -> Self {
        match approvals {
            Approvals::Chosen => Self::Chosen,
            Approvals::Kept => Self::Kept,
            Approvals::Off => Self::Off,
        }
    }
}

/// A permission mode as the page offers it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModeView {
    id: PermissionMode,
    label: &'static str,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
}

impl ModeView {
    /// Returns a mode, and what speaks against it.
    pub(crate) fn new(mode: PermissionMode, reason: Option<String>) -> Self {
        Self { id: mode, label: mode.label(), available: reason.is_none(), reason }
    }
}
