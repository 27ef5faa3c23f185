//! `ListDir`: what is in a folder.

use countersign_core::{Invalid, Plan, Planner, Preview, Target, ToolCall};
use serde::Deserialize;

use crate::shown::shown;
use crate::workspace::Workspace;
use crate::{input, reach};

/// The tool that lists a folder.
#[derive(Clone, Debug)]
pub struct ListDir {
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    /// Patterns of names to leave out: they narrow, so they are not judged.
    #[serde(default, rename = "ignore")]
    _ignore: Option<Vec<String>>,
}

impl ListDir {
    /// Returns the tool.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn read(&self, call: &ToolCall) -> Result<(Input, Target), Invalid> {
        let input: Input = input::parse(call)?;
        let target = self.workspace.find(&call.cwd, &input.path)?;
        Ok((input, target))
    }
}

impl Planner for ListDir {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (input, target) = self.read(call)?;
        let summary = format!("List `{}`", shown(&input.path));
        Ok(Plan::new(vec![reach::reading(&input.path, target)?], summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        self.read(call)?;
        Ok(input::as_preview(call))
    }
}
