//! Projects as clients see them, and what clients may change of them.

use countersign_gate::{DecisionTimeouts, LastProjectChange, ProjectSettings, StoredProject};
use countersign_tools::{IsolationLevel, Sandbox};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::run_mode::{ApprovalPolicy, ApprovalSwitch};
use crate::socket::available_modes::ApprovalsView;

/// The longest that people may be given: thirty days.
const LONGEST: u64 = 30 * 24 * 3600;

/// A workspace whose calls, rules and events belong together.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProjectView {
    project_id: String,
    name: String,
    /// The folder, on the server's machine.
    root: String,
    settings: SettingsView,
    /// Whether people are asked, by its own settings and by what the server keeps.
    approvals: ApprovalsView,
    own: OwnSettingsView,
    server: ServerSettingsView,
    /// Who changed its name or settings last; left out while nobody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    changed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    changed_at: Option<Timestamp>,
}

/// What holds for a project: its own settings, and the server's where it has none.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsView {
    approval_timeout_seconds: TimeoutsView,
    /// Whether people are asked where a run names no mode.
    tool_approval_enabled: bool,
    /// Whether commands are tried out while they wait.
    rehearse: bool,
}

/// What a project has settled itself; null is as the server has it.
#[derive(Serialize, ToSchema)]
pub(crate) struct OwnSettingsView {
    approval_timeout_seconds: OwnTimeoutsView,
    /// `true`: people are asked whatever a run wants. `false`: they are not, unless a run wants it.
    #[schema(required)]
    tool_approval_enabled: Option<bool>,
}

/// How long people have by the project's own settings, in seconds, by risk.
#[derive(Serialize, ToSchema)]
pub(crate) struct OwnTimeoutsView {
    #[serde(rename = "MEDIUM")]
    #[schema(required)]
    medium: Option<u64>,
    #[serde(rename = "HIGH")]
    #[schema(required)]
    high: Option<u64>,
}

/// What the server was started with.
#[derive(Serialize, ToSchema)]
pub(crate) struct ServerSettingsView {
    approval_timeout_seconds: TimeoutsView,
    /// `TOOL_APPROVAL_ENABLED`. `true` holds in every project, whatever it has settled; null: not set.
    #[schema(required)]
    tool_approval_enabled: Option<bool>,
    sandbox: SandboxView,
}

/// Where commands of agents run, as it was found out when the server started.
#[derive(Serialize, ToSchema)]
pub(crate) struct SandboxView {
    level: SandboxLevel,
    /// Why it is not worth more; left out where it is all there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    why: Option<String>,
}

/// What the sandbox is worth.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SandboxLevel {
    /// A view by bubblewrap, Landlock and seccomp.
    Full,
    /// A view by bubblewrap and seccomp, without Landlock.
    View,
    /// Landlock and seccomp: no writing outside, no network, and nothing guarded in the workspace.
    Fence,
    /// Nothing: a command can do what its user can.
    None,
}

impl From<&Sandbox> for SandboxView {
    fn from(sandbox: &Sandbox) -> Self {
        let level = match sandbox.level() {
            IsolationLevel::Full => SandboxLevel::Full,
            IsolationLevel::View => SandboxLevel::View,
            IsolationLevel::Fence => SandboxLevel::Fence,
            IsolationLevel::None => SandboxLevel::None,
        };
        Self { level, why: sandbox.why().map(str::to_owned) }
    }
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

/// How long people have to decide, in seconds, by risk.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimeoutsView {
    #[serde(rename = "MEDIUM")]
    medium: u64,
    #[serde(rename = "HIGH")]
    high: u64,
}

impl ProjectView {
    /// Returns the view of a project in which this holds.
    pub(crate) fn new(stored: StoredProject, standing: EffectiveSettings<'_>) -> Self {
        let StoredProject { project, settings, changed } = stored;
        let EffectiveSettings { timeouts, approvals, servers, switch, sandbox } = standing;
        let (changed_by, changed_at) = changed.map(|LastProjectChange { by, at }| (by, at)).unzip();
        Self {
            project_id: project.id.to_string(),
            name: project.name,
            root: project.root,
            settings: SettingsView {
                approval_timeout_seconds: timeouts.into(),
                tool_approval_enabled: approvals != ApprovalPolicy::Off,
                rehearse: settings.rehearse.unwrap_or(false),
            },
            approvals: approvals.into(),
            own: OwnSettingsView {
                approval_timeout_seconds: OwnTimeoutsView {
                    medium: settings.medium_seconds,
                    high: settings.high_seconds,
                },
                tool_approval_enabled: settings.tool_approval_enabled,
            },
            server: ServerSettingsView {
                approval_timeout_seconds: servers.into(),
                tool_approval_enabled: match switch {
                    ApprovalSwitch::Unset => None,
                    ApprovalSwitch::On => Some(true),
                    ApprovalSwitch::Off => Some(false),
                },
                sandbox: sandbox.into(),
            },
            changed_by,
            changed_at,
        }
    }
}

impl From<DecisionTimeouts> for TimeoutsView {
    fn from(timeouts: DecisionTimeouts) -> Self {
        Self { medium: timeouts.medium.as_secs(), high: timeouts.high.as_secs() }
    }
}

/// Settings to change. What is left out stays; null goes back to what the server has. A setting that is
/// not known is refused: whoever mistypes one must not think it done.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsChange {
    #[schema(nullable = false)]
    approval_timeout_seconds: Option<TimeoutsChange>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    tool_approval_enabled: SettingUpdate<bool>,
    /// Whether commands are tried out while they wait: in the sandbox, on a copy of the workspace,
    /// without the net.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    rehearse: SettingUpdate<bool>,
}

/// How long people are to have, in seconds, by risk.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeoutsChange {
    #[serde(rename = "MEDIUM", default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 2_592_000)]
    medium: SettingUpdate<u64>,
    #[serde(rename = "HIGH", default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 2_592_000)]
    high: SettingUpdate<u64>,
}

/// What is given of a setting.
#[derive(Clone, Copy, Debug, Default)]
enum SettingUpdate<T> {
    /// Nothing: it stays.
    #[default]
    Nothing,
    /// Null: it is what the server has.
    Default,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SettingUpdate<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Default, Self::Value))
    }
}

impl<T> SettingUpdate<T> {
    /// Returns what holds from now on, where this held before.
    fn apply_to(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Nothing => before,
            Self::Default => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl SettingsChange {
    /// Returns the change if it is one that can be made.
    pub(crate) fn validate(self) -> Result<Self, ApiError> {
        let TimeoutsChange { medium, high } = self.approval_timeout_seconds.unwrap_or_default();
        for seconds in [medium, high].into_iter().filter_map(|it| it.apply_to(None)) {
            if !(1..=LONGEST).contains(&seconds) {
                return Err(ApiError::bad_request(
                    "bad_timeout",
                    format!("`approval_timeout_seconds` are from 1 to {LONGEST}, not {seconds}"),
                ));
            }
        }
        Ok(self)
    }

    pub(crate) fn apply(self, settings: &mut ProjectSettings) {
        let TimeoutsChange { medium, high } = self.approval_timeout_seconds.unwrap_or_default();
        settings.medium_seconds = medium.apply_to(settings.medium_seconds);
        settings.high_seconds = high.apply_to(settings.high_seconds);
        let enabled = self.tool_approval_enabled;
        settings.tool_approval_enabled = enabled.apply_to(settings.tool_approval_enabled);
        settings.rehearse = self.rehearse.apply_to(settings.rehearse);
    }
}
