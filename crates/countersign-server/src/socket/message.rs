//! Messages made from what the gate tells: its log, and what is live.

use countersign_api::socket::message::{
    AssistantMessage, MessageBody, MessagePosition, SystemMessage, ToolOutputContent,
    ToolOutputMessage,
};
use countersign_gate::{LiveEvent, LiveUpdate, LogEntry};

/// Returns what is happening at this moment, as a message.
pub(super) fn body_from_live(event: LiveEvent) -> MessageBody {
    match event {
        LiveEvent::TextDelta(text) => MessageBody::Assistant(AssistantMessage::TextDelta { text }),
        LiveEvent::Retry { attempt, wait_ms, reason } => {
            MessageBody::System(SystemMessage::Retry { attempt, wait_ms, reason })
        }
        LiveEvent::ToolOutput { execution, text } => MessageBody::ToolOutput(ToolOutputMessage {
            content: ToolOutputContent { tool_id: execution.to_string(), text },
        }),
    }
}

/// Returns where an entry of the log belongs.
pub(super) fn position_of_entry(entry: &LogEntry) -> MessagePosition {
    MessagePosition {
        seq: Some(entry.seq),
        session_id: entry.session.as_ref().map(ToString::to_string),
        run_id: entry.run.map(|run| run.to_string()),
    }
}

/// Returns where something live belongs; it has no number.
pub(super) fn position_of_live(live: &LiveUpdate) -> MessagePosition {
    MessagePosition {
        seq: None,
        session_id: Some(live.session.to_string()),
        run_id: live.run.map(|run| run.to_string()),
    }
}
