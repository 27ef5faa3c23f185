//! The lists of tasks, by who noted them.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::{ProjectId, SessionId, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;

/// How many lists are remembered; the one that was written longest ago is forgotten first.
const LISTS: usize = 1_000;

/// One task.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoItem {
    /// What to do, such as `Run the tests`.
    pub(super) content: String,
    /// How far it is.
    status: TodoStatus,
    /// The same as it goes on, such as `Running the tests`.
    #[serde(rename = "activeForm")]
    active_form: Option<String>,
    /// A name for the task, if you want one.
    #[serde(rename = "id")]
    _id: Option<String>,
    /// How urgent it is, such as `high`.
    priority: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

/// The tasks that agents noted, as long as this process lives.
///
/// What an agent wrote stands in its conversation, too: after a restart the list is empty, and
/// the answer to a read says so.
#[derive(Clone, Debug, Default)]
pub struct TodoList {
    lists: Arc<Mutex<TodoLists>>,
}

/// The one that was written last is the last.
type TodoLists = VecDeque<(TodoOwner, Vec<TodoItem>)>;

/// Whose list it is: a conversation's, and in it each child agent has its own.
#[derive(Debug, PartialEq)]
struct TodoOwner {
    project: ProjectId,
    session: SessionId,
    agent: Option<String>,
}

impl TodoOwner {
    fn from_call(call: &ToolCall) -> Self {
        let ToolCall { project, session, agent, .. } = call;
        Self { project: project.clone(), session: session.clone(), agent: agent.clone() }
    }
}

impl TodoList {
    fn lists(&self) -> MutexGuard<'_, TodoLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the list of whoever makes a call, and tells how it stands.
    pub(super) fn put(&self, call: &ToolCall, notes: Vec<TodoItem>) -> String {
        let told = format!("The tasks are noted. {}", render_list(&notes));
        let owner = TodoOwner::from_call(call);
        let mut lists = self.lists();
        lists.retain(|(known, _)| *known != owner);
        lists.push_back((owner, notes));
        if lists.len() > LISTS {
            lists.pop_front();
        }
        told
    }

    /// Tells the list of whoever makes a call.
    pub(super) fn render_for_call(&self, call: &ToolCall) -> String {
        let owner = TodoOwner::from_call(call);
        match self.lists().iter().find(|(known, _)| *known == owner) {
            Some((_, notes)) => render_list(notes),
            None => {
                "No tasks are noted here. If you noted some before, what you sent to TodoWrite \
                     last still counts: send it again."
                    .to_owned()
            }
        }
    }
}

fn render_list(notes: &[TodoItem]) -> String {
    if notes.is_empty() {
        return "The list is empty.".to_owned();
    }
    let done = notes.iter().filter(|note| note.status == TodoStatus::Completed).count();
    let mut out = format!("{done} of {} are done:\n", notes.len());
    for note in notes {
        let mark = match note.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '>',
            TodoStatus::Completed => 'x',
            TodoStatus::Cancelled => '-',
        };
        let active = note.active_form.as_deref().filter(|_| note.status == TodoStatus::InProgress);
        let text = active.unwrap_or(&note.content).replace('\n', " ");
        let priority = note.priority.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "[{mark}] {text}{priority}");
    }
    out
}
