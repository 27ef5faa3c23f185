//! Whether people are asked: by the server's own switch, and in a project.

use countersign_api::run_mode::ApprovalsView;

/// What `TOOL_APPROVAL_ENABLED` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalSwitch {
    /// Nothing: people are asked, and may choose a run that asks nobody.
    #[default]
    Unset,
    /// People are asked, always.
    On,
    /// Runs that name no mode ask nobody.
    Off,
}

/// Whether people are asked in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalPolicy {
    /// They are, unless a run chooses otherwise.
    Chosen,
    /// They are, whatever a run chooses.
    Kept,
    /// They are not, unless a run chooses otherwise.
    Off,
}

/// Returns whether people are asked, as clients see it.
pub(crate) fn approvals_view(approvals: ApprovalPolicy) -> ApprovalsView {
    match approvals {
        ApprovalPolicy::Chosen => ApprovalsView::Chosen,
        ApprovalPolicy::Kept => ApprovalsView::Kept,
        ApprovalPolicy::Off => ApprovalsView::Off,
    }
}
