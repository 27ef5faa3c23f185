//! Answers, as Claude Code reads them on stdout.

use countersign_client::consent::ConsentAnswer;
use serde_json::{Value, json};

use super::event::ReceivedHookKind;
use crate::output;

/// What is said to an event.
#[derive(Debug, PartialEq)]
pub(crate) enum HookAnswer {
    /// Claude Code goes on as if there were no hook.
    Nothing,
    Said(Value),
}

impl HookAnswer {
    /// Returns the answer that a consent is.
    pub(crate) fn from_consent(kind: ReceivedHookKind, consent: ConsentAnswer) -> Self {
        match (kind, consent) {
            (_, ConsentAnswer::NotOurs)
            | (
                ReceivedHookKind::PostToolUse
                | ReceivedHookKind::PostToolUseFailure
                | ReceivedHookKind::Other,
                _,
            ) => Self::Nothing,
            (kind, ConsentAnswer::Undecided { why }) => Self::undecided(kind, &why),
            (ReceivedHookKind::PreToolUse, ConsentAnswer::Allowed { why, input, .. }) => {
                Self::Said(pre_tool_use("allow", &why, input))
            }
            (ReceivedHookKind::PreToolUse, ConsentAnswer::Denied { why }) => {
                Self::Said(pre_tool_use("deny", &why, None))
            }
            (ReceivedHookKind::PermissionRequest, ConsentAnswer::Allowed { input, .. }) => {
                let mut decision = json!({"behavior": "allow"});
                if let (Some(input), Value::Object(fields)) = (input, &mut decision) {
                    fields.insert("updatedInput".to_owned(), input);
                }
                Self::Said(permission_request(&decision))
            }
            (ReceivedHookKind::PermissionRequest, ConsentAnswer::Denied { why }) => {
                let decision = json!({"behavior": "deny", "message": why});
                Self::Said(permission_request(&decision))
            }
        }
    }

    /// Returns that Claude Code has to ask.
    pub(crate) fn undecided(kind: ReceivedHookKind, why: &str) -> Self {
        match kind {
            ReceivedHookKind::PreToolUse => Self::ask(why),
            // It is about to ask anyway.
            ReceivedHookKind::PermissionRequest => {
                output::note(&format!("Countersign: {why}"));
                Self::Nothing
            }
            ReceivedHookKind::PostToolUse
            | ReceivedHookKind::PostToolUseFailure
            | ReceivedHookKind::Other => Self::Nothing,
        }
    }

    /// Returns that a call is asked about, where not even the event could be read.
    pub(crate) fn ask(why: &str) -> Self {
        Self::Said(pre_tool_use("ask", why, None))
    }

    /// Returns the text of the answer.
    pub(crate) fn json(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Said(value) => Some(value.to_string()),
        }
    }
}

fn pre_tool_use(decision: &str, why: &str, input: Option<Value>) -> Value {
    // A denial goes to the model word for word: that is the whole answer to its call.
    let why = if decision == "deny" { why.to_owned() } else { format!("Countersign: {why}") };
    let mut said = json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": why,
    });
    if let (Some(input), Value::Object(fields)) = (input, &mut said) {
        fields.insert("updatedInput".to_owned(), input);
    }
    json!({ "hookSpecificOutput": said })
}

fn permission_request(decision: &Value) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
}
