//! What the Messages API says, as far as the CLI passes it on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ContentBlock;

/// An answer of the API, or the part of it that is finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiMessage {
    /// The answer's id; the frames of one answer share it.
    #[serde(default)]
    pub id: String,
    /// `message`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The model that answered; `<synthetic>` if the CLI itself speaks.
    #[serde(default)]
    pub model: String,
    /// `assistant`.
    #[serde(default)]
    pub role: String,
    /// What was said.
    pub content: Vec<ContentBlock>,
    /// Why it ended; `None` in all frames of an answer that is still being made.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// The sequence that ended it.
    #[serde(default)]
    pub stop_sequence: Option<String>,
    /// More on why it ended.
    #[serde(default)]
    pub stop_details: Option<Box<Value>>,
    /// Tokens so far: not final before the answer is.
    #[serde(default)]
    pub usage: Option<ApiUsage>,
    /// Where code was run for it.
    #[serde(default)]
    pub container: Option<Box<Value>>,
    /// What was dropped from the context for it.
    #[serde(default)]
    pub context_management: Option<Box<Value>>,
    /// Why the prompt cache did not help.
    #[serde(default)]
    pub diagnostics: Option<Box<Value>>,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The model wants tools called.
    ToolUse,
    /// It was cut at the limit of tokens.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// The turn is long and is to be continued.
    PauseTurn,
    /// The model refused.
    Refusal,
    /// The context is full.
    ModelContextWindowExceeded,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

/// Tokens, as the API counts them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApiUsage {
    /// Read anew.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Read and put into the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Read from the prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// How long what was put into the prompt cache stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<CacheCreation>,
    /// Uses of tools that the API runs itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_tool_use: Option<ServerToolUsage>,
    /// The tier that served it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// Where it was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inference_geo: Option<String>,
    /// The parts of an answer that took several rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Box<Value>>,
    /// `standard` or `fast`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
    /// The same count in more detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens_details: Option<Box<Value>>,
}

/// How long what was put into the prompt cache stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CacheCreation {
    /// Tokens kept for an hour.
    pub ephemeral_1h_input_tokens: u64,
    /// Tokens kept for five minutes.
    pub ephemeral_5m_input_tokens: u64,
}

/// Uses of tools that the API runs itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerToolUsage {
    /// Searches.
    pub web_search_requests: u64,
    /// Fetched pages.
    pub web_fetch_requests: u64,
}
