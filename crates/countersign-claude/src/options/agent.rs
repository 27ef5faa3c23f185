//! Subagents that exist for one session.

use serde::Serialize;
use serde_json::Value;

use super::EffortLevel;
use crate::mcp::McpServerConfig;
use crate::permission::PermissionMode;

/// A subagent the main conversation may hand work to.
///
/// What is left out is not sent, so the CLI's defaults (all tools, the session's model) hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentDefinition {
    /// When to use it, in words for the model.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it has; all of them if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools it does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// Its model: a name, an alias or `inherit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Skills loaded from the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Where it keeps what it remembers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<AgentMemory>,
    /// The MCP servers it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<AgentMcpServerSpec>>,
    /// The first prompt, if it is the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_prompt: Option<String>,
    /// The most turns it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Whether it runs in the background by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// How hard it thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortLevel>,
    /// The permission mode it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// Keys this crate has no name for yet.
    #[serde(flatten)]
    pub other: serde_json::Map<String, Value>,
}

impl AgentDefinition {
    /// Describes a subagent by when to use it and what it is told.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self { description: description.into(), prompt: prompt.into(), ..Self::default() }
    }
}

/// Where a subagent keeps what it remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentMemory {
    /// With the user, across projects.
    User,
    /// With the project, shared.
    Project,
    /// With the project, on this machine only.
    Local,
}

/// An MCP server a subagent sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgentMcpServerSpec {
    /// One the session already has.
    Named(String),
    /// One of its own.
    Own(std::collections::BTreeMap<String, McpServerConfig>),
}
