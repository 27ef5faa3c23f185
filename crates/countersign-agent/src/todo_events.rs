//! What a child agent notes to do, told to the person.
//!
//! Nothing else of its conversation is. But its list of tasks is written for whoever watches, too: it
//! says how far the work is that was handed on.

use countersign_core::{Event, Permit, ToolOutput};

use crate::turn::RunTurn;

/// The tool that notes.
const NOTES: &str = "TodoWrite";

/// A list of tasks that a child is about to note.
pub(crate) struct TodoListEvent(Event);

impl TodoListEvent {
    /// Returns what is to be told of a call: none if it notes nothing, or is not a child's.
    pub(crate) fn from_permit(permit: &Permit) -> Option<Self> {
        let call = permit.call();
        let is_told = call.agent.is_some() && call.tool_name == NOTES;
        is_told.then(|| {
            Self(Event::ToolUse {
                id: call.tool_use_id.clone(),
                name: call.tool_name.clone(),
                input: call.input.clone(),
                agent: call.agent.clone(),
            })
        })
    }
}

impl RunTurn<'_> {
    /// Tells of a list that was noted. What could not be told holds nothing up.
    pub(crate) async fn record_todo_list(&self, note: TodoListEvent, told: &ToolOutput) {
        let TodoListEvent(noted) = note;
        let Event::ToolUse { id, .. } = &noted else { return };
        let answered = Event::ToolResult {
            tool_use_id: id.clone(),
            content: told.content.clone(),
            is_error: told.is_error,
        };
        if let Err(error) = self.run.journal.record_events(vec![noted, answered]).await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "what a child noted was not told");
        }
    }
}
