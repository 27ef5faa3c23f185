//! Projects as clients see them, and what clients may change of them.

use countersign_gate::{ProjectSettings, StoredProject, Timeouts};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::error::ApiError;

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
}

/// What holds for a project: its own settings, and the server's where it has none.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsView {
    approval_timeout_seconds: TimeoutsView,
    /// Whether calls ask. Kept; in this version it changes nothing.
    tool_approval_enabled: bool,
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
    /// Returns the view of a project whose people have so long.
    pub(crate) fn of(stored: StoredProject, timeouts: Timeouts) -> Self {
        let StoredProject { project, settings } = stored;
        Self {
            project_id: project.id.to_string(),
            name: project.name,
            root: project.root,
            settings: SettingsView {
                approval_timeout_seconds: TimeoutsView {
                    medium: timeouts.medium.as_secs(),
                    high: timeouts.high.as_secs(),
                },
                tool_approval_enabled: settings.tool_approval_enabled.unwrap_or(true),
            },
        }
    }
}

/// Settings to change. What is left out stays; null goes back to what the server has.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
pub(crate) struct SettingsChange {
    #[schema(nullable = false)]
    approval_timeout_seconds: Option<TimeoutsChange>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    tool_approval_enabled: Given<bool>,
}

/// How long people are to have, in seconds, by risk.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
pub(crate) struct TimeoutsChange {
    #[serde(rename = "MEDIUM", default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 2_592_000)]
    medium: Given<u64>,
    #[serde(rename = "HIGH", default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 2_592_000)]
    high: Given<u64>,
}

/// What is given of a setting.
#[derive(Clone, Copy, Debug, Default)]
enum Given<T> {
    /// Nothing: it stays.
    #[default]
    Nothing,
    /// Null: it is what the server has.
    Default,
    Value(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(from)?.map_or(Self::Default, Self::Value))
    }
}

impl<T> Given<T> {
    /// Returns what holds from now on, where this held before.
    fn over(self, before: Option<T>) -> Option<T> {
        match self {
            Self::Nothing => before,
            Self::Default => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl SettingsChange {
    /// Returns the change if it is one that can be made.
    pub(crate) fn checked(self) -> Result<Self, ApiError> {
        let TimeoutsChange { medium, high } = self.approval_timeout_seconds.unwrap_or_default();
        for seconds in [medium, high].into_iter().filter_map(|it| it.over(None)) {
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
        settings.medium_seconds = medium.over(settings.medium_seconds);
        settings.high_seconds = high.over(settings.high_seconds);
        let enabled = self.tool_approval_enabled;
        settings.tool_approval_enabled = enabled.over(settings.tool_approval_enabled);
    }
}
