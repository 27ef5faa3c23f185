//! The answer to a permission request.

use serde::Serialize;
use serde_json::{Map, Value};

use super::PermissionUpdate;

/// The answer to a permission request.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a decision counts only when it is returned"]
pub enum PermissionResult {
    /// The call runs.
    Allow {
        /// What it runs with, if not with what the model wrote.
        updated_input: Option<Map<String, Value>>,
        /// Changes to the rules, so that the like is not asked again.
        updated_permissions: Vec<PermissionUpdate>,
        /// For how long the person meant it, which the CLI notes.
        class: Option<DecisionClass>,
    },
    /// The call does not run.
    Deny {
        /// Why: the model reads this.
        message: String,
        /// Whether the whole turn ends.
        interrupt: bool,
    },
}

/// For how long a person meant a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionClass {
    /// This once.
    UserTemporary,
    /// From now on.
    UserPermanent,
    /// Rejected.
    UserReject,
}

impl PermissionResult {
    /// Lets the call run as the model wrote it.
    pub fn allow() -> Self {
        Self::Allow { updated_input: None, updated_permissions: Vec::new(), class: None }
    }

    /// Lets the call run with another input.
    pub fn allow_with(input: Map<String, Value>) -> Self {
        Self::Allow { updated_input: Some(input), updated_permissions: Vec::new(), class: None }
    }

    /// Lets the call run and changes the rules: with the suggestions of the request, "always".
    pub fn allow_always(updates: Vec<PermissionUpdate>) -> Self {
        Self::Allow { updated_input: None, updated_permissions: updates, class: None }
    }

    /// Stops the call; the model reads why and goes on.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: false }
    }

    /// Stops the call and the turn.
    pub fn deny_and_interrupt(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: true }
    }

    /// Returns the answer on the wire. The input is always in it: CLIs before 2.1.207 took an
    /// allow without one for a denial.
    pub(crate) fn to_wire(&self, asked: &Map<String, Value>, tool_use: Option<&str>) -> Value {
        let wire = match self {
            Self::Allow { updated_input, updated_permissions, class } => {
                PermissionResultWire::Allow {
                    updated_input: updated_input.as_ref().unwrap_or(asked),
                    updated_permissions,
                    tool_use_id: tool_use,
                    decision_classification: *class,
                }
            }
            Self::Deny { message, interrupt } => {
                PermissionResultWire::Deny { message, interrupt: *interrupt }
            }
        };
        serde_json::to_value(wire).unwrap_or_else(
            |error| serde_json::json!({ "behavior": "deny", "message": error.to_string() }),
        )
    }
}

#[derive(Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
enum PermissionResultWire<'a> {
    #[serde(rename_all = "camelCase")]
    Allow {
        updated_input: &'a Map<String, Value>,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        updated_permissions: &'a [PermissionUpdate],
        #[serde(rename = "toolUseID", skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        decision_classification: Option<DecisionClass>,
    },
    Deny {
        message: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupt: bool,
    },
}
