//! The pieces of a message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a message.
///
/// Reading never fails: what does not have the shape of a known kind is [`Block::Unknown`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Plain text.
    Text(Text),
    /// What the model thought.
    Thinking(Thinking),
    /// What the model thought, readable by the API only.
    RedactedThinking(RedactedThinking),
    /// A tool the model wants to have called.
    ToolUse(ToolUse),
    /// What a call of a tool gave.
    ToolResult(ToolResult),
    /// A tool that the API calls itself.
    ServerToolUse(ServerToolUse),
    /// A picture.
    Image(Media),
    /// A document.
    Document(Media),
    /// Anything else, as it came.
    #[serde(untagged)]
    Unknown(Value),
}

/// Plain text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
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
pub struct Thinking {
    /// The thought; empty where it is only signed.
    #[serde(default)]
    pub thinking: String,
    /// The API's signature, without which it is not accepted back.
    #[serde(default)]
    pub signature: String,
}

/// What the model thought, readable by the API only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RedactedThinking {
    /// The thought, encrypted.
    #[serde(default)]
    pub data: String,
}

/// A tool the model wants to have called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
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
pub struct ToolResult {
    /// The call.
    pub tool_use_id: String,
    /// What came out; some tools give nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Whether it failed or was not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Up to here the prompt may be cached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Value>,
}

impl ToolResult {
    /// The text in it.
    pub fn text(&self) -> String {
        self.content.as_ref().map(Content::text).unwrap_or_default()
    }

    /// Whether it failed or was not allowed.
    pub fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }
}

/// A tool that the API calls itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerToolUse {
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
pub struct Media {
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
pub enum Content {
    /// Just text.
    Text(String),
    /// Pieces.
    Blocks(Vec<Block>),
}

impl Content {
    /// The pieces; none if it is just text.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// The text in it.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => text_of(blocks),
        }
    }
}

/// The text blocks, one after the other: the API cuts one text into several where it cites.
pub(super) fn text_of(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}
