//! What the server says on its stream, as far as a client cares.

use countersign_core::{ApprovalId, ExecutionId, Preimage};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One thing the server says.
#[derive(Debug)]
pub(super) enum ServerEvent {
    /// A person is to decide, or was: `status` tells.
    Request(Box<ClientApprovalRequest>),
    Decided(DecisionNotice),
    State(CallStateNotice),
    /// A call that we would execute is about to be judged: what is here?
    PreviewRequest(Box<ClientPreviewRequest>),
    /// Whether we execute the project's calls or another client does, in words.
    Role(ClientRoleNotice),
    /// A call is ours to execute.
    Signal(Box<CallSignal>),
    RunFailed {
        message: String,
    },
    /// Some of the log is gone: what waits has to be asked for.
    Gap,
    /// Nothing to do with us.
    Other,
}

/// A request for approval.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClientApprovalRequest {
    pub(super) approval_id: ApprovalId,
    pub(super) tool_id: ExecutionId,
    pub(super) tool_name: String,
    #[serde(default)]
    pub(super) risk_level: String,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) summary: Option<String>,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) reasons: Vec<String>,
    #[serde(default)]
    pub(super) tool_input: Value,
    #[serde(default)]
    pub(super) preview_type: Option<String>,
    #[serde(default)]
    pub(super) preview_data: Value,
    #[serde(default)]
    pub(super) diff_lines: Option<Vec<String>>,
    #[serde(default)]
    pub(super) digest: Option<String>,
    #[serde(default)]
    pub(super) expires_at: Option<Timestamp>,
}

/// A request that somebody, or time, has decided.
#[derive(Debug, Deserialize)]
pub(super) struct DecisionNotice {
    pub(super) approval_id: ApprovalId,
    pub(super) status: String,
    #[serde(default, rename = "decided_by")]
    pub(super) by: Option<String>,
}

/// Where a call has come to.
#[derive(Debug, Deserialize)]
pub(super) struct CallStateNotice {
    pub(super) tool_id: ExecutionId,
    pub(super) status: String,
    #[serde(default)]
    pub(super) error: Option<String>,
}

/// A call that this machine is asked about.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClientPreviewRequest {
    #[serde(rename = "tool_id")]
    pub(super) id: ExecutionId,
    pub(super) tool_name: String,
    #[serde(rename = "tool_params")]
    pub(super) input: Value,
}

/// What this client is to the project's calls.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClientRoleNotice {
    pub(super) role: String,
    pub(super) message: String,
}

/// A call to execute.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct CallSignal {
    pub(super) tool_id: ExecutionId,
    pub(super) tool_name: String,
    pub(super) tool_params: Value,
    #[serde(default)]
    pub(super) approval_id: Option<ApprovalId>,
    #[serde(default)]
    pub(super) session_id: Option<String>,
    #[serde(default)]
    pub(super) timestamp: Option<Timestamp>,
    /// The files as they were when the change was shown.
    #[serde(default)]
    pub(super) preimages: Vec<Preimage>,
    #[serde(default)]
    pub(super) lease: Option<SignalLease>,
}

/// For how long a call is ours.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SignalLease {
    pub(super) token: String,
    #[serde(default)]
    pub(super) expires_at: Option<Timestamp>,
}

impl ClientApprovalRequest {
    /// Returns whether a decision is still waited for.
    pub(super) fn waits(&self) -> bool {
        self.status
            .as_deref()
            .is_none_or(|status| matches!(status, "awaiting_approval" | "pending"))
    }

    /// Returns what it is about, in one sentence.
    pub(super) fn sentence(&self) -> &str {
        let said = self.summary.as_deref().or(self.description.as_deref());
        said.unwrap_or(&self.tool_name)
    }
}

impl CallStateNotice {
    /// Returns whether nothing can follow.
    pub(super) fn is_over(&self) -> bool {
        matches!(
            self.status.as_str(),
            "completed" | "failed" | "rejected" | "timeout" | "cancelled"
        )
    }
}

impl ServerEvent {
    /// Reads one event; what we know but cannot read is an error in words.
    pub(super) fn read(name: &str, data: &str) -> Result<Self, String> {
        let field = |name: &str| {
            let data: Value = serde_json::from_str(data).unwrap_or_default();
            data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Ok(match name {
            "tool.approval_request" => Self::Request(Box::new(parse(name, data)?)),
            "tool.approval_decided" => Self::Decided(parse(name, data)?),
            "tool.state" => Self::State(parse(name, data)?),
            "tool.execution_signal" => Self::Signal(Box::new(parse(name, data)?)),
            "tool.preview_request" => Self::PreviewRequest(Box::new(parse(name, data)?)),
            "executor.role" => Self::Role(parse(name, data)?),
            "run.error" => Self::RunFailed { message: field("message") },
            "stream.gap" => Self::Gap,
            _ => Self::Other,
        })
    }
}

fn parse<T: DeserializeOwned>(name: &str, data: &str) -> Result<T, String> {
    serde_json::from_str(data).map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of S2, to the letter.
    #[test]
    fn plain_s2_is_understood() {
        let id = "123e4567-e89b-12d3-a456-426614174000";
        let request = format!(
            r#"{{"approval_id": "{id}", "tool_id": "{id}", "tool_name": "execute_command",
            "risk_level": "MEDIUM", "timeout_seconds": 300, "description": "Execute npm test",
            "timestamp": "2026-02-21T06:19:00Z"}}"#
        );
        let Ok(ServerEvent::Request(request)) =
            ServerEvent::read("tool.approval_request", &request)
        else {
            panic!("not read")
        };
        assert!(request.waits() && request.sentence() == "Execute npm test");
        let signal = format!(
            r#"{{"tool_id": "{id}", "tool_name": "execute_command", "tool_params": {{"command": "npm",
            "args": ["test"], "timeout": 30}}, "timestamp": "2026-02-21T06:19:01Z"}}"#
        );
        let Ok(ServerEvent::Signal(signal)) = ServerEvent::read("tool.execution_signal", &signal)
        else {
            panic!("not read")
        };
        assert!(signal.lease.is_none() && signal.tool_params["command"] == "npm");
        assert!(matches!(ServerEvent::read("chat.delta", "{}"), Ok(ServerEvent::Other)));
        assert!(ServerEvent::read("tool.execution_signal", "{}").is_err());
    }
}
