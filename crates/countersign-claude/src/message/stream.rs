//! Pieces of an answer while it is made: the events of the Messages API.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApiMessage, ApiUsage, ContentBlock, StopReason};

/// A piece of an answer while it is made; only with partial messages on.
///
/// The finished block comes as an assistant message all the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamEvent {
    /// The API's event.
    pub event: ApiStreamEvent,
    /// The tool call whose subagent speaks; `None` for the main conversation.
    #[serde(default)]
    pub parent_tool_use_id: Option<String>,
    /// Until the first token, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<f64>,
    /// The prompt this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<String>,
    /// All prompts this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<String>>,
    /// The answer this is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_message_id: Option<String>,
    /// Blocks that no more comes for, since the answer was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned_blocks: Option<Value>,
    /// The API's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl StreamEvent {
    /// The text this adds to the answer.
    pub fn text(&self) -> Option<&str> {
        match &self.event {
            ApiStreamEvent::ContentBlockDelta(ContentBlockDelta {
                delta: ContentDelta::TextDelta { text },
                ..
            }) => Some(text),
            _ => None,
        }
    }
}

/// An event of the Messages API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApiStreamEvent {
    /// An answer begins.
    MessageStart(MessageStart),
    /// A block begins.
    ContentBlockStart(ContentBlockStart),
    /// A block grows.
    ContentBlockDelta(ContentBlockDelta),
    /// A block is done.
    ContentBlockStop(ContentBlockStop),
    /// What is known of the whole answer by now.
    MessageDelta(MessageDelta),
    /// The answer is done.
    MessageStop {},
    /// A sign of life.
    Ping {},
    /// Anything else, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// An answer begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageStart {
    /// The answer, still empty.
    pub message: ApiMessage,
}

/// A block begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentBlockStart {
    /// Which one.
    pub index: u64,
    /// The block, still empty.
    pub content_block: ContentBlock,
}

/// A block grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentBlockDelta {
    /// Which one.
    pub index: u64,
    /// By what.
    pub delta: ContentDelta,
}

/// What a block grows by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentDelta {
    /// Text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A tool's input, as JSON that is complete only when the block is.
    InputJsonDelta {
        /// The piece.
        partial_json: String,
    },
    /// Thought.
    ThinkingDelta {
        /// The piece.
        thinking: String,
    },
    /// The signature of the thought.
    SignatureDelta {
        /// The signature.
        signature: String,
    },
    /// Anything else, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// A block is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContentBlockStop {
    /// Which one.
    pub index: u64,
}

/// What is known of the whole answer by now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageDelta {
    /// Why it ended.
    pub delta: StopDelta,
    /// Tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ApiUsage>,
    /// What was dropped from the context for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_management: Option<Value>,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StopDelta {
    /// The reason.
    pub stop_reason: Option<StopReason>,
    /// The sequence that ended it.
    pub stop_sequence: Option<String>,
    /// More on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<Value>,
    /// Where code was run for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Value>,
}
