//! What a hook answers.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::HookEvent;
use crate::permission::PermissionResult;

/// What a hook answers. Left empty, everything goes on as it would have.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use = "an output counts only when it is returned"]
pub struct HookOutput {
    /// Whether the conversation goes on.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<bool>,
    /// Whether the output stays out of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// Why it does not go on, for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// `block` stops what the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<HookDecision>,
    /// A warning for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// Why it was blocked, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What only this event understands, with its `hookEventName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Map<String, Value>>,
    /// Whether the CLI goes on without waiting; what comes of it cannot block.
    #[serde(rename = "async", skip_serializing_if = "Option::is_none")]
    pub asynchronous: Option<bool>,
    /// How long it may run then, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_timeout: Option<u64>,
    /// Keys this crate has no name for.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The one decision every event understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HookDecision {
    /// Stops what the event is about.
    Block,
}

impl HookOutput {
    /// Says nothing: everything goes on as it would have.
    pub fn proceed() -> Self {
        Self::default()
    }

    /// `PreToolUse`: lets the call run. Rules that deny or ask still count.
    pub fn allow() -> Self {
        Self::permission("allow", None)
    }

    /// `PreToolUse`: stops the call; the model reads why.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::permission("deny", Some(reason.into()))
    }

    /// `PreToolUse`: has the call asked for.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::permission("ask", Some(reason.into()))
    }

    /// `PreToolUse`: ends the run with the call undone, to be taken up later.
    pub fn defer() -> Self {
        Self::permission("defer", None)
    }

    /// `PreToolUse`: lets the call run with another input.
    pub fn modify(input: Map<String, Value>) -> Self {
        Self::allow().with("updatedInput", Value::Object(input))
    }

    /// Adds something for the model to read.
    pub fn add_context(event: &HookEvent, text: impl Into<String>) -> Self {
        Self::specific(event, [("additionalContext", json!(text.into()))])
    }

    /// Blocks what the event is about; the model reads why. On `Stop`, it goes on.
    pub fn block(reason: impl Into<String>) -> Self {
        Self { decision: Some(HookDecision::Block), reason: Some(reason.into()), ..Self::default() }
    }

    /// Ends the conversation; the user reads why.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self { goes_on: Some(false), stop_reason: Some(reason.into()), ..Self::default() }
    }

    /// Lets the CLI go on at once.
    pub fn in_background(timeout: Option<Duration>) -> Self {
        let timeout = timeout.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
        Self { asynchronous: Some(true), async_timeout: timeout, ..Self::default() }
    }

    /// `PermissionRequest`: answers in the user's place.
    pub fn decide(decision: &PermissionResult) -> Self {
        let decision = match decision {
            PermissionResult::Allow { updated_input, updated_permissions, .. } => {
                let mut allow = Map::from_iter([("behavior".to_owned(), json!("allow"))]);
                if let Some(input) = updated_input {
                    allow.insert("updatedInput".to_owned(), json!(input));
                }
                if !updated_permissions.is_empty() {
                    allow.insert("updatedPermissions".to_owned(), json!(updated_permissions));
                }
                Value::Object(allow)
            }
            PermissionResult::Deny { message, interrupt } => {
                json!({ "behavior": "deny", "message": message, "interrupt": interrupt })
            }
        };
        Self::specific(&HookEvent::PermissionRequest, [("decision", decision)])
    }

    /// Says what only this event understands.
    pub fn specific<'a>(
        event: &HookEvent,
        fields: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Self {
        let mut specific = Map::from_iter([("hookEventName".to_owned(), json!(event.as_str()))]);
        specific.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Self { hook_specific_output: Some(specific), ..Self::default() }
    }

    fn permission(decision: &str, reason: Option<String>) -> Self {
        let output =
            Self::specific(&HookEvent::PreToolUse, [("permissionDecision", json!(decision))]);
        match reason {
            Some(reason) => output.with("permissionDecisionReason", json!(reason)),
            None => output,
        }
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        self.hook_specific_output.get_or_insert_default().insert(name.to_owned(), value);
        self
    }
}

/// What came of running a hook: its output, or why it failed.
#[derive(Clone, Debug, PartialEq)]
pub struct HookReply(pub Result<HookOutput, String>);

impl From<HookOutput> for HookReply {
    fn from(output: HookOutput) -> Self {
        Self(Ok(output))
    }
}

impl<E: Display> From<Result<HookOutput, E>> for HookReply {
    fn from(result: Result<HookOutput, E>) -> Self {
        Self(result.map_err(|error| error.to_string()))
    }
}
