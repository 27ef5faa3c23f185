//! Hooks from settings files, as they run.

use serde::{Deserialize, Serialize};

/// A hook began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStartedMessage {
    /// This run of it.
    pub hook_id: String,
    /// Its name.
    #[serde(default)]
    pub hook_name: String,
    /// What it was called for.
    #[serde(default)]
    pub hook_event: String,
}

/// A hook wrote something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookProgressMessage {
    /// This run of it.
    pub hook_id: String,
    /// Its name.
    #[serde(default)]
    pub hook_name: String,
    /// What it was called for.
    #[serde(default)]
    pub hook_event: String,
    /// What it wrote to its output.
    #[serde(default)]
    pub stdout: String,
    /// What it wrote to its error output.
    #[serde(default)]
    pub stderr: String,
    /// Both.
    #[serde(default)]
    pub output: String,
}

/// A hook is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookResponseMessage {
    /// This run of it.
    pub hook_id: String,
    /// Its name.
    #[serde(default)]
    pub hook_name: String,
    /// What it was called for.
    #[serde(default)]
    pub hook_event: String,
    /// What it wrote to its output.
    #[serde(default)]
    pub stdout: String,
    /// What it wrote to its error output.
    #[serde(default)]
    pub stderr: String,
    /// Both.
    #[serde(default)]
    pub output: String,
    /// The code it left with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// `success`, `error` or `cancelled`.
    #[serde(default)]
    pub outcome: String,
}
