//! What a hook is given.

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{HookDetails, HookEvent};

/// What a hook is given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HookInput {
    /// The moment.
    pub event: HookEvent,
    /// What is known about it.
    pub details: HookDetails,
    /// The session.
    pub session_id: Option<String>,
    /// Where its transcript is.
    pub transcript_path: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The permission mode.
    pub permission_mode: Option<String>,
    /// The subagent it happens in; nobody means the main conversation.
    pub agent_id: Option<String>,
    /// The tool call it belongs to.
    pub tool_use_id: Option<String>,
    /// Everything, as it came.
    pub raw: Value,
    /// Fires when the CLI no longer waits for the hook, or the session ends.
    pub cancelled: CancellationToken,
}

impl HookInput {
    pub(crate) fn new(
        raw: Value,
        tool_use_id: Option<String>,
        cancelled: CancellationToken,
    ) -> Self {
        let text = |name: &str| raw.get(name).and_then(Value::as_str).map(str::to_owned);
        Self {
            event: HookEvent::from(text("hook_event_name").unwrap_or_default().as_str()),
            details: serde_json::from_value(raw.clone()).unwrap_or(HookDetails::Other),
            session_id: text("session_id"),
            transcript_path: text("transcript_path"),
            cwd: text("cwd"),
            permission_mode: text("permission_mode"),
            agent_id: text("agent_id"),
            tool_use_id: tool_use_id.or_else(|| text("tool_use_id")),
            cancelled,
            raw,
        }
    }

    /// Returns the tool and its input, if the event is about one.
    pub fn tool(&self) -> Option<(&str, &Map<String, Value>)> {
        let name = self.raw.get("tool_name")?.as_str()?;
        Some((name, self.raw.get("tool_input")?.as_object()?))
    }
}
