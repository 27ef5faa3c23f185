//! What a session has.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a session has, told at the start of every turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InitMessage {
    /// The folder it works in.
    pub cwd: String,
    /// The folder it began in, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_cwd: Option<String>,
    /// Further folders it may work in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_directories: Option<Vec<String>>,
    /// The tools the model sees.
    pub tools: Vec<String>,
    /// The MCP servers and how they are.
    pub mcp_servers: Vec<InitMcpServer>,
    /// The model.
    pub model: String,
    /// The permission mode.
    #[serde(rename = "permissionMode")]
    pub permission_mode: String,
    /// Where the key came from.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: String,
    /// The CLI's version.
    pub claude_code_version: String,
    /// Slash commands that work here.
    pub slash_commands: Vec<String>,
    /// Slash commands that work in a terminal only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_slash_commands: Option<Vec<String>>,
    /// The style of the answers.
    pub output_style: String,
    /// Kinds of subagents.
    pub agents: Vec<String>,
    /// Skills.
    pub skills: Vec<String>,
    /// Plugins.
    pub plugins: Vec<PluginInfo>,
    /// Plugins that could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_errors: Option<Value>,
    /// Beta features of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub betas: Option<Vec<String>>,
    /// What this CLI can do beyond older ones: better than comparing versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<String>>,
    /// Whether the fast mode is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mode_state: Option<String>,
    /// Why it cannot be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_mode_disabled_reason: Option<String>,
    /// How hard the model thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Value>,
    /// How much is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_mode: Option<String>,
}

impl InitMessage {
    /// Whether this CLI says it can do something.
    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().flatten().any(|known| known == capability)
    }
}

/// An MCP server and how it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InitMcpServer {
    /// Its name.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Where it was configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PluginInfo {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it was configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}
