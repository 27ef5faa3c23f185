//! Every call that can be judged, by the name agents give it.
//!
//! A [`crate::Toolbox`] holds what we can run; this also knows what others run and ask us about.

mod claude_code;
mod default_toolboxes;
mod foreign_call;
mod unknown_tool;

use std::sync::Arc;

use countersign_core::Planner;

pub use self::claude_code::asks_by_itself;
use self::claude_code::{ClaudeCodeTool, MonitorTool};
use self::foreign_call::ForeignCallPlanner;
use self::unknown_tool::UnknownTool;
use crate::builtin::{Bash, ForeignTask};
#[cfg(feature = "web")]
use crate::builtin::{WebFetch, WebSearch};
use crate::client::{ClientRoot, ExecuteCommand, ListDirectory, ReadFile, WriteFile};
use crate::files::workspace::Workspace;
use crate::machine::Environment;
use crate::mcp::McpTool;
use crate::tool::Toolbox;

/// The planners of a project, by name.
#[derive(Clone, Debug)]
pub struct PlannerCatalogue {
    workspace: Workspace,
    environment: Environment,
    /// Our own tools, as they judge calls that others run.
    toolbox: Toolbox,
    call_env: Vec<(String, String)>,
    /// None where there is no root: then a client has no project here.
    client: Option<ClientRoot>,
}

impl PlannerCatalogue {
    /// Returns the catalogue of a workspace; a client's project lies where its first root does.
    pub fn new(workspace: Workspace, environment: Environment) -> Self {
        let client = workspace.roots().first().map(|root| ClientRoot::new(root));
        let toolbox = Toolbox::full(&workspace, environment.clone());
        #[cfg(feature = "web")]
        let toolbox =
            toolbox.with(WebFetch::for_foreign_calls()).with(WebSearch::for_foreign_calls());
        Self { workspace, environment, toolbox, call_env: Vec::new(), client }
    }

    /// Sets where the project lies on the client's machine.
    #[must_use]
    pub fn with_client_root(self, client: ClientRoot) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Sets variables that calls bring along: they steer what the commands of a call do.
    #[must_use]
    pub fn with_call_env(self, call_env: Vec<(String, String)>) -> Self {
        Self { call_env, ..self }
    }

    /// Returns what judges calls of a name, to the letter; nothing for a name that is not known.
    pub fn planner(&self, name: &str) -> Option<Arc<dyn Planner>> {
        let client = || self.client.clone();
        Some(match name {
            "Bash" => Arc::new(ForeignCallPlanner::new(Arc::new(self.bash()))),
            "Monitor" => Arc::new(MonitorTool(self.bash())),
            "Task" | "Agent" => Arc::new(ForeignTask),
            "read_file" => Arc::new(ReadFile::new(client()?)),
            "write_file" => Arc::new(WriteFile::new(client()?)),
            "list_directory" => Arc::new(ListDirectory::new(client()?)),
            "execute_command" => {
                Arc::new(ExecuteCommand::new(client()?).with_call_env(self.call_env.clone()))
            }
            other => return self.planner_of_other(other),
        })
    }

    /// Those that are the same whoever calls them, and those that are only ever others'.
    fn planner_of_other(&self, name: &str) -> Option<Arc<dyn Planner>> {
        if let Some(tool) = self.toolbox.get(name) {
            return Some(Arc::new(ForeignCallPlanner::new(Arc::clone(tool))));
        }
        Some(match ClaudeCodeTool::from_name(name, &self.workspace) {
            Some(tool) => Arc::new(tool),
            None => Arc::new(McpTool::named(name)?),
        })
    }

    /// Returns what judges calls that another program makes: a name nobody knows asks.
    pub fn planner_of_any(&self, name: &str) -> Arc<dyn Planner> {
        self.planner(name).unwrap_or_else(|| Arc::new(UnknownTool))
    }

    fn bash(&self) -> Bash {
        let bash = Bash::new(self.workspace.clone(), self.environment.clone());
        bash.with_call_env(self.call_env.clone())
    }
}
