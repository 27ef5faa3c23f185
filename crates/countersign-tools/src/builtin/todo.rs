//! `TodoWrite` and `TodoRead`: an agent's notes to itself, one list for each conversation.
//!
//! They touch nothing on the machine, but a plan without effects is unknown, hence high. So they are
//! planned as what they at most are: a look at the folder the agent works in.

mod list;

use async_trait::async_trait;
use countersign_core::{CallPlan, Effect, InvalidCall, ToolCall, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::list::TodoItem;
pub use self::list::TodoList;
use crate::files::workspace::Workspace;
use crate::tool::{AsyncTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const WRITING: &str = "\
Notes the tasks of your work, so that you and the user see what is done and what is left.

- Use it for work of three steps or more, or when the user names several things; not for a single small \
step.
- Each call replaces the whole list: send all tasks, also those that are done.
- A task is `pending`, `in_progress`, `completed` or `cancelled`. Have one task in progress at a time, \
mark it before you begin with it, and mark it completed as soon as it is.
- Mark a task as completed only when it is: not while tests fail or something is missing.
- `content` says what to do (`Run the tests`), `activeForm` the same as it goes on (`Running the tests`).";

const READING: &str = "\
Reads the list of tasks that TodoWrite noted last in this conversation.

- Use it at the start of a conversation that goes on, and whenever you are not sure what is left to do.
- It takes no input: send an empty object.
- The answer has one task a line, with its state in front: `[ ]` to do, `[>]` in progress, `[x]` done, \
`[-]` cancelled.";

/// How many tasks a list has at the most, and how long one is.
const TASKS: usize = 200;
const TASK_LIMIT: usize = 2_000;

/// The tool that writes the list.
pub type TodoWrite = ToolAdapter<TodoWriteTool>;

/// The tool that reads it back.
pub type TodoRead = ToolAdapter<TodoReadTool>;

/// How [`TodoWrite`] plans and runs a call.
#[derive(Clone, Debug)]
pub struct TodoWriteTool {
    workspace: Workspace,
    list: TodoList,
}

/// How [`TodoRead`] plans and runs a call.
#[derive(Clone, Debug)]
pub struct TodoReadTool {
    workspace: Workspace,
    list: TodoList,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoWriteInput {
    /// All tasks, in the order in which they are to be done.
    todos: Vec<TodoItem>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoReadInput {}

impl TodoWrite {
    /// Returns the tool, not asking before it runs. [`TodoRead`] reads the same list if it has it too.
    pub fn new(workspace: Workspace, list: TodoList) -> Self {
        Self::for_tool(TodoWriteTool { workspace, list }, false)
    }
}

impl TodoRead {
    /// Returns the tool, not asking before it runs.
    pub fn new(workspace: Workspace, list: TodoList) -> Self {
        Self::for_tool(TodoReadTool { workspace, list }, false)
    }
}

fn look_around(workspace: &Workspace, call: &ToolCall) -> Result<Vec<Effect>, InvalidCall> {
    Ok(vec![Effect::Read(workspace.resolve(&call.cwd, ".")?)])
}

impl TypedTool for TodoWriteTool {
    const NAME: &'static str = "TodoWrite";
    const DESCRIPTION: &'static str = WRITING;

    type Input = TodoWriteInput;
    type CheckedInput = Vec<TodoItem>;

    fn check(&self, input: TodoWriteInput, _: &ToolCall) -> Result<Vec<TodoItem>, InvalidCall> {
        let TodoWriteInput { todos } = input;
        if todos.len() > TASKS {
            return Err(InvalidCall(format!("`todos`: at most {TASKS}; put some together")));
        }
        for (index, note) in todos.iter().enumerate() {
            if note.content.trim().is_empty() {
                return Err(InvalidCall(format!(
                    "`todos[{index}].content` is empty: say what to do"
                )));
            }
            if note.content.len() > TASK_LIMIT {
                return Err(InvalidCall(format!(
                    "`todos[{index}].content` is longer than {TASK_LIMIT} bytes: say it shorter"
                )));
            }
        }
        Ok(todos)
    }

    fn plan(&self, todos: Vec<TodoItem>, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let summary = format!("Note {} tasks", todos.len());
        Ok(CallPlan::new(look_around(&self.workspace, call)?, summary))
    }
}

impl TypedTool for TodoReadTool {
    const NAME: &'static str = "TodoRead";
    const DESCRIPTION: &'static str = READING;

    type Input = TodoReadInput;
    type CheckedInput = ();

    fn check(&self, _: TodoReadInput, _: &ToolCall) -> Result<(), InvalidCall> {
        Ok(())
    }

    fn plan(&self, (): (), call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        Ok(CallPlan::new(look_around(&self.workspace, call)?, "Read the noted tasks"))
    }
}

#[async_trait]
impl AsyncTool for TodoWriteTool {
    async fn run(
        &self,
        permit: VerifiedPermit,
        _: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let told = self.list.put(permit.call(), self.read(permit.call())?);
        Ok(ToolOutput::ok(told))
    }
}

#[async_trait]
impl AsyncTool for TodoReadTool {
    async fn run(
        &self,
        permit: VerifiedPermit,
        _: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::ok(self.list.render_for_call(permit.call())))
    }
}
