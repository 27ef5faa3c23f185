//! What happens in a turn beside what is said.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The session began or ceased to work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStateChangedMessage {
    /// What it does now.
    pub state: SessionState,
    /// Whether it is for the program that drives the CLI only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk_host_only: Option<bool>,
}

/// What a session does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionState {
    /// Nothing: all turns are over, and no subagent works.
    Idle,
    /// It works.
    Running,
    /// It waits for somebody's answer.
    RequiresAction,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

/// The session has another title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionTitleChangedMessage {
    /// The title.
    pub title: String,
}

/// What the CLI is busy with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusMessage {
    /// `compacting`, `requesting`, or `None` when it is over.
    pub status: Option<String>,
    /// The permission mode, when it changed.
    #[serde(rename = "permissionMode", skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// How the compaction went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_result: Option<String>,
    /// Why the compaction failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_error: Option<String>,
}

/// The conversation was replaced by a summary up to here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactBoundaryMessage {
    /// How it was done.
    pub compact_metadata: CompactMetadata,
}

/// How a conversation was compacted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompactMetadata {
    /// `manual` or `auto`.
    pub trigger: String,
    /// Tokens before.
    pub pre_tokens: u64,
    /// Tokens after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// Tokens dropped in the whole session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative_dropped_tokens: Option<u64>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What was kept word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserved_messages: Option<Value>,
    /// What was kept word for word, by its ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserved_segment: Option<Value>,
}

/// A call was not allowed, and nobody was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionDeniedMessage {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: String,
    /// The subagent that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_reason: Option<String>,
    /// By what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_reason_type: Option<String>,
    /// What the model is told.
    pub message: String,
}

/// A request to the API failed and is tried again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApiRetryMessage {
    /// The how-manieth try failed.
    pub attempt: u64,
    /// How many there are at most.
    pub max_retries: u64,
    /// When the next one is, in milliseconds.
    pub retry_delay_ms: f64,
    /// The status of the API's answer; `None` if there was none.
    pub error_status: Option<u16>,
    /// What failed.
    pub error: Option<Value>,
    /// Whether there was no answer at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_response: Option<Value>,
}

/// The model refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelRefusalMessage {
    /// The model.
    pub original_model: Option<String>,
    /// The one that answers instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_model: Option<String>,
    /// Messages that no longer count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retracted_message_uuids: Option<Vec<String>>,
    /// The prompt that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_user_message_uuid: Option<String>,
    /// What to tell the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// How much the model has thought by now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThinkingTokensMessage {
    /// Tokens, estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<u64>,
    /// How many more than when this was last told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens_delta: Option<u64>,
}
