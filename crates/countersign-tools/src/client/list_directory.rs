//! `list_directory`: what is in a folder of the client's project.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, ToolCall};
use serde::Deserialize;

use super::ClientRoot;
use crate::input;
use crate::shown::shown;

/// The client's tool that lists a folder.
#[derive(Clone, Debug)]
pub struct ListDirectory {
    root: ClientRoot,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
}

impl ListDirectory {
    /// Returns the tool for a project's folder.
    pub fn new(root: ClientRoot) -> Self {
        Self { root }
    }
}

impl Planner for ListDirectory {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let Input { path } = input::parse(call)?;
        let target = self.root.find(&path)?;
        let summary = format!("List `{}` on the client", shown(&path));
        Ok(Plan::new(vec![Effect::Read(target)], summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        self.plan(call)?;
        Ok(input::as_preview(call))
    }
}
