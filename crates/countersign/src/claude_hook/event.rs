//! Events of Claude Code's hooks, as they come on stdin.

use std::path::PathBuf;

use countersign_core::{InvalidCall, parse_input};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Above this many bytes what a tool gave back is not passed on.
const LONGEST_RESULT: usize = 4 * 1024 * 1024;

/// Fields of a result that the server looks at.
const KNOWN: [&str; 2] = ["stdout", "stderr"];

/// Which event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum ReceivedHookKind {
    PreToolUse,
    PermissionRequest,
    PostToolUse,
    PostToolUseFailure,
    /// One that needs no answer.
    #[serde(other)]
    Other,
}

/// An event, as far as it concerns us. Fields that are there twice are refused.
#[derive(Debug, Deserialize)]
pub(crate) struct ReceivedHookEvent<'a> {
    #[serde(rename = "hook_event_name")]
    pub(crate) kind: ReceivedHookKind,
    #[serde(default)]
    pub(crate) session_id: String,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) permission_mode: Option<String>,
    #[serde(default)]
    pub(crate) tool_name: String,
    pub(crate) tool_use_id: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_response: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl<'a> ReceivedHookEvent<'a> {
    /// Reads an event.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("the event is not understood: {error}"))
    }

    /// Returns the tool's input, read so strictly that nobody can read it otherwise.
    pub(crate) fn input(&self) -> Result<Value, String> {
        let raw = self.tool_input.ok_or("the event has no `tool_input`")?;
        parse_input(raw.get()).map_err(|InvalidCall(why)| why)
    }

    /// Returns the subagent that makes the call, by a name that the server takes.
    pub(crate) fn agent(&self) -> Option<String> {
        let id = self.agent_id.as_deref()?;
        let name = self.agent_type.as_deref().unwrap_or(id);
        let is_one = |name: &str| {
            !name.is_empty() && name.chars().count() <= 200 && !name.chars().any(char::is_control)
        };
        [name, "subagent"].into_iter().find(|name| is_one(name)).map(str::to_owned)
    }

    /// Returns what came of the call, as the server wants to hear it.
    pub(crate) fn result(&self) -> Value {
        if self.kind == ReceivedHookKind::PostToolUseFailure {
            let error = self.error.map(|raw| serde_json::from_str(raw.get()).unwrap_or_default());
            let error = match error {
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
                None => "it failed".to_owned(),
            };
            return json!({"status": "failed", "error": error});
        }
        json!({"status": "completed", "result": self.response()})
    }

    fn response(&self) -> Value {
        let raw = self.tool_response.map_or("null", RawValue::get);
        if raw.len() > LONGEST_RESULT {
            return json!({"success": true, "omitted_bytes": raw.len()});
        }
        let mut result = Map::from_iter([("success".to_owned(), Value::Bool(true))]);
        let mut response = serde_json::from_str(raw).unwrap_or_default();
        if let Value::Object(fields) = &mut response {
            for name in KNOWN {
                if fields.get(name).is_some_and(Value::is_string) {
                    result.extend(fields.shift_remove_entry(name));
                }
            }
        }
        result.insert("response".to_owned(), response);
        Value::Object(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subagent_has_a_name_that_the_server_takes() {
        let agent = |text: &str| {
            let event = format!(r#"{{"hook_event_name":"PreToolUse"{text}}}"#);
            ReceivedHookEvent::read(&event).unwrap().agent()
        };
        assert_eq!(agent(""), None);
        assert_eq!(agent(r#","agent_type":"main""#), None, "the conversation itself is none");
        assert_eq!(agent(r#","agent_id":"a1","agent_type":"Explore""#).as_deref(), Some("Explore"));
        assert_eq!(agent(r#","agent_id":"a1""#).as_deref(), Some("a1"));
        assert_eq!(agent(r#","agent_id":"a\n1""#).as_deref(), Some("subagent"));
    }

    #[test]
    fn what_came_of_a_call_is_told_in_the_servers_words() {
        let told = |text: &str| ReceivedHookEvent::read(text).unwrap().result();
        assert_eq!(
            told(
                r#"{"hook_event_name":"PostToolUse","tool_response":{"stdout":"a","stderr":"","interrupted":false}}"#
            ),
            json!({"status": "completed", "result": {
                "success": true, "stdout": "a", "stderr": "", "response": {"interrupted": false},
            }})
        );
        assert_eq!(
            told(r#"{"hook_event_name":"PostToolUse","tool_response":[1]}"#),
            json!({"status": "completed", "result": {"success": true, "response": [1]}})
        );
        assert_eq!(
            told(r#"{"hook_event_name":"PostToolUseFailure","error":"no such file"}"#),
            json!({"status": "failed", "error": "no such file"})
        );
        let long = format!("\"{}\"", "x".repeat(LONGEST_RESULT));
        assert_eq!(
            told(&format!(r#"{{"hook_event_name":"PostToolUse","tool_response":{long}}}"#)),
            json!({"status": "completed", "result": {
                "success": true, "omitted_bytes": LONGEST_RESULT + 2,
            }})
        );
    }

    #[test]
    fn an_event_that_can_be_read_in_two_ways_is_not_read() {
        let twice = r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_name":"Bash"}"#;
        assert!(ReceivedHookEvent::read(twice).unwrap_err().contains("duplicate field"));
        let inside = r#"{"hook_event_name":"PreToolUse","tool_input":{"a":1,"a":2}}"#;
        assert!(
            ReceivedHookEvent::read(inside).unwrap().input().unwrap_err().contains("there twice")
        );
    }

    #[test]
    fn an_event_that_is_not_ours_is_recognised_as_such() {
        let other =
            ReceivedHookEvent::read(r#"{"hook_event_name":"SessionStart","source":"startup"}"#);
        assert_eq!(other.unwrap().kind, ReceivedHookKind::Other);
    }
}
