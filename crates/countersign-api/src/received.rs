//! What a client reads: events of the stream, and answers about calls.
//!
//! Other servers speak S2 as well, and a server may be of another version than its client. So everything
//! is read leniently: only the fields that the client goes by have to be there.

use countersign_core::{ApprovalId, ExecutionId, Preimage};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call_status::CallStatus;
use crate::preview::PreviewType;
use crate::risk_level::RiskLevel;

/// One thing that the server says, as far as it concerns a client that runs calls.
#[derive(Clone, Debug)]
pub enum ReceivedEvent {
    /// A person is to decide, or was: `status` tells.
    ApprovalRequest(Box<ReceivedApprovalRequest>),
    ApprovalDecided(ReceivedResolution),
    ToolState(ReceivedToolState),
    /// A call that the client would run is about to be judged: what is there?
    PreviewRequest(Box<ReceivedPreviewRequest>),
    ExecutorRole(ReceivedRole),
    /// A call is this client's to run.
    ExecutionSignal(Box<ReceivedSignal>),
    RunError(ReceivedRunError),
    /// Some of the log is gone: what waits has to be asked for.
    Gap,
    /// Nothing to do with a client of tools.
    Other,
}

/// A request for approval: S2's fields, and ours where they are there.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedApprovalRequest {
    pub approval_id: ApprovalId,
    pub tool_id: ExecutionId,
    pub tool_name: String,
    #[serde(default)]
    pub risk_level: Option<RiskLevel>,
    #[serde(default)]
    pub status: Option<CallStatus>,
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub reasons: Vec<String>,
    #[serde(default)]
    pub tool_input: Value,
    #[serde(default)]
    pub preview_type: Option<PreviewType>,
    #[serde(default)]
    pub preview_data: Value,
    #[serde(default)]
    pub diff_lines: Option<Vec<String>>,
    #[serde(default)]
    pub digest: Option<String>,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// A request that somebody, or time, has decided.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedResolution {
    pub approval_id: ApprovalId,
    pub status: CallStatus,
    #[serde(default)]
    pub decided_by: Option<String>,
}

/// Where a call has come to.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedToolState {
    pub tool_id: ExecutionId,
    pub status: CallStatus,
    #[serde(default)]
    pub error: Option<String>,
}

/// A call that the client is asked about.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedPreviewRequest {
    pub tool_id: ExecutionId,
    pub tool_name: String,
    pub tool_params: Value,
}

/// What the client is to the calls of its project.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedRole {
    pub role: String,
    pub message: String,
}

/// A run that broke off.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedRunError {
    #[serde(default)]
    pub message: String,
}

/// A call to run: S2's fields, and ours where they are there.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedSignal {
    pub tool_id: ExecutionId,
    pub tool_name: String,
    pub tool_params: Value,
    #[serde(default)]
    pub approval_id: Option<ApprovalId>,
    #[serde(default)]
    pub session_id: Option<String>,
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    /// The files as they were when the change was shown.
    #[serde(default)]
    pub preimages: Vec<Preimage>,
    #[serde(default)]
    pub lease: Option<ReceivedLease>,
}

/// For how long a call is this client's.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedLease {
    pub token: String,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// The answer to a sign of life.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedLeaseAnswer {
    #[serde(default)]
    pub lease: Option<ReceivedLease>,
}

/// A call, as the answer to whoever handed it in tells of it.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedExecution {
    pub tool_id: String,
    pub status: ReceivedStatus,
    pub tool_input: Option<Value>,
    pub error: Option<String>,
    pub error_type: Option<String>,
    pub feedback: Option<String>,
    pub decided_by: Option<String>,
    /// Whether a person was to decide; not said by other servers.
    pub requires_approval: Option<bool>,
}

/// Where a request stands, and who decided.
#[derive(Clone, Debug, Deserialize)]
pub struct ReceivedDecision {
    pub status: Option<ReceivedStatus>,
    pub decided_by: Option<String>,
}

/// Where a call stands, or a word for that which this version does not know.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ReceivedStatus {
    Known(CallStatus),
    Unknown(String),
}

impl ReceivedStatus {
    /// Returns the word.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(status) => status.as_str(),
            Self::Unknown(word) => word,
        }
    }

    /// Returns whether a person has still to decide.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Known(status) if status.is_waiting())
    }
}

impl ReceivedApprovalRequest {
    /// Returns whether a decision is still waited for.
    pub fn waits(&self) -> bool {
        self.status.is_none_or(CallStatus::is_waiting)
    }

    /// Returns what it is about, in one sentence.
    pub fn sentence(&self) -> &str {
        let sentence = self.summary.as_deref().or(self.description.as_deref());
        sentence.unwrap_or(&self.tool_name)
    }
}

impl ReceivedEvent {
    /// Reads one event; what is known but cannot be read is an error in words.
    pub fn decode(name: &str, data: &str) -> Result<Self, String> {
        Ok(match name {
            "tool.approval_request" => Self::ApprovalRequest(Box::new(parse(name, data)?)),
            "tool.approval_decided" => Self::ApprovalDecided(parse(name, data)?),
            "tool.state" => Self::ToolState(parse(name, data)?),
            "tool.execution_signal" => Self::ExecutionSignal(Box::new(parse(name, data)?)),
            "tool.preview_request" => Self::PreviewRequest(Box::new(parse(name, data)?)),
            "executor.role" => Self::ExecutorRole(parse(name, data)?),
            "run.error" => Self::RunError(parse(name, data)?),
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
        let Ok(ReceivedEvent::ApprovalRequest(request)) =
            ReceivedEvent::decode("tool.approval_request", &request)
        else {
            panic!("not read")
        };
        assert!(request.waits() && request.sentence() == "Execute npm test");
        let signal = format!(
            r#"{{"tool_id": "{id}", "tool_name": "execute_command", "tool_params": {{"command": "npm",
            "args": ["test"], "timeout": 30}}, "timestamp": "2026-02-21T06:19:01Z"}}"#
        );
        let Ok(ReceivedEvent::ExecutionSignal(signal)) =
            ReceivedEvent::decode("tool.execution_signal", &signal)
        else {
            panic!("not read")
        };
        assert!(signal.lease.is_none() && signal.tool_params["command"] == "npm");
        assert!(matches!(ReceivedEvent::decode("chat.delta", "{}"), Ok(ReceivedEvent::Other)));
        assert!(ReceivedEvent::decode("tool.execution_signal", "{}").is_err());
    }
}
