//! The bridge in the words of the CLI's own protocol: what a page gets and sends that knows only
//! `control_request` and `control_response`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ApprovalBridge, BridgeEvent, NotPendingError, PendingApproval};
use crate::permission::{PermissionResult, PermissionUpdate};

/// What a page is sent: a request, or that it no longer waits.
///
/// ```
/// use countersign_claude::BridgeEvent;
/// use countersign_claude::bridge::ControlMessage;
///
/// fn broadcast(event: &BridgeEvent) -> serde_json::Result<String> {
///     serde_json::to_string(&ControlMessage::from(event))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ControlMessage<'a> {
    /// A request waits.
    ControlRequest {
        /// Its id, to decide by.
        request_id: &'a str,
        /// The call.
        request: CanUseToolRequest<'a>,
    },
    /// A request no longer waits.
    ControlCancelRequest {
        /// Which.
        request_id: &'a str,
    },
}

/// The question whether a tool may be used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "subtype", rename = "can_use_tool")]
#[non_exhaustive]
pub struct CanUseToolRequest<'a> {
    /// The tool.
    pub tool_name: &'a str,
    /// What it would run with.
    pub input: &'a Map<String, Value>,
    /// The id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<&'a str>,
    /// What "always allow" would change.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub permission_suggestions: &'a [PermissionUpdate],
}

impl<'a> From<&'a PendingApproval> for ControlMessage<'a> {
    fn from(approval: &'a PendingApproval) -> Self {
        Self::ControlRequest {
            request_id: &approval.id,
            request: CanUseToolRequest {
                tool_name: &approval.tool_name,
                input: &approval.input,
                tool_use_id: approval.tool_use_id.as_deref(),
                permission_suggestions: &approval.suggestions,
            },
        }
    }
}

impl<'a> From<&'a BridgeEvent> for ControlMessage<'a> {
    fn from(event: &'a BridgeEvent) -> Self {
        match event {
            BridgeEvent::Asked(approval) => approval.as_ref().into(),
            BridgeEvent::Settled { id, .. } => Self::ControlCancelRequest { request_id: id },
        }
    }
}

/// Why a `control_response` came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlResponseError {
    /// It is not one: the request still waits.
    #[error("this is not a `control_response` that allows or denies: {0}")]
    Unreadable(String),
    /// It came too late.
    #[error(transparent)]
    NotPending(#[from] NotPendingError),
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum ControlResponseFrame {
    #[serde(rename = "control_response")]
    ControlResponse { response: ControlResponseBody },
}

#[derive(Deserialize)]
struct ControlResponseBody {
    request_id: String,
    response: ControlResponseBehavior,
}

#[derive(Deserialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
enum ControlResponseBehavior {
    #[serde(rename_all = "camelCase")]
    Allow {
        #[serde(default)]
        updated_input: Option<Map<String, Value>>,
        #[serde(default)]
        updated_permissions: Vec<PermissionUpdate>,
    },
    Deny {
        #[serde(default)]
        message: String,
        #[serde(default)]
        interrupt: bool,
    },
}

impl ApprovalBridge {
    /// Decides by the `control_response` that a page has sent. What cannot be read decides nothing.
    pub fn decide_by_control_response(&self, sent: &Value) -> Result<(), ControlResponseError> {
        let unreadable =
            |error: serde_json::Error| ControlResponseError::Unreadable(error.to_string());
        let ControlResponseFrame::ControlResponse { response } =
            ControlResponseFrame::deserialize(sent).map_err(unreadable)?;
        let decision = match response.response {
            ControlResponseBehavior::Allow { updated_input, updated_permissions } => {
                PermissionResult::Allow { updated_input, updated_permissions, class: None }
            }
            ControlResponseBehavior::Deny { message, interrupt } => {
                PermissionResult::Deny { message, interrupt }
            }
        };
        Ok(self.decide(&response.request_id, decision)?)
    }
}
