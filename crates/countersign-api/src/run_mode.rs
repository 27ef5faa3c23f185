//! How runs may go, and whether people are asked.

use countersign_core::{Executor, PermissionMode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// S1's three ways to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum RunPermissionMode {
    /// Our own loop; people decide.
    #[default]
    #[serde(rename = "sdk")]
    Sdk,
    /// The Claude Code CLI; people decide.
    #[serde(rename = "toolApproval")]
    ToolApproval,
    /// The Claude Code CLI, unattended.
    #[serde(rename = "bypassPermissions")]
    BypassPermissions,
}

impl RunPermissionMode {
    /// Returns what a run is called whose calls go this way.
    pub fn for_executor(executor: Executor, mode: Option<PermissionMode>) -> Self {
        match (executor, mode) {
            (_, Some(PermissionMode::BypassPermissions)) => Self::BypassPermissions,
            (Executor::ClaudeCli, _) => Self::ToolApproval,
            (Executor::Local | Executor::Client | Executor::Caller, _) => Self::Sdk,
        }
    }

    pub const ALL: [Self; 3] = [Self::BypassPermissions, Self::Sdk, Self::ToolApproval];

    /// Returns what people call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::BypassPermissions => "Auto Execute",
            Self::Sdk => "Review & Approve (SDK)",
            Self::ToolApproval => "Review & Approve (CLI)",
        }
    }
}

/// How runs may go in a project, as it stands.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AvailableModes {
    pub modes: Vec<ModeView>,
    /// Whether people are asked.
    pub approvals: ApprovalsView,
    /// The mode that a run gets which names none, in this connection's conversation.
    pub default_mode: RunPermissionMode,
}

/// Whether people are asked in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalsView {
    /// They are, unless a run chooses otherwise.
    Chosen,
    /// They are, always: a run that asks nobody is refused.
    Kept,
    /// They are not, unless a run chooses otherwise.
    Off,
}

/// A permission mode as the page offers it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ModeView {
    pub id: RunPermissionMode,
    pub label: String,
    pub available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
}

impl ModeView {
    /// Returns a mode, and what speaks against it.
    pub fn new(mode: RunPermissionMode, reason: Option<String>) -> Self {
        Self { id: mode, label: mode.label().to_owned(), available: reason.is_none(), reason }
    }
}

/// What becomes of calls that would ask. Denials, hard ones included, hold in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunMode {
    /// Nothing is changed.
    Plan,
    /// A person is asked.
    Default,
    /// Changes to ordinary files of the workspace run.
    AcceptEdits,
    /// What would ask is denied.
    DontAsk,
}

impl RunMode {
    /// Returns the mode of that name; none for one that is not chosen on the wire.
    pub fn from_mode(mode: PermissionMode) -> Option<Self> {
        match mode {
            PermissionMode::Plan => Some(Self::Plan),
            PermissionMode::Default => Some(Self::Default),
            PermissionMode::AcceptEdits => Some(Self::AcceptEdits),
            PermissionMode::DontAsk => Some(Self::DontAsk),
            PermissionMode::BypassPermissions => None,
        }
    }
}

impl From<RunMode> for PermissionMode {
    fn from(mode: RunMode) -> Self {
        match mode {
            RunMode::Plan => Self::Plan,
            RunMode::Default => Self::Default,
            RunMode::AcceptEdits => Self::AcceptEdits,
            RunMode::DontAsk => Self::DontAsk,
        }
    }
}
