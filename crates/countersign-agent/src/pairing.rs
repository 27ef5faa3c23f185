//! What is sent is what the API accepts: each call has one result, at the start of the turn after it.

use std::borrow::Cow;
use std::collections::HashSet;

use countersign_gate::mend_conversation;
use serde::Deserialize;

use crate::message::{Block, Message, Role};
use crate::model::Request;
use crate::runner::to_value;

/// Returns whether every call has one result, at the start of the user's turn after it.
pub(crate) fn is_paired(messages: &[Message]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    let (mut is_users_turn, mut is_hidden) = (false, false);
    for message in messages {
        if message.role == Role::Assistant {
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
                Block::ToolResult(result) => {
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
pub(crate) fn acceptable(request: &Request) -> Cow<'_, Request> {
    if is_paired(&request.messages) {
        return Cow::Borrowed(request);
    }
    tracing::warn!("a conversation is mended before it is sent");
    match mended(&request.messages) {
        Some(messages) => Cow::Owned(Request { messages, ..request.clone() }),
        None => Cow::Borrowed(request),
    }
}

fn mended(messages: &[Message]) -> Option<Vec<Message>> {
    let values: Option<Vec<_>> =
        messages.iter().map(|message| to_value(message).ok().map(Some)).collect();
    let mut values = values?;
    mend_conversation(&mut values);
    values.into_iter().flatten().map(|value| Message::deserialize(value).ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::{ToolResult, ToolUse};

    fn call(id: &str) -> Message {
        Message::assistant(vec![Block::ToolUse(ToolUse::new(id, "Read", json!({})))])
    }

    fn result(id: &str) -> Message {
        Message::results([ToolResult::ok(id, "ok")])
    }

    #[test]
    fn a_conversation_is_sent_with_one_result_for_each_call() {
        let whole = vec![Message::user("go"), call("a"), result("a"), call("b"), result("b")];
        let request =
            |messages: &[Message]| Request { messages: messages.to_vec(), ..Request::default() };
        assert_eq!(*acceptable(&request(&whole)), request(&whole));
        assert!(matches!(acceptable(&request(&whole)), Cow::Borrowed(_)));
        let twice =
            vec![Message::user("go"), call("a"), result("a"), call("b"), result("a"), result("b")];
        assert_eq!(*acceptable(&request(&twice)), request(&whole));
        let none = [Message::user("go"), call("a"), Message::user("go on")];
        let sent = acceptable(&request(&none)).into_owned().messages;
        assert!(is_paired(&sent) && !is_paired(&none));
        assert_eq!(sent.iter().flat_map(Message::tool_results).count(), 1);
    }

    #[test]
    fn calls_that_nothing_follows_yet_are_open_and_words_before_a_result_hide_it() {
        assert!(is_paired(&[Message::user("go"), call("a")]));
        assert!(!is_paired(&[call("a"), Message::user("well"), result("a")]));
    }
}
