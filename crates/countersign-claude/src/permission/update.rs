//! Changes to the permission rules, as the CLI suggests them and takes them back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PermissionMode;

/// A change to the permission rules.
///
/// The CLI sends some along with a question; handing those back with an allow is "always allow".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PermissionUpdate {
    /// Adds rules.
    AddRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What they do.
        behavior: RuleBehavior,
        /// Where they are kept.
        destination: UpdateDestination,
    },
    /// Replaces all rules of that behaviour and place.
    ReplaceRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What they do.
        behavior: RuleBehavior,
        /// Where they are kept.
        destination: UpdateDestination,
    },
    /// Takes rules away.
    RemoveRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What they do.
        behavior: RuleBehavior,
        /// Where they are kept.
        destination: UpdateDestination,
    },
    /// Changes the mode.
    SetMode {
        /// The mode.
        mode: PermissionMode,
        /// Where it is kept.
        destination: UpdateDestination,
    },
    /// Lets tools work in more folders.
    AddDirectories {
        /// The folders.
        directories: Vec<String>,
        /// Where that is kept.
        destination: UpdateDestination,
    },
    /// Lets tools work in fewer folders.
    RemoveDirectories {
        /// The folders.
        directories: Vec<String>,
        /// Where that is kept.
        destination: UpdateDestination,
    },
    /// A change this crate has no name for; it is handed back as it came.
    #[serde(untagged)]
    Other(Value),
}

/// A rule on a tool, or on some uses of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRule {
    /// The tool.
    pub tool_name: String,
    /// Which uses of it (`npm test:*`); all if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleBehavior {
    /// Lets the call run.
    Allow,
    /// Stops it.
    Deny,
    /// Asks.
    Ask,
}

/// Where a change is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UpdateDestination {
    /// The user's settings.
    UserSettings,
    /// The project's settings, shared.
    ProjectSettings,
    /// The project's settings on this machine.
    LocalSettings,
    /// This session only.
    Session,
    /// As if given on the command line.
    CliArg,
}
