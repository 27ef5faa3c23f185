//! The toolboxes that come ready: which tools an agent has when nobody says otherwise.

use crate::builtin::{
    ApplyPatch, Bash, Diagnostics, Edit, Glob, Grep, ListDir, MultiEdit, NotebookEdit, Read, Task,
    TodoList, TodoRead, TodoWrite, Write,
};
use crate::client::{ClientSide, ExecuteCommand, ListDirectory, ReadFile, WriteFile};
use crate::files::workspace::Workspace;
use crate::machine::Environment;
use crate::tool::Toolbox;

impl Toolbox {
    /// Returns the six tools of a coding agent, each asking as it does by default.
    pub fn coding(workspace: &Workspace, environment: Environment) -> Self {
        Self::default()
            .with(Read::new(workspace.clone()))
            .with(Write::new(workspace.clone()))
            .with(Edit::new(workspace.clone()))
            .with(Bash::new(workspace.clone(), environment))
            .with(Glob::new(workspace.clone()))
            .with(Grep::new(workspace.clone()))
    }

    /// Returns every tool that needs nothing set up, each asking as it does by default.
    ///
    /// This is the registry: a new tool is one line here. `WebSearch` needs an engine, so it is added by
    /// whoever has one.
    pub fn full(workspace: &Workspace, environment: Environment) -> Self {
        let todos = TodoList::default();
        let toolbox = Self::coding(workspace, environment.clone())
            .with(MultiEdit::new(workspace.clone()))
            .with(ApplyPatch::new(workspace.clone()))
            .with(NotebookEdit::new(workspace.clone()))
            .with(ListDir::new(workspace.clone()));
        #[cfg(feature = "web")]
        let toolbox = toolbox.with(crate::builtin::WebFetch::new());
        toolbox
            .with(Diagnostics::new(workspace.clone(), environment))
            .with(TodoWrite::new(workspace.clone(), todos.clone()))
            .with(TodoRead::new(workspace.clone(), todos))
            .with(Task::default())
    }

    /// Returns the four tools of a client, for either side; only on the client's machine they run, and
    /// commands see `environment` there.
    pub fn client(side: &ClientSide, environment: Environment) -> Self {
        Self::default()
            .with(ReadFile::new(side.clone()))
            .with(WriteFile::new(side.clone()))
            .with(ListDirectory::new(side.clone()))
            .with(ExecuteCommand::new(side.clone()).with_environment(environment))
    }
}
