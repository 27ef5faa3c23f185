//! The events of the library as JSON, in the words of the fifth founding document.

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::agent::AgentEvent;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum AgentEventJson<'a> {
    Warning { message: &'a str },
    TextDelta { text: &'a str },
    Retry { attempt: u32, reason: &'a str },
    Text { text: &'a str },
    ToolUse { id: &'a str, tool_name: &'a str, params: &'a Value },
    ToolApproval { id: &'a str, tool_name: &'a str, params: &'a Value, approved: bool },
    ToolResult { id: &'a str, content: &'a str, is_error: bool },
    Done { usage: AgentUsageJson },
    Failed { code: &'a str, message: &'a str, hint: Option<&'a str> },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentUsageJson {
    input_tokens: u64,
    output_tokens: u64,
}

impl<'a> From<&'a AgentEvent> for AgentEventJson<'a> {
    fn from(event: &'a AgentEvent) -> Self {
        match event {
            AgentEvent::Warning(message) => Self::Warning { message },
            AgentEvent::TextDelta(text) => Self::TextDelta { text },
            AgentEvent::Retry { attempt, reason } => Self::Retry { attempt: *attempt, reason },
            AgentEvent::Text(text) => Self::Text { text },
            AgentEvent::ToolUse { id, tool_name, params } => {
                Self::ToolUse { id, tool_name, params }
            }
            AgentEvent::ToolApproval { id, tool_name, params, approved } => {
                Self::ToolApproval { id, tool_name, params, approved: *approved }
            }
            AgentEvent::ToolResult { id, content, is_error } => {
                Self::ToolResult { id, content, is_error: *is_error }
            }
            AgentEvent::Done { usage } => Self::Done {
                usage: AgentUsageJson {
                    input_tokens: usage.input_tokens,
                    output_tokens: usage.output_tokens,
                },
            },
            AgentEvent::Failed { code, message, hint } => {
                Self::Failed { code, message, hint: hint.as_deref() }
            }
        }
    }
}

impl Serialize for AgentEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AgentEventJson::from(self).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use countersign_core::TokenUsage;
    use serde_json::json;

    use super::*;
    use crate::consent::ToolApprovalRequest;

    #[test]
    fn an_event_is_json_in_the_words_of_the_founding_document() {
        let params = json!({"command": "ls", "timeout_ms": 5});
        for (event, expected) in [
            (
                AgentEvent::ToolApproval {
                    id: "toolu_1".into(),
                    tool_name: "Bash".into(),
                    params: params.clone(),
                    approved: true,
                },
                json!({"type": "tool_approval", "id": "toolu_1", "toolName": "Bash",
                       "params": params, "approved": true}),
            ),
            (AgentEvent::TextDelta("a".into()), json!({"type": "text_delta", "text": "a"})),
            (
                AgentEvent::ToolResult { id: "t".into(), content: "c".into(), is_error: true },
                json!({"type": "tool_result", "id": "t", "content": "c", "isError": true}),
            ),
            (
                AgentEvent::Done { usage: TokenUsage { input_tokens: 1, output_tokens: 2 } },
                json!({"type": "done", "usage": {"inputTokens": 1, "outputTokens": 2}}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&event).unwrap(), expected);
        }
        let request = ToolApprovalRequest {
            id: "toolu_1".into(),
            tool_name: "Bash".into(),
            params: params.clone(),
        };
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({"id": "toolu_1", "toolName": "Bash", "params": params})
        );
    }
}
