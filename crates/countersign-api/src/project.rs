//! Projects as clients see them, and what clients may change of them.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::run_mode::ApprovalsView;

/// A workspace whose calls, rules and events belong together.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProjectView {
    pub project_id: String,
    pub name: String,
    /// The folder, on the server's machine.
    pub root: String,
    pub settings: SettingsView,
    /// Whether people are asked, by its own settings and by what the server keeps.
    pub approvals: ApprovalsView,
    pub own: OwnSettingsView,
    pub server: ServerSettingsView,
    /// Who changed its name or settings last; left out while nobody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub changed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, format = DateTime)]
    pub changed_at: Option<Timestamp>,
}

/// What holds for a project: its own settings, and the server's where it has none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingsView {
    pub approval_timeout_seconds: TimeoutsView,
    /// Whether people are asked where a run names no mode.
    pub tool_approval_enabled: bool,
    /// Whether commands are tried out while they wait.
    pub rehearse: bool,
}

/// What a project has settled itself; null is as the server has it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OwnSettingsView {
    pub approval_timeout_seconds: OwnTimeoutsView,
    /// `true`: people are asked whatever a run wants. `false`: they are not, unless a run wants it.
    #[schema(required)]
    pub tool_approval_enabled: Option<bool>,
}

/// How long people have by the project's own settings, in seconds, by risk.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OwnTimeoutsView {
    #[serde(rename = "MEDIUM")]
    #[schema(required)]
    pub medium: Option<u64>,
    #[serde(rename = "HIGH")]
    #[schema(required)]
    pub high: Option<u64>,
}

/// What the server was started with.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ServerSettingsView {
    pub approval_timeout_seconds: TimeoutsView,
    /// `TOOL_APPROVAL_ENABLED`. `true` holds in every project, whatever it has settled; null: not set.
    #[schema(required)]
    pub tool_approval_enabled: Option<bool>,
    pub sandbox: SandboxView,
}

/// Where commands of agents run, as it was found out when the server started.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SandboxView {
    pub level: SandboxLevel,
    /// Why it is not worth more; left out where it is all there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub why: Option<String>,
}

/// What the sandbox is worth.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// A view by bubblewrap, Landlock and seccomp.
    Full,
    /// A view by bubblewrap and seccomp, without Landlock.
    View,
    /// Landlock and seccomp: no writing outside, no network, and nothing guarded in the workspace.
    Fence,
    /// Nothing: a command can do what its user can.
    None,
}

/// How long people have to decide, in seconds, by risk.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimeoutsView {
    #[serde(rename = "MEDIUM")]
    pub medium: u64,
    #[serde(rename = "HIGH")]
    pub high: u64,
}

/// Settings to change. What is left out stays; null goes back to what the server has. A setting that is
/// not known is refused: whoever mistypes one must not think it done.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsChange {
    #[schema(nullable = false)]
    pub approval_timeout_seconds: Option<TimeoutsChange>,
    #[serde(default, skip_serializing_if = "SettingUpdate::is_nothing")]
    #[schema(value_type = Option<bool>)]
    pub tool_approval_enabled: SettingUpdate<bool>,
    /// Whether commands are tried out while they wait: in the sandbox, on a copy of the workspace,
    /// without the net.
    #[serde(default, skip_serializing_if = "SettingUpdate::is_nothing")]
    #[schema(value_type = Option<bool>)]
    pub rehearse: SettingUpdate<bool>,
}

/// How long people are to have, in seconds, by risk.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeoutsChange {
    #[serde(rename = "MEDIUM", default, skip_serializing_if = "SettingUpdate::is_nothing")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 2_592_000)]
    pub medium: SettingUpdate<u64>,
    #[serde(rename = "HIGH", default, skip_serializing_if = "SettingUpdate::is_nothing")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 2_592_000)]
    pub high: SettingUpdate<u64>,
}

/// What is given of a setting.
#[derive(Clone, Copy, Debug, Default)]
pub enum SettingUpdate<T> {
    /// Nothing: it stays.
    #[default]
    Nothing,
    /// Null: it is what the server has.
    Default,
    Value(T),
}

impl<T: Serialize> Serialize for SettingUpdate<T> {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => into.serialize_some(value),
            Self::Nothing | Self::Default => into.serialize_none(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SettingUpdate<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Default, Self::Value))
    }
}

impl<T> SettingUpdate<T> {
    /// Returns whether the setting stays as it is.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Returns what holds from now on, where this held before.
    pub fn apply_to(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Nothing => before,
            Self::Default => None,
            Self::Value(value) => Some(value),
        }
    }
}

/// A page of projects, the default one first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ProjectList {
    pub success: bool,
    pub projects: Vec<ProjectView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// One project.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OneProject {
    pub success: bool,
    #[serde(flatten)]
    pub project: ProjectView,
}

/// A project to make.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"root": "services/api", "name": "API"}))]
pub struct NewProject {
    /// A folder that is there, inside one of the server's roots; relative paths start at the first.
    #[schema(example = "services/api")]
    pub root: String,
    /// What people call it; the folder's name unless said.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    pub name: Option<String>,
    #[serde(default)]
    #[schema(nullable = false)]
    pub settings: SettingsChange,
}

/// What is to change of a project.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"settings": {"approval_timeout_seconds": {"MEDIUM": 120}}}))]
pub struct ProjectChange {
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$"
    )]
    pub name: Option<String>,
    #[serde(default)]
    #[schema(nullable = false)]
    pub settings: SettingsChange,
}
