//! What a request asks, as far as a scenario cares.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::message::{MessageBlock, MessageRole, MessageToolUse, ModelMessage};

/// What a request asks.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestSummary {
    /// The newest text that a person typed.
    pub(super) prompt: String,
    /// The system prompt, and what clients add to it in messages of their own.
    pub(super) system: String,
    /// Whether the model may call tools at all.
    pub(super) offers_tools: bool,
    /// What was known before each answer since the prompt, and before the one that is asked for.
    // INVARIANT: never empty.
    pub(super) rounds: Vec<ConversationRound>,
}

/// What was known before an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct ConversationRound {
    /// The results that had just come.
    pub(super) results: Vec<ToolCallResult>,
    /// The input of the newest call, or null.
    pub(super) last_call: Value,
}

/// The result of a call.
#[derive(Clone, Debug)]
pub(super) struct ToolCallResult {
    pub(super) text: String,
    pub(super) is_error: bool,
    /// The input of its call, or null.
    pub(super) call: Value,
}

impl RequestSummary {
    /// Reads a request that has been checked.
    pub(super) fn read(body: &Value) -> Self {
        let mut asked = Self {
            system: system(body),
            offers_tools: body
                .get("tools")
                .and_then(Value::as_array)
                .is_some_and(|it| !it.is_empty()),
            rounds: vec![ConversationRound::default()],
            ..Self::default()
        };
        let mut calls = HashMap::new();
        let mut after_answer = false;
        for message in messages(body) {
            match message.role {
                MessageRole::Assistant => {
                    asked.hear_calls(&message, &mut calls);
                    after_answer = true;
                }
                MessageRole::User => {
                    asked.hear_user(&message, &calls, after_answer);
                    after_answer = false;
                }
            }
        }
        asked
    }

    fn hear_calls(&mut self, message: &ModelMessage, calls: &mut HashMap<String, Value>) {
        for MessageToolUse { id, input, .. } in message.tool_uses() {
            calls.insert(id.clone(), input.clone());
            if let Some(round) = self.rounds.last_mut() {
                round.last_call = input.clone();
            }
        }
    }

    fn hear_user(
        &mut self,
        message: &ModelMessage,
        calls: &HashMap<String, Value>,
        after_answer: bool,
    ) {
        let typed = typed(message);
        if !typed.is_empty() {
            self.prompt = typed;
            self.rounds = vec![ConversationRound::default()];
            return;
        }
        if after_answer {
            let last_call = self.rounds.last().map(|it| it.last_call.clone()).unwrap_or_default();
            self.rounds.push(ConversationRound { results: Vec::new(), last_call });
        }
        let results = message.tool_results().map(|result| ToolCallResult {
            text: result.text(),
            is_error: result.failed(),
            call: calls.get(&result.tool_use_id).cloned().unwrap_or_default(),
        });
        if let Some(round) = self.rounds.last_mut() {
            round.results.extend(results);
        }
    }

    /// Returns the working directory that the system prompt names, or nothing.
    pub(super) fn cwd(&self) -> &str {
        static LINE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"(?im)working directory: *(.+?) *$").ok());
        let found = LINE.as_ref().and_then(|line| line.captures(&self.system));
        found.and_then(|found| found.get(1)).map_or("", |it| it.as_str())
    }
}

fn messages(body: &Value) -> impl Iterator<Item = ModelMessage> {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    // A role that is neither user nor assistant is not part of the talk.
    messages.filter_map(|message| ModelMessage::deserialize(message).ok())
}

/// Returns what a person typed in a message, without what programs put beside it.
fn typed(message: &ModelMessage) -> String {
    static REMINDER: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?s)<system-reminder>.*?</system-reminder>").ok());
    let texts = message.content.iter().filter_map(|block| match block {
        MessageBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let all = texts.collect::<Vec<_>>().join("\n");
    let without = match REMINDER.as_ref() {
        Some(reminder) => reminder.replace_all(&all, ""),
        None => all.as_str().into(),
    };
    without.trim().to_owned()
}

fn system(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let added = messages
        .filter(|message| message.get("role").and_then(Value::as_str) == Some("system"))
        .map(|message| text_of(message.get("content")));
    [text_of(body.get("system"))].into_iter().chain(added).collect::<Vec<_>>().join("\n")
}

/// Returns a text that is a string or blocks.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_typed_text_is_the_prompt() {
        let asked = RequestSummary::read(&json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "a"}]},
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>\nbe good\n</system-reminder>"},
                {"type": "text", "text": " second \n"},
            ]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "a"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true},
                {"type": "text", "text": "<system-reminder>x</system-reminder>"},
            ]},
        ]}));
        assert_eq!(asked.prompt, "second");
        assert_eq!(asked.rounds.len(), 2);
        let came = &asked.rounds[1].results[0];
        assert_eq!((came.text.as_str(), came.is_error), ("no", true));
        assert_eq!(came.call, json!({"file_path": "a"}));
    }

    #[test]
    fn typed_text_beside_results_is_a_new_prompt() {
        let asked = RequestSummary::read(&json!({"messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Write", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "interrupted"},
                {"type": "text", "text": "do something else"},
            ]},
        ]}));
        assert_eq!((asked.prompt.as_str(), asked.rounds.len()), ("do something else", 1));
    }

    #[test]
    fn the_working_directory_is_read_from_the_system_prompt() {
        let cwd = |system: Value| RequestSummary::read(&json!({"system": system})).cwd().to_owned();
        assert_eq!(cwd(json!("You are.\nWorking directory: /a b/c \nx")), "/a b/c");
        assert_eq!(
            cwd(json!([{"type": "text", "text": " - Primary working directory: /w"}])),
            "/w"
        );
        assert_eq!(cwd(json!("nothing")), "");
        let asked = RequestSummary::read(&json!({"system": "x", "messages": [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "# Environment\n - Primary working directory: /w\n"},
        ]}));
        assert_eq!((asked.cwd(), asked.prompt.as_str()), ("/w", "hi"));
    }
}
