//! A message without its secrets, still one that the model's API accepts.

use countersign_core::Secrets;
use serde_json::{Value, json};

/// Fields of a block by which others find it, and data that is no text.
const AS_IT_IS: [&str; 6] = ["type", "id", "tool_use_id", "name", "source", "signature"];

/// Returns a message without secrets.
///
/// Calls and results keep their ids, so each still has its other half. Thinking is signed: what would
/// have to be changed of it is left out.
pub(super) fn hide_in_message(message: &Value, secrets: &Secrets) -> Value {
    let mut hidden = message.clone();
    match hidden.get_mut("content") {
        Some(Value::Array(blocks)) => {
            let kept: Vec<_> = blocks.iter().filter_map(|it| hide_in_block(it, secrets)).collect();
            let is_bare = kept.is_empty() && !blocks.is_empty();
            let nothing = json!({"type": "text", "text": secrets.hide_in_text("(thinking)")});
            *blocks = if is_bare { vec![nothing] } else { kept };
        }
        Some(content) => *content = secrets.hide_in(content),
        None => {}
    }
    hidden
}

fn hide_in_block(block: &Value, secrets: &Secrets) -> Option<Value> {
    let Value::Object(fields) = block else { return Some(secrets.hide_in(block)) };
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "redacted_thinking" {
        return Some(block.clone());
    }
    let hide = |(name, value): (&String, &Value)| {
        let is_content = name == "content" && value.is_array();
        let hidden = match value {
            value if AS_IT_IS.contains(&name.as_str()) => value.clone(),
            Value::Array(parts) if is_content => {
                parts.iter().filter_map(|part| hide_in_block(part, secrets)).collect()
            }
            value => secrets.hide_in(value),
        };
        (name.clone(), hidden)
    };
    let hidden = Value::Object(fields.iter().map(hide).collect());
    (kind != "thinking" || hidden == *block).then_some(hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_message_is_one_the_api_accepts() {
        let token = "ghp_0123456789abcdefghij";
        let message = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("use {token}"), "signature": "c2ln"},
            {"type": "thinking", "thinking": "look first", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "opaque"},
            {"type": "text", "text": format!("I take {token} now.")},
            {"type": "tool_use", "id": "sk-0123456789abcdef", "name": "Bash",
             "input": {"command": format!("TOKEN={token} ./deploy")}},
            {"type": "tool_result", "tool_use_id": "sk-0123456789abcdef",
             "content": [{"type": "text", "text": token}, {"type": "image", "source": {"data": "x"}}]},
        ]});
        let hidden = hide_in_message(&message, &Secrets::find_in(&message).for_model());
        let expected = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": "look first", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "opaque"},
            {"type": "text", "text": "I take [secret_removed] now."},
            {"type": "tool_use", "id": "sk-0123456789abcdef", "name": "Bash",
             "input": {"command": "TOKEN=[secret_removed] ./deploy"}},
            {"type": "tool_result", "tool_use_id": "sk-0123456789abcdef",
             "content": [{"type": "text", "text": "[secret_removed]"},
                         {"type": "image", "source": {"data": "x"}}]},
        ]});
        assert_eq!(hidden, expected);
        let only = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": token, "signature": "c2ln"}]});
        let hidden = hide_in_message(&only, &Secrets::default().for_model());
        assert_eq!(hidden["content"], json!([{"type": "text", "text": "(thinking)"}]));
    }
}
