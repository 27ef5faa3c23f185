//! What a hook is told about calls of tools and their permission.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::or_default;
use crate::permission::PermissionUpdate;

/// A tool is about to run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PreToolUseHookInput {
    /// The tool.
    pub tool_name: String,
    /// What it runs with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// The id of the call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// The MCP server it belongs to.
    #[serde(default)]
    pub mcp_server: Option<Value>,
}

/// A tool has run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PostToolUseHookInput {
    /// The tool.
    pub tool_name: String,
    /// What it ran with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// The id of the call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// What it returned.
    #[serde(default)]
    pub tool_response: Value,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: Option<f64>,
}

/// A tool has failed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PostToolUseFailureHookInput {
    /// The tool.
    pub tool_name: String,
    /// What it ran with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// The id of the call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// Why it failed.
    pub error: String,
    /// Whether it was interrupted.
    #[serde(default)]
    pub is_interrupt: Option<bool>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: Option<f64>,
}

/// All tools of one answer have run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PostToolBatchHookInput {
    /// The calls.
    #[serde(default, deserialize_with = "or_default")]
    pub tool_calls: Vec<ToolCallSummary>,
}

/// A permission is about to be asked for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PermissionRequestHookInput {
    /// The tool.
    pub tool_name: String,
    /// What it would run with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// Changes to the rules the CLI offers.
    #[serde(default, deserialize_with = "or_default")]
    pub permission_suggestions: Vec<PermissionUpdate>,
    /// The MCP server it belongs to.
    #[serde(default)]
    pub mcp_server: Option<Value>,
}

/// A permission was denied.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PermissionDeniedHookInput {
    /// The tool.
    pub tool_name: String,
    /// What it would have run with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// The id of the call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ToolCallSummary {
    /// The tool.
    pub tool_name: String,
    /// What it ran with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// The id of the call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// What it returned.
    #[serde(default)]
    pub tool_response: Option<Value>,
}
