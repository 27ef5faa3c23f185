//! Answers, as Claude Code reads them on stdout.

use serde_json::{Value, json};

use super::event::Kind;
use crate::commands::consent::Consent;
use crate::output;

/// What is said to an event.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// Claude Code goes on as if there were no hook.
    Nothing,
    Said(Value),
}

impl Answer {
    /// Returns the answer that a consent is.
    pub(super) fn of(kind: Kind, consent: Consent) -> Self {
        match (kind, consent) {
            (_, Consent::NotOurs)
            | (Kind::PostToolUse | Kind::PostToolUseFailure | Kind::Other, _) => Self::Nothing,
            (kind, Consent::Undecided { why }) => Self::undecided(kind, &why),
            (Kind::PreToolUse, Consent::Allowed { why, input, .. }) => {
                Self::Said(pre_tool_use("allow", &why, input))
            }
            (Kind::PreToolUse, Consent::Denied { why }) => {
                Self::Said(pre_tool_use("deny", &why, None))
            }
            (Kind::PermissionRequest, Consent::Allowed { input, .. }) => {
                let mut decision = json!({"behavior": "allow"});
                if let (Some(input), Value::Object(fields)) = (input, &mut decision) {
                    fields.insert("updatedInput".to_owned(), input);
                }
                Self::Said(permission_request(&decision))
            }
            (Kind::PermissionRequest, Consent::Denied { why }) => {
                let decision = json!({"behavior": "deny", "message": why});
                Self::Said(permission_request(&decision))
            }
        }
    }

    /// Returns that Claude Code has to ask.
    pub(super) fn undecided(kind: Kind, why: &str) -> Self {
        match kind {
            Kind::PreToolUse => Self::ask(why),
            // It is about to ask anyway.
            Kind::PermissionRequest => {
                output::note(&format!("Countersign: {why}"));
                Self::Nothing
            }
            Kind::PostToolUse | Kind::PostToolUseFailure | Kind::Other => Self::Nothing,
        }
    }

    /// Returns that a call is asked about, where not even the event could be read.
    pub(super) fn ask(why: &str) -> Self {
        Self::Said(pre_tool_use("ask", why, None))
    }

    /// Returns the text of the answer.
    pub(super) fn json(&self) -> Option<String> {
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
