//! Projects as clients see them, and what clients may change of them.

use countersign_api::project::{
    OwnSettingsView, OwnTimeoutsView, ProjectView, SandboxLevel, SandboxView, ServerSettingsView,
    SettingsChange, SettingsView, TimeoutsChange, TimeoutsView,
};
use countersign_gate::{DecisionTimeouts, LastProjectChange, ProjectSettings, StoredProject};
use countersign_tools::{IsolationLevel, Sandbox};

use crate::approval_switch::{ApprovalPolicy, ApprovalSwitch, approvals_view};
use crate::error::ApiError;

/// The longest that people may be given: thirty days.
const LONGEST: u64 = 30 * 24 * 3600;

fn sandbox_view(sandbox: &Sandbox) -> SandboxView {
    let level = match sandbox.level() {
        IsolationLevel::Full => SandboxLevel::Full,
        IsolationLevel::View => SandboxLevel::View,
        IsolationLevel::Fence => SandboxLevel::Fence,
        IsolationLevel::None => SandboxLevel::None,
    };
    SandboxView { level, why: sandbox.why().map(str::to_owned) }
}

/// What holds beside a project's own settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectiveSettings<'a> {
    /// How long its people have.
    pub(crate) timeouts: DecisionTimeouts,
    /// Whether they are asked.
    pub(crate) approvals: ApprovalPolicy,
    /// How long people have where a project has settled nothing.
    pub(crate) servers: DecisionTimeouts,
    pub(crate) switch: ApprovalSwitch,
    /// Where its commands run.
    pub(crate) sandbox: &'a Sandbox,
}

/// Returns the view of a project in which this holds.
pub(crate) fn project_view(stored: StoredProject, standing: EffectiveSettings<'_>) -> ProjectView {
    let StoredProject { project, settings, changed } = stored;
    let EffectiveSettings { timeouts, approvals, servers, switch, sandbox } = standing;
    let (changed_by, changed_at) = changed.map(|LastProjectChange { by, at }| (by, at)).unzip();
    ProjectView {
        project_id: project.id.to_string(),
        name: project.name,
        root: project.root,
        settings: SettingsView {
            approval_timeout_seconds: timeouts_view(timeouts),
            tool_approval_enabled: approvals != ApprovalPolicy::Off,
            rehearse: settings.rehearse.unwrap_or(false),
        },
        approvals: approvals_view(approvals),
        own: OwnSettingsView {
            approval_timeout_seconds: OwnTimeoutsView {
                medium: settings.medium_seconds,
                high: settings.high_seconds,
            },
            tool_approval_enabled: settings.tool_approval_enabled,
        },
        server: ServerSettingsView {
            approval_timeout_seconds: timeouts_view(servers),
            tool_approval_enabled: match switch {
                ApprovalSwitch::Unset => None,
                ApprovalSwitch::On => Some(true),
                ApprovalSwitch::Off => Some(false),
            },
            sandbox: sandbox_view(sandbox),
        },
        changed_by,
        changed_at,
    }
}

fn timeouts_view(timeouts: DecisionTimeouts) -> TimeoutsView {
    TimeoutsView { medium: timeouts.medium.as_secs(), high: timeouts.high.as_secs() }
}

/// Checks that a change of settings is one that can be made.
pub(crate) fn check_settings_change(change: SettingsChange) -> Result<SettingsChange, ApiError> {
    let TimeoutsChange { medium, high } = change.approval_timeout_seconds.unwrap_or_default();
    for seconds in [medium, high].into_iter().filter_map(|it| it.apply_to(None)) {
        if !(1..=LONGEST).contains(&seconds) {
            return Err(ApiError::bad_request(
                "bad_timeout",
                format!("`approval_timeout_seconds` are from 1 to {LONGEST}, not {seconds}"),
            ));
        }
    }
    Ok(change)
}

/// Changes the settings of a project.
pub(crate) fn apply_settings_change(change: SettingsChange, settings: &mut ProjectSettings) {
    let TimeoutsChange { medium, high } = change.approval_timeout_seconds.unwrap_or_default();
    settings.medium_seconds = medium.apply_to(settings.medium_seconds);
    settings.high_seconds = high.apply_to(settings.high_seconds);
    let enabled = change.tool_approval_enabled;
    settings.tool_approval_enabled = enabled.apply_to(settings.tool_approval_enabled);
    settings.rehearse = change.rehearse.apply_to(settings.rehearse);
}
