//! The smaller messages beside the conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much of the subscription's allowance is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateLimitEvent {
    /// Where it stands.
    pub rate_limit_info: RateLimitInfo,
}

/// Where an allowance stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RateLimitInfo {
    /// Whether requests are still taken.
    pub status: RateLimitStatus,
    /// When it starts anew, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
    /// Which allowance: `five_hour`, `seven_day`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit_type: Option<String>,
    /// The part that is used, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Whether what goes beyond it is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_status: Option<RateLimitStatus>,
    /// When that starts anew, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_resets_at: Option<u64>,
    /// Why nothing beyond it is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overage_disabled_reason: Option<String>,
    /// Whether this already goes beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_using_overage: Option<bool>,
}

/// Whether requests are still taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RateLimitStatus {
    /// They are.
    Allowed,
    /// They are, but not for long.
    AllowedWarning,
    /// They are not.
    Rejected,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

/// The conversation starts anew under another id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationReset {
    /// The new id.
    pub new_conversation_id: String,
    /// What caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The prompt that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<String>,
    /// When, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

/// How far a prompt has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLifecycle {
    /// The prompt, by the `uuid` its sender gave it.
    pub command_uuid: String,
    /// How far it has come.
    pub state: CommandState,
}

/// How far a prompt has come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandState {
    /// It waits for the turn before it.
    Queued,
    /// Its turn began.
    Started,
    /// Its turn is over.
    Completed,
    /// It was interrupted, or taken back while it waited: then no result comes for it.
    Cancelled,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

/// A tool is still at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolProgress {
    /// The call.
    pub tool_use_id: String,
    /// The tool.
    #[serde(default)]
    pub tool_name: String,
    /// The tool call whose subagent called it.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// For how long, in seconds.
    #[serde(default)]
    pub elapsed_time_seconds: f64,
    /// The task it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Whether this is only a sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Value>,
    /// That its subagent tries again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_retry: Option<Value>,
}

/// What a few tool calls did, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUseSummary {
    /// The sentence.
    pub summary: String,
    /// The calls.
    #[serde(default)]
    pub preceding_tool_use_ids: Vec<String>,
}

/// What the user may want to say next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptSuggestion {
    /// The words.
    pub suggestion: String,
}

/// How the sign-in goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthStatus {
    /// Whether it is under way.
    #[serde(default, rename = "isAuthenticating")]
    pub is_authenticating: bool,
    /// What it says.
    #[serde(default)]
    pub output: Vec<String>,
    /// What failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
