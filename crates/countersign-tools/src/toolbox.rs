//! The tools of a session, by name.

use std::fmt;
use std::sync::Arc;

use crate::{
    ApplyPatch, Bash, ClientSide, Diagnostics, Edit, Environment, ExecuteCommand, Glob, Grep,
    ListDir, ListDirectory, MultiEdit, NotebookEdit, Read, ReadFile, Task, TodoList, TodoRead,
    TodoWrite, Tool, WebFetch, Workspace, Write, WriteFile,
};

/// The tools a session offers, in the order the model is told of them.
#[derive(Clone, Default)]
pub struct Toolbox {
    // INVARIANT: no two have the same name.
    tools: Vec<Arc<dyn Tool>>,
}

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
    /// This is the registry: a new tool is one line here. [`crate::WebSearch`] needs an engine, so it
    /// is added by whoever has one.
    pub fn full(workspace: &Workspace, environment: Environment) -> Self {
        let todos = TodoList::default();
        Self::coding(workspace, environment.clone())
            .with(MultiEdit::new(workspace.clone()))
            .with(ApplyPatch::new(workspace.clone()))
            .with(NotebookEdit::new(workspace.clone()))
            .with(ListDir::new(workspace.clone()))
            .with(WebFetch::new())
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

    /// Adds a tool; one of the same name gives way to it and leaves it its place.
    #[must_use]
    pub fn with(self, tool: impl Tool) -> Self {
        self.with_shared(Arc::new(tool))
    }

    /// Adds a tool that others hold too, as [`Toolbox::with`] does.
    #[must_use]
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Self {
        match self.tools.iter_mut().find(|known| known.name() == tool.name()) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// Returns the tools of some names only.
    #[must_use]
    pub fn only(&self, kept: impl Fn(&str) -> bool) -> Self {
        let tools = self.tools.iter().filter(|tool| kept(tool.name()));
        Self { tools: tools.cloned().collect() }
    }

    /// Returns the tool of a name, to the letter.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Returns all tools.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// Returns all names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
