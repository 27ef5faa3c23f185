//! What is sent is what the API accepts: each call has one result, at the start of the turn after it.

use std::borrow::Cow;
use std::collections::HashSet;

use countersign_gate::repair_conversation;
use serde::Deserialize;

use crate::message::{MessageBlock, MessageRole, ModelMessage, to_value};
use crate::model::ModelRequest;

/// Returns whether every call has one result, at the start of the user's turn after it.
pub(crate) fn is_paired(messages: &[ModelMessage]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    let (mut is_users_turn, mut is_hidden) = (false, false);
    for message in messages {
        if message.role == MessageRole::Assistant {
            if is_users_turn && !open.is_empty() {
                return false;
            }
            (is_users_turn, is_hidden) = (false, false);
            open.extend(message.tool_uses().map(|call| call.id.as_str()));
            continue;
        }
        is_users_turn = true;
        for block in &message.content {
            match block {
                MessageBlock::ToolResult(result) => {
                    if is_hidden || !open.remove(result.tool_use_id.as_str()) {
                        return false;
                    }
                }
                _ => is_hidden = true,
            }
        }
    }
    !is_users_turn || open.is_empty()
}

/// Returns a request as it may be sent. The record does not break; this is for the day on which it does.
pub(crate) fn ensure_paired(request: &ModelRequest) -> Cow<'_, ModelRequest> {
    if is_paired(&request.messages) {
        return Cow::Borrowed(request);
    }
    tracing::warn!("a conversation is mended before it is sent");
    match mended(&request.messages) {
        Some(messages) => Cow::Owned(ModelRequest { messages, ..request.clone() }),
        None => Cow::Borrowed(request),
    }
}

fn mended(messages: &[ModelMessage]) -> Option<Vec<ModelMessage>> {
    let values: Option<Vec<_>> =
        messages.iter().map(|message| to_value(message).ok().map(Some)).collect();
    let mut values = values?;
    repair_conversation(&mut values);
    values.into_iter().flatten().map(|value| ModelMessage::deserialize(value).ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::{MessageToolResult, MessageToolUse};

    fn call(id: &str) -> ModelMessage {
        ModelMessage::assistant(vec![MessageBlock::ToolUse(MessageToolUse::new(
            id,
            "Read",
            json!({}),
        ))])
    }

    fn result(id: &str) -> ModelMessage {
        ModelMessage::results([MessageToolResult::ok(id, "ok")])
    }

    #[test]
    fn a_conversation_is_sent_with_one_result_for_each_call() {
        let whole = vec![ModelMessage::user("go"), call("a"), result("a"), call("b"), result("b")];
        let request = |messages: &[ModelMessage]| ModelRequest {
            messages: messages.to_vec(),
            ..ModelRequest::default()
        };
        assert_eq!(*ensure_paired(&request(&whole)), request(&whole));
        assert!(matches!(ensure_paired(&request(&whole)), Cow::Borrowed(_)));
        let twice = vec![
            ModelMessage::user("go"),
            call("a"),
            result("a"),
            call("b"),
            result("a"),
            result("b"),
        ];
        assert_eq!(*ensure_paired(&request(&twice)), request(&whole));
        let none = [ModelMessage::user("go"), call("a"), ModelMessage::user("go on")];
        let sent = ensure_paired(&request(&none)).into_owned().messages;
        assert!(is_paired(&sent) && !is_paired(&none));
        assert_eq!(sent.iter().flat_map(ModelMessage::tool_results).count(), 1);
    }

    #[test]
    fn calls_that_nothing_follows_yet_are_open_and_words_before_a_result_hide_it() {
        assert!(is_paired(&[ModelMessage::user("go"), call("a")]));
        assert!(!is_paired(&[call("a"), ModelMessage::user("well"), result("a")]));
    }
}
