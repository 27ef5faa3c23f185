//! A permission request and whoever answers it.

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{PermissionResult, PermissionUpdate};

/// A tool call that waits for a decision.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The tool.
    pub tool_name: String,
    /// What it would run with.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The id of the call. The message that holds the call may arrive after this request.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// Changes to the rules the CLI offers, to be handed back for "always allow".
    #[serde(default, rename = "permission_suggestions", deserialize_with = "or_default")]
    pub suggestions: Vec<PermissionUpdate>,
    /// The path that made the question necessary.
    #[serde(default)]
    pub blocked_path: Option<String>,
    /// Why it is asked, in words.
    #[serde(default)]
    pub decision_reason: Option<String>,
    /// Why it is asked: `rule`, `mode`, `hook`, `workingDir`, `safetyCheck`, ...
    #[serde(default)]
    pub decision_reason_type: Option<String>,
    /// The rule that made the CLI ask.
    #[serde(default)]
    pub matched_ask_rule: Option<MatchedRule>,
    /// Whether "always allow" must not be offered.
    #[serde(default, deserialize_with = "or_default")]
    pub suppress_always_allow_rule: bool,
    /// Whether "no" should be the choice at hand.
    #[serde(default, deserialize_with = "or_default")]
    pub default_to_no: bool,
    /// Whether the tool is a question to the user, to be answered through its input.
    #[serde(default, deserialize_with = "or_default")]
    pub requires_user_interaction: bool,
    /// A headline for people.
    #[serde(default)]
    pub title: Option<String>,
    /// The tool's name for people.
    #[serde(default)]
    pub display_name: Option<String>,
    /// What the call does, for people.
    #[serde(default)]
    pub description: Option<String>,
    /// The subagent that wants the call; nobody means the main conversation.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// The MCP server the tool belongs to.
    #[serde(default)]
    pub mcp_server: Option<ToolServerInfo>,
    /// The id of this question.
    #[serde(skip)]
    pub request_id: String,
    /// The whole request as it came.
    #[serde(skip)]
    pub raw: Value,
    /// Fires when the CLI takes the question back, the deadline passes or the session ends. What
    /// is answered after that is thrown away.
    #[serde(skip)]
    pub cancelled: CancellationToken,
}

/// The rule that made the CLI ask.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct MatchedRule {
    /// Where the rule is kept.
    pub source: String,
    /// The tool it is on.
    pub tool_name: String,
    /// Which uses it is on.
    #[serde(default)]
    pub rule_content: Option<String>,
}

/// The MCP server a tool belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ToolServerInfo {
    /// Its name.
    pub name: String,
    /// Where it was configured.
    #[serde(default)]
    pub source: Option<String>,
}

fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Whoever answers permission requests; an async closure will do.
pub trait PermissionHandler: Send + Sync + 'static {
    /// Decides on one call.
    fn decide(&self, request: ToolRequest) -> BoxFuture<'static, PermissionResult>;
}

impl<F, R> PermissionHandler for F
where
    F: Fn(ToolRequest) -> R + Send + Sync + 'static,
    R: Future<Output = PermissionResult> + Send + 'static,
{
    fn decide(&self, request: ToolRequest) -> BoxFuture<'static, PermissionResult> {
        Box::pin(self(request))
    }
}
