//! One message of a conversation in the shape of the Messages API, kept so that it replays as it came.

use countersign_core::ToolOutput;
use countersign_gate::StoreError;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// What one side said.
///
/// A message that was read and is written again is the same JSON value: fields and kinds of blocks
/// that this version does not know are kept. (The API refuses a turn whose thinking was altered.)
/// The one exception is a `content` that is a plain string, which becomes one text block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// Who said it.
    pub role: MessageRole,
    /// What was said, in order.
    #[serde(deserialize_with = "string_or_blocks")]
    pub content: Vec<MessageBlock>,
}

/// The side that speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The person, and the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One piece of a message.
///
/// Reading never fails: what does not have the shape of a known kind is [`MessageBlock::Other`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBlock {
    /// Plain text.
    Text(MessageText),
    /// What the model thought, signed by the API.
    Thinking(MessageThinking),
    /// What the model thought, readable by the API only.
    RedactedThinking(MessageRedactedThinking),
    /// A tool the model wants to have called.
    ToolUse(MessageToolUse),
    /// What a call of a tool gave.
    ToolResult(MessageToolResult),
    /// Anything else, as it came.
    #[serde(untagged)]
    Other(Value),
}

/// Plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageText {
    /// The text.
    pub text: String,
    /// Further fields, such as `citations`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What the model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageThinking {
    /// The thought; may be a summary, may be empty.
    pub thinking: String,
    /// The API's seal. Without it the block cannot be replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A thought that only the API can read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageRedactedThinking {
    /// The thought, encrypted.
    pub data: String,
    /// Further fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// A tool the model wants to have called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageToolUse {
    /// The name of this call; its result carries the same.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the tool is called with.
    pub input: Value,
    /// What the model wrote instead of a JSON object, if it did.
    ///
    /// `input` is then `{}`, which the API accepts on replay. Such a call must not run: its result
    /// is an error that tells the model. Not part of the message on the wire.
    #[serde(skip)]
    pub broken_input: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a call of a tool gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageToolResult {
    /// The call.
    pub tool_use_id: String,
    /// What it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<ToolResultContent>,
    /// Whether it failed; absent means no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Further fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The content of a tool's result: a text, or blocks (text, images).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ToolResultContent {
    /// Plain text.
    Text(String),
    /// Blocks, in order.
    Blocks(Vec<MessageBlock>),
}

impl ModelMessage {
    /// Returns what a person typed.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: MessageRole::User, content: vec![MessageBlock::text(text)] }
    }

    /// Returns the results of the calls in the message before, one for each.
    pub fn results(results: impl IntoIterator<Item = MessageToolResult>) -> Self {
        let content = results.into_iter().map(MessageBlock::ToolResult).collect();
        Self { role: MessageRole::User, content }
    }

    /// Returns what the model said.
    pub fn assistant(content: Vec<MessageBlock>) -> Self {
        Self { role: MessageRole::Assistant, content }
    }

    /// Returns the text blocks, joined.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// Returns the calls the model asks for, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &MessageToolUse> {
        self.content.iter().filter_map(|block| match block {
            MessageBlock::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the results of calls, in order.
    pub fn tool_results(&self) -> impl Iterator<Item = &MessageToolResult> {
        self.content.iter().filter_map(|block| match block {
            MessageBlock::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

impl MessageBlock {
    /// Returns a block of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(MessageText { text: text.into(), extra: Map::new() })
    }
}

impl MessageToolUse {
    /// Returns a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        let (id, name) = (id.into(), name.into());
        Self { id, name, input, broken_input: None, extra: Map::new() }
    }
}

impl MessageToolResult {
    /// Returns the result of a call that succeeded.
    pub fn ok(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content: Some(ToolResultContent::Text(text.into())),
            is_error: None,
            extra: Map::new(),
        }
    }

    /// Returns the result of a call that failed, or was not let through.
    pub fn error(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::ok(tool_use_id, text) }
    }

    /// Returns the result that says what a tool gave back.
    ///
    /// What is to be shown beside the text makes it a list of blocks, the text in front.
    pub fn from_output(tool_use_id: impl Into<String>, output: ToolOutput) -> Self {
        let ToolOutput { content, is_error, attachments } = output;
        let content = if attachments.is_empty() {
            ToolResultContent::Text(content)
        } else {
            // The API refuses a block of text that says nothing.
            let text = (!content.trim().is_empty()).then(|| MessageBlock::text(content));
            let beside = attachments.iter().map(|it| MessageBlock::Other(it.to_api_block()));
            ToolResultContent::Blocks(text.into_iter().chain(beside).collect())
        };
        Self {
            tool_use_id: tool_use_id.into(),
            content: Some(content),
            is_error: is_error.then_some(true),
            extra: Map::new(),
        }
    }

    /// Returns whether the call failed.
    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Returns the text in the content, joined.
    pub fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(ToolResultContent::Text(text)) => text.clone(),
            Some(ToolResultContent::Blocks(blocks)) => text_of(blocks),
        }
    }
}

fn text_of(blocks: &[MessageBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        MessageBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}

impl<'de> Deserialize<'de> for MessageBlock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Value::deserialize(from).map(Self::from)
    }
}

impl From<Value> for MessageBlock {
    fn from(value: Value) -> Self {
        value.as_object().cloned().and_then(known).unwrap_or(Self::Other(value))
    }
}

/// Returns the typed view of a block, if it has the shape of a known kind.
fn known(mut fields: Map<String, Value>) -> Option<MessageBlock> {
    let block = match take_string(&mut fields, "type")?.as_str() {
        "text" => {
            let text = take_string(&mut fields, "text")?;
            MessageBlock::Text(MessageText { text, extra: fields })
        }
        "thinking" => {
            let thinking = take_string(&mut fields, "thinking")?;
            let signature = take_string(&mut fields, "signature");
            MessageBlock::Thinking(MessageThinking { thinking, signature, extra: fields })
        }
        "redacted_thinking" => {
            let data = take_string(&mut fields, "data")?;
            MessageBlock::RedactedThinking(MessageRedactedThinking { data, extra: fields })
        }
        "tool_use" => {
            let id = take_string(&mut fields, "id")?;
            let name = take_string(&mut fields, "name")?;
            let input = fields.shift_remove("input")?;
            MessageBlock::ToolUse(MessageToolUse {
                id,
                name,
                input,
                broken_input: None,
                extra: fields,
            })
        }
        "tool_result" => {
            let tool_use_id = take_string(&mut fields, "tool_use_id")?;
            let content = take_content(&mut fields);
            let is_error = take_if(&mut fields, "is_error", Value::as_bool);
            MessageBlock::ToolResult(MessageToolResult {
                tool_use_id,
                content,
                is_error,
                extra: fields,
            })
        }
        _ => return None,
    };
    Some(block)
}

/// Takes a field out if it has the wanted type; otherwise it stays, and is kept as an extra.
fn take_if<T>(
    fields: &mut Map<String, Value>,
    key: &str,
    view: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    let taken = view(fields.get(key)?)?;
    fields.shift_remove(key);
    Some(taken)
}

fn take_string(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    take_if(fields, key, |value| value.as_str().map(str::to_owned))
}

fn take_content(fields: &mut Map<String, Value>) -> Option<ToolResultContent> {
    take_if(fields, "content", |value| match value {
        Value::String(text) => Some(ToolResultContent::Text(text.clone())),
        Value::Array(blocks) => Some(ToolResultContent::Blocks(
            blocks.iter().cloned().map(MessageBlock::from).collect(),
        )),
        _ => None,
    })
}

fn string_or_blocks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<MessageBlock>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum StringOrBlocks {
        Text(String),
        Blocks(Vec<MessageBlock>),
    }
    Ok(match StringOrBlocks::deserialize(from)? {
        StringOrBlocks::Text(text) => vec![MessageBlock::text(text)],
        StringOrBlocks::Blocks(blocks) => blocks,
    })
}

/// Returns what is recorded in a conversation as the store keeps it.
pub(crate) fn to_value(message: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(message).map_err(|source| StoreError::unwritable("message", source))
}

#[cfg(test)]
mod tests;
