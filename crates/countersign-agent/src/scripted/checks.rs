//! Refuses what the real API refuses, in its words, so that a test sees whether a conversation stays
//! acceptable.

mod pairing;

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::answer::seal;
use crate::model::ApiErrorDetails;

/// An error as the API words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScriptedApiError {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
    /// In seconds.
    pub(super) retry_after: Option<u64>,
}

impl ScriptedApiError {
    /// Returns an error of the kind that the request is to blame for.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    pub(super) fn new(status: u16, kind: &str, message: impl Into<String>) -> Self {
        Self { status, kind: kind.to_owned(), message: message.into(), retry_after: None }
    }

    /// Returns the body that goes with it.
    pub(super) fn body(&self) -> Value {
        json!({"type": "error", "error": {"type": self.kind, "message": self.message}})
    }

    /// Returns it as a client reads it.
    pub(super) fn refusal(self) -> ApiErrorDetails {
        ApiErrorDetails {
            status: Some(self.status),
            kind: self.kind,
            message: self.message,
            retry_after: self.retry_after.map(Duration::from_secs),
        }
    }
}

/// The API refuses a request with more.
const MOST_MARKS: usize = 4;

/// Returns why the API would refuse a request.
pub(super) fn check(body: &Value) -> Result<(), ScriptedApiError> {
    let fields =
        body.as_object().ok_or_else(|| ScriptedApiError::invalid("Input should be an object"))?;
    required(fields)?;
    tools(fields.get("tools"))?;
    marks(fields)?;
    let messages = combined(fields.get("messages"))?;
    roles(&messages)?;
    for message in &messages {
        blocks(message)?;
    }
    pairing::check(&messages)
}

/// A message, or several of one role in a row, which the API reads as one.
#[derive(Debug)]
struct MergedMessage<'a> {
    /// The number of the last message in it, as the API counts.
    number: usize,
    is_user: bool,
    blocks: Vec<IndexedBlock<'a>>,
}

/// A block and its path.
#[derive(Clone, Copy, Debug)]
struct IndexedBlock<'a> {
    message: usize,
    index: usize,
    block: &'a Map<String, Value>,
}

impl IndexedBlock<'_> {
    fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.block.get(key).and_then(Value::as_str)
    }

    fn refuse(&self, problem: &str) -> ScriptedApiError {
        ScriptedApiError::invalid(format!(
            "messages.{}.content.{}{problem}",
            self.message, self.index
        ))
    }

    fn refuse_field(&self, field: &str, problem: &str) -> ScriptedApiError {
        self.refuse(&format!(".{}.{field}: {problem}", self.kind()))
    }
}

fn required(fields: &Map<String, Value>) -> Result<(), ScriptedApiError> {
    for field in ["model", "max_tokens", "messages"] {
        if fields.get(field).is_none_or(Value::is_null) {
            return Err(ScriptedApiError::invalid(format!("{field}: Field required")));
        }
    }
    match fields.get("max_tokens").and_then(Value::as_u64) {
        Some(1..) => Ok(()),
        _ => {
            Err(ScriptedApiError::invalid("max_tokens: Input should be greater than or equal to 1"))
        }
    }
}

fn tools(tools: Option<&Value>) -> Result<(), ScriptedApiError> {
    let mut names = Vec::new();
    for (index, tool) in tools.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 128 || !name.chars().all(is_good) {
            return Err(ScriptedApiError::invalid(format!(
                "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        if names.contains(&name) {
            return Err(ScriptedApiError::invalid("tools: Tool names must be unique."));
        }
        names.push(name);
    }
    Ok(())
}

fn marks(fields: &Map<String, Value>) -> Result<(), ScriptedApiError> {
    let count = fields.values().map(count_marks).sum::<usize>();
    if count > MOST_MARKS {
        return Err(ScriptedApiError::invalid(format!(
            "A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {count}."
        )));
    }
    Ok(())
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_marks).sum(),
        Value::Object(fields) => {
            let own = usize::from(fields.get("cache_control").is_some_and(Value::is_object));
            // Only where blocks can be: an input may have a field of that name.
            own + fields.get("content").map_or(0, count_marks)
        }
        _ => 0,
    }
}

fn combined(messages: Option<&Value>) -> Result<Vec<MergedMessage<'_>>, ScriptedApiError> {
    let messages = messages
        .and_then(Value::as_array)
        .ok_or_else(|| ScriptedApiError::invalid("messages: Input should be a valid list"))?;
    let mut turns: Vec<MergedMessage<'_>> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let is_user = match message.get("role").and_then(Value::as_str) {
            Some("user") => true,
            Some("assistant") => false,
            // Newer than this; not part of the talk.
            Some("system") => continue,
            _ => {
                return Err(ScriptedApiError::invalid(format!(
                    "messages.{number}.role: Input should be 'user' or 'assistant'"
                )));
            }
        };
        let blocks = content(number, message)?;
        match turns.last_mut().filter(|turn| turn.is_user == is_user) {
            Some(turn) => {
                turn.number = number;
                turn.blocks.extend(blocks);
            }
            None => turns.push(MergedMessage { number, is_user, blocks }),
        }
    }
    Ok(turns)
}

fn content(number: usize, message: &Value) -> Result<Vec<IndexedBlock<'_>>, ScriptedApiError> {
    let empty = || {
        ScriptedApiError::invalid(format!(
            "messages.{number}: all messages must have non-empty content except for the optional \
             final assistant message"
        ))
    };
    match message.get("content") {
        Some(Value::String(text)) if text.trim().is_empty() => Err(empty()),
        Some(Value::String(_)) => Ok(Vec::new()),
        Some(Value::Array(blocks)) if blocks.is_empty() => Err(empty()),
        Some(Value::Array(blocks)) => blocks
            .iter()
            .enumerate()
            .map(|(index, block)| {
                let block = block.as_object().filter(|block| block.contains_key("type"));
                let block = block.ok_or_else(|| {
                    ScriptedApiError::invalid(format!(
                        "messages.{number}.content.{index}.type: Field required"
                    ))
                })?;
                Ok(IndexedBlock { message: number, index, block })
            })
            .collect(),
        _ => Err(ScriptedApiError::invalid(format!("messages.{number}.content: Field required"))),
    }
}

fn roles(turns: &[MergedMessage<'_>]) -> Result<(), ScriptedApiError> {
    match (turns.first(), turns.last()) {
        (None, _) => Err(ScriptedApiError::invalid("messages: at least one message is required")),
        (Some(first), _) if !first.is_user => {
            Err(ScriptedApiError::invalid("messages: first message must use the \"user\" role"))
        }
        (_, Some(last)) if !last.is_user => Err(ScriptedApiError::invalid(
            "This model does not support assistant message prefill. The conversation must end with \
             a user message.",
        )),
        _ => Ok(()),
    }
}

fn blocks(turn: &MergedMessage<'_>) -> Result<(), ScriptedApiError> {
    for block in &turn.blocks {
        fields(*block)?;
        match block.kind() {
            "text" => text(*block)?,
            "thinking" => thinking(*block)?,
            "tool_use" if !block.block.get("input").is_some_and(Value::is_object) => {
                return Err(block.refuse_field("input", "Input should be a valid dictionary"));
            }
            _ => {}
        }
    }
    let last = turn.blocks.last().map(IndexedBlock::kind);
    if !turn.is_user && matches!(last, Some("thinking" | "redacted_thinking")) {
        return Err(ScriptedApiError::invalid(format!(
            "messages.{}: The final block in an assistant message cannot be `thinking`.",
            turn.number
        )));
    }
    Ok(())
}

/// Refuses fields that the kind of block does not have, and asks for those that it must have.
fn fields(block: IndexedBlock<'_>) -> Result<(), ScriptedApiError> {
    let (must, may): (&[&str], &[&str]) = match block.kind() {
        "text" => (&["text"], &["citations", "cache_control"]),
        "thinking" => (&["thinking", "signature"], &[]),
        "redacted_thinking" => (&["data"], &[]),
        "tool_use" => (&["id", "name", "input"], &["cache_control", "caller"]),
        "tool_result" => (&["tool_use_id"], &["content", "is_error", "cache_control"]),
        _ => return Ok(()),
    };
    if let Some(missing) = must.iter().find(|key| !block.block.contains_key(**key)) {
        return Err(block.refuse_field(missing, "Field required"));
    }
    let is_known = |key: &str| key == "type" || must.contains(&key) || may.contains(&key);
    match block.block.keys().find(|key| !is_known(key)) {
        Some(extra) => Err(block.refuse_field(extra, "Extra inputs are not permitted")),
        None => Ok(()),
    }
}

fn text(block: IndexedBlock<'_>) -> Result<(), ScriptedApiError> {
    match block.text("text") {
        None => Err(block.refuse_field("text", "Input should be a valid string")),
        Some("") => {
            Err(ScriptedApiError::invalid("messages: text content blocks must be non-empty"))
        }
        Some(text) if text.trim().is_empty() => Err(ScriptedApiError::invalid(
            "messages: text content blocks must contain non-whitespace text",
        )),
        Some(_) => Ok(()),
    }
}

fn thinking(block: IndexedBlock<'_>) -> Result<(), ScriptedApiError> {
    let sealed = block.text("thinking").map(seal);
    if sealed.as_deref() == block.text("signature") {
        Ok(())
    } else {
        Err(block.refuse(": Invalid `signature` in `thinking` block"))
    }
}

#[cfg(test)]
mod tests;
