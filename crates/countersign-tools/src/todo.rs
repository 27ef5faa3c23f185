//! `TodoWrite` and `TodoRead`: an agent's notes to itself, which live in its conversation.
//!
//! They touch nothing, but a plan without effects is unknown, hence high. So they are planned as
//! what they at most are: a look at the folder the agent works in.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, ToolCall};
use serde::Deserialize;

use crate::input;
use crate::workspace::Workspace;

/// The tool that writes the list.
#[derive(Clone, Debug)]
pub struct TodoWrite {
    workspace: Workspace,
}

/// The tool that reads it back.
#[derive(Clone, Debug)]
pub struct TodoRead {
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notes {
    todos: Vec<Note>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    #[serde(rename = "content")]
    _content: String,
    #[serde(rename = "status")]
    _status: Status,
    #[serde(default, rename = "activeForm")]
    _active_form: Option<String>,
    #[serde(default, rename = "id")]
    _id: Option<String>,
    #[serde(default, rename = "priority")]
    _priority: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl TodoWrite {
    /// Returns the tool.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

impl TodoRead {
    /// Returns the tool.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }
}

fn look_around(workspace: &Workspace, call: &ToolCall) -> Result<Vec<Effect>, Invalid> {
    Ok(vec![Effect::Read(workspace.resolve(&call.cwd, ".")?)])
}

impl Planner for TodoWrite {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let Notes { todos } = input::parse(call)?;
        let summary = format!("Note {} tasks", todos.len());
        Ok(Plan::new(look_around(&self.workspace, call)?, summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        input::parse::<Notes>(call)?;
        Ok(input::as_preview(call))
    }
}

impl Planner for TodoRead {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        input::parse::<Nothing>(call)?;
        Ok(Plan::new(look_around(&self.workspace, call)?, "Read the noted tasks"))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        input::parse::<Nothing>(call)?;
        Ok(input::as_preview(call))
    }
}
