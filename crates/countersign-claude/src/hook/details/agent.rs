//! What a hook is told about subagents, tasks and what servers ask.

use serde::Deserialize;
use serde_json::Value;

use super::or_default;

/// A subagent is done.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SubagentStopHookInput {
    /// Whether a stop hook made it go on before.
    #[serde(default, deserialize_with = "or_default")]
    pub stop_hook_active: bool,
    /// The last answer.
    #[serde(default)]
    pub last_assistant_message: Option<String>,
    /// The subagent.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Its kind.
    #[serde(default)]
    pub agent_type: Option<String>,
    /// Where its transcript is.
    #[serde(default)]
    pub agent_transcript_path: Option<String>,
    /// What still runs.
    #[serde(default, deserialize_with = "or_default")]
    pub background_tasks: Vec<Value>,
}

/// A subagent starts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SubagentStartHookInput {
    /// The subagent.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Its kind.
    #[serde(default)]
    pub agent_type: Option<String>,
}

/// An MCP server asks the user something.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ElicitationHookInput {
    /// The server.
    pub mcp_server_name: String,
    /// What it asks.
    pub message: String,
    /// `form` or `url`.
    #[serde(default)]
    pub mode: Option<String>,
    /// Where the user is to go.
    #[serde(default)]
    pub url: Option<String>,
    /// What the answer has to look like.
    #[serde(default)]
    pub requested_schema: Option<Value>,
}

/// The user has answered an MCP server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ElicitationResultHookInput {
    /// The server.
    pub mcp_server_name: String,
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    /// What was filled in.
    #[serde(default)]
    pub content: Option<Value>,
}

/// A task was made, or is done.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TeamTaskHookInput {
    /// The task.
    pub task_id: String,
    /// What it is about.
    #[serde(default)]
    pub task_subject: Option<String>,
    /// More on it.
    #[serde(default)]
    pub task_description: Option<String>,
    /// Whose it is.
    #[serde(default)]
    pub teammate_name: Option<String>,
}

/// A teammate has nothing to do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TeammateIdleHookInput {
    /// The teammate.
    #[serde(default)]
    pub teammate_name: Option<String>,
}
