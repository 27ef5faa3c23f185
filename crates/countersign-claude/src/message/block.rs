//! The pieces of a message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a message.
///
/// Reading never fails: what does not have the shape of a known kind is [`ContentBlock::Unknown`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text.
    Text(TextBlock),
    /// What the model thought.
    Thinking(ThinkingBlock),
    /// What the model thought, readable by the API only.
    RedactedThinking(RedactedThinkingBlock),
    /// A tool the model wants to have called.
    ToolUse(ToolUseBlock),
    /// What a call of a tool gave.
    ToolResult(ToolResultBlock),
    /// A tool that the API calls itself.
    ServerToolUse(ServerToolUseBlock),
    /// A picture.
    Image(MediaBlock),
    /// A document.
    Document(MediaBlock),
    /// Anything else, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// Plain text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// Where it is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<Value>,
    /// Up to here the prompt may be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Value>,
}

/// What the model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkingBlock {
    /// The thought; empty where it is only signed.
    #[serde(default)]
    pub thinking: String,
    /// The API's signature, without which it is not accepted back.
    #[serde(default)]
    pub signature: String,
}

/// What the model thought, readable by the API only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedactedThinkingBlock {
    /// The thought, encrypted.
    #[serde(default)]
    pub data: String,
}

/// A tool the model wants to have called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolUseBlock {
    /// What the result, the permission request and the hooks refer to.
    pub id: String,
    /// The tool: `Bash`, `Edit`, `mcp__server__tool`.
    pub name: String,
    /// What it is called with.
    #[serde(default)]
    pub input: Value,
    /// Who called it, where that is not the model itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
    /// Up to here the prompt may be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Value>,
}

/// What a call of a tool gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResultBlock {
    /// The call.
    pub tool_use_id: String,
    /// What came out; some tools give nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<MessageContent>,
    /// Whether it failed or was not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Up to here the prompt may be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Value>,
}

impl ToolResultBlock {
    /// The text in it.
    pub fn text(&self) -> String {
        self.content.as_ref().map(MessageContent::text).unwrap_or_default()
    }

    /// Whether it failed or was not allowed.
    pub fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }
}

/// A tool that the API calls itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerToolUseBlock {
    /// What its result refers to.
    pub id: String,
    /// The tool: `web_search`.
    pub name: String,
    /// What it is called with.
    #[serde(default)]
    pub input: Value,
    /// Who called it, where that is not the model itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Value>,
}

/// A picture or a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MediaBlock {
    /// Where its bytes are, often right here in base64.
    pub source: Value,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether it may be cited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citations: Option<Value>,
    /// Up to here the prompt may be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Value>,
}

/// Text, or blocks: the API takes both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MessageContent {
    /// Just text.
    Text(String),
    /// Pieces.
    Blocks(Vec<ContentBlock>),
}

impl MessageContent {
    /// The pieces; none if it is just text.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// The text in it.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => join_text_blocks(blocks),
        }
    }
}

/// The text blocks, one after the other: the API cuts one text into several where it cites.
pub(super) fn join_text_blocks(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}
