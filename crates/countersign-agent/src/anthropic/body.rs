//! The body of a request, with marks for the prompt cache.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::model::{ModelError, ModelRequest, ToolSpec};

/// The API refuses a request with more.
const MOST_MARKS: usize = 4;

/// Returns the body that asks for a streamed answer.
///
/// What does not change from one request to the next (system prompt, tools, the conversation up to
/// here) is marked for the cache, so the next request pays for it only in part.
pub(crate) fn body(request: &ModelRequest) -> Result<Value, ModelError> {
    let mut messages = to_value(&request.messages)?;
    let mut marks = CacheMarks { left: MOST_MARKS.saturating_sub(count_marks(&messages)) };
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut system = json!({"type": "text", "text": request.system});

    marks.put(last_of_user(&mut messages));
    marks.put(Some(&mut system));
    marks.put(tools.last_mut());

    let mut body = Map::new();
    body.insert("model".into(), request.model.clone().into());
    body.insert("max_tokens".into(), request.max_tokens.into());
    if !request.system.trim().is_empty() {
        body.insert("system".into(), Value::Array(vec![system]));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools));
    }
    body.insert("messages".into(), messages);
    body.extend(request.extra.clone());
    body.insert("stream".into(), true.into());
    Ok(Value::Object(body))
}

fn to_value(value: &impl Serialize) -> Result<Value, ModelError> {
    serde_json::to_value(value)
        .map_err(|error| ModelError::BadRequest { message: error.to_string() })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
    })
}

/// The marks that may still be put.
struct CacheMarks {
    left: usize,
}

impl CacheMarks {
    fn put(&mut self, block: Option<&mut Value>) {
        let fields = block.and_then(Value::as_object_mut);
        if let Some(fields) = fields.filter(|fields| self.left > 0 && may_be_marked(fields)) {
            fields.insert("cache_control".into(), json!({"type": "ephemeral"}));
            self.left -= 1;
        }
    }
}

/// The API refuses marks on thoughts and on empty text.
fn may_be_marked(block: &Map<String, Value>) -> bool {
    let is = |kind: &str| block.get("type").and_then(Value::as_str) == Some(kind);
    let is_empty = block.get("text").and_then(Value::as_str) == Some("");
    !is("thinking") && !is("redacted_thinking") && !is_empty && !block.contains_key("cache_control")
}

fn last_of_user(messages: &mut Value) -> Option<&mut Value> {
    let users = messages.as_array_mut()?.iter_mut();
    let last = users.rev().find(|message| message.get("role") == Some(&json!("user")))?;
    last.get_mut("content")?.as_array_mut()?.last_mut()
}

fn count_marks(messages: &Value) -> usize {
    let blocks = messages
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|message| message.get("content")?.as_array());
    blocks.flatten().filter(|block| block.get("cache_control").is_some()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{MessageBlock, MessageToolResult, ModelMessage};

    #[test]
    fn the_unchanging_parts_are_marked() {
        let request = ModelRequest {
            model: "m".into(),
            max_tokens: 10,
            system: "Be brief.".into(),
            messages: vec![
                ModelMessage::user("hi"),
                ModelMessage::assistant(vec![MessageBlock::text("ho")]),
                ModelMessage::results([
                    MessageToolResult::ok("t1", "a"),
                    MessageToolResult::error("t2", "b"),
                ]),
            ],
            tools: vec![spec("A"), spec("B")],
            extra: Map::from_iter([("temperature".to_owned(), json!(0))]),
        };
        let mark = json!({"type": "ephemeral"});
        assert_eq!(
            body(&request).unwrap(),
            json!({
                "model": "m",
                "max_tokens": 10,
                "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
                "tools": [
                    {"name": "A", "description": "", "input_schema": {}},
                    {"name": "B", "description": "", "input_schema": {}, "cache_control": mark},
                ],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                    {"role": "assistant", "content": [{"type": "text", "text": "ho"}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "t1", "content": "a"},
                        {"type": "tool_result", "tool_use_id": "t2", "content": "b",
                            "is_error": true, "cache_control": mark},
                    ]},
                ],
                "temperature": 0,
                "stream": true,
            })
        );
    }

    #[test]
    fn there_are_never_more_marks_than_the_api_allows() {
        let marked = MessageBlock::from(json!({"type": "text", "text": "x", "cache_control": {}}));
        let message = ModelMessage { content: vec![marked; 3], ..ModelMessage::user("") };
        let request = ModelRequest {
            system: "s".into(),
            messages: vec![message, ModelMessage::user("now")],
            tools: vec![spec("A")],
            ..ModelRequest::default()
        };
        let body = body(&request).unwrap().to_string();
        assert_eq!(body.matches("cache_control").count(), 4);
    }

    #[test]
    fn nothing_is_sent_for_what_is_empty() {
        let body = body(&ModelRequest::default()).unwrap();
        assert_eq!(body.get("system"), None);
        assert_eq!(body.get("tools"), None);
    }

    fn spec(name: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: String::new(), input_schema: json!({}) }
    }
}
