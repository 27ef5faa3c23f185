//! Calls and their results in a conversation: each call has one result, at the start of the user's turn
//! after it.
//!
//! The model's API refuses a conversation that is otherwise, with every prompt anew. So what would break
//! one is not stored, and one that is broken can be mended. Several messages of one role in a row are one
//! turn to the API.

use serde_json::{Value, json};

/// What is said of a call that nobody knows the outcome of.
const INTERRUPTED: &str =
    "Interrupted: whether this took effect is unknown; look before trying again.";

/// What was changed so that the model's API accepts a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationRepair {
    /// How many results were removed: of calls that have one already, or that nobody made.
    pub removed: u64,
    /// How many results were added, to calls that had none.
    pub added: u64,
    /// In how many messages results were moved before what hid them.
    pub moved: u64,
}

impl ConversationRepair {
    /// Returns whether something had to be changed.
    pub fn is_needed(self) -> bool {
        self != Self::default()
    }
}

/// Mends a conversation, oldest message first. A message of which nothing is left becomes none.
///
/// Calls of the last turn stay open where nothing follows them: their results may still come.
pub fn repair_conversation(messages: &mut [Option<Value>]) -> ConversationRepair {
    let mut mending = ConversationRepair::default();
    let mut open: Vec<String> = Vec::new();
    // The first message of the user's turn that follows the calls.
    let mut answers_at: Option<usize> = None;
    for at in 0..messages.len() {
        match messages.get(at).and_then(Option::as_ref).map(role) {
            Some("assistant") => {
                if let Some(first) = answers_at.take() {
                    mending.added += supply_results(messages, first, &mut open);
                }
                open.extend(
                    messages.get(at).and_then(Option::as_ref).map(calls_in).unwrap_or_default(),
                );
            }
            Some("user") => {
                let Some(slot) = messages.get_mut(at) else { continue };
                if let Some(message) = slot {
                    let kept = keep_first_results(message, &mut open);
                    mending.removed += kept.removed;
                    mending.moved += kept.moved;
                }
                if slot.as_ref().is_some_and(is_empty) {
                    *slot = None;
                } else {
                    answers_at = answers_at.or(Some(at));
                }
            }
            _ => {}
        }
    }
    if let Some(first) = answers_at {
        mending.added += supply_results(messages, first, &mut open);
    }
    mending
}

/// Returns the calls that have no result yet after these messages, oldest first.
pub(super) fn open_calls(messages: &[Value]) -> Vec<String> {
    let mut open = Vec::new();
    let mut is_answered = false;
    for message in messages {
        match role(message) {
            "assistant" => {
                if is_answered {
                    open.clear();
                }
                is_answered = false;
                open.extend(calls_in(message));
            }
            "user" => {
                is_answered = true;
                for id in results_in(message) {
                    open.retain(|open: &String| open != id);
                }
            }
            _ => {}
        }
    }
    open
}

/// Keeps of the results in a message those that answer an open call, each once, and puts them first.
pub(super) fn keep_first_results(
    message: &mut Value,
    open: &mut Vec<String>,
) -> ConversationRepair {
    let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) else {
        return ConversationRepair::default();
    };
    let before = blocks.len();
    blocks.retain(|block| match result_of(block) {
        None => true,
        Some(id) => match open.iter().position(|open| open == id) {
            Some(at) => {
                open.remove(at);
                true
            }
            None => false,
        },
    });
    let removed = u64::try_from(before - blocks.len()).unwrap_or_default();
    let is_hidden = !blocks.is_sorted_by_key(|block| result_of(block).is_none());
    if is_hidden {
        blocks.sort_by_key(|block| result_of(block).is_none());
    }
    ConversationRepair { removed, added: 0, moved: u64::from(is_hidden) }
}

/// Returns whether a message holds results of calls.
pub(super) fn has_results(message: &Value) -> bool {
    results_in(message).next().is_some()
}

/// Returns whether nothing is left of a message.
pub(super) fn is_empty(message: &Value) -> bool {
    message.get("content").and_then(Value::as_array).is_some_and(Vec::is_empty)
}

pub(super) fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

/// Answers the calls that are open in the message that follows them; returns how many.
fn supply_results(messages: &mut [Option<Value>], at: usize, open: &mut Vec<String>) -> u64 {
    if open.is_empty() {
        return 0;
    }
    let Some(message) = messages.get_mut(at).and_then(Option::as_mut) else { return 0 };
    let Some(content) = message.get_mut("content") else { return 0 };
    if let Value::String(text) = content {
        *content = json!([{"type": "text", "text": text}]);
    }
    let Some(blocks) = content.as_array_mut() else { return 0 };
    let results: Vec<_> = open.drain(..).map(|id| interrupted_result(&id)).collect();
    let added = u64::try_from(results.len()).unwrap_or_default();
    drop(blocks.splice(0..0, results));
    added
}

fn interrupted_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED, "is_error": true})
}

fn blocks_of(message: &Value) -> impl Iterator<Item = &Value> {
    message.get("content").and_then(Value::as_array).into_iter().flatten()
}

fn calls_in(message: &Value) -> Vec<String> {
    let is_call = |block: &&Value| block.get("type").and_then(Value::as_str) == Some("tool_use");
    let calls = blocks_of(message).filter(is_call);
    calls.filter_map(|call| Some(call.get("id")?.as_str()?.to_owned())).collect()
}

fn results_in(message: &Value) -> impl Iterator<Item = &str> {
    blocks_of(message).filter_map(result_of)
}

/// Returns the call that a block is the result of; none if it is no result.
fn result_of(block: &Value) -> Option<&str> {
    let is_result = block.get("type").and_then(Value::as_str) == Some("tool_result");
    is_result.then(|| block.get("tool_use_id").and_then(Value::as_str).unwrap_or_default())
}

#[cfg(test)]
mod tests;
