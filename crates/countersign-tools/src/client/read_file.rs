//! `read_file`: a file of the client's project.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, ToolCall};
use serde::Deserialize;

use super::ClientRoot;
use crate::input;
use crate::shown::shown;

/// The client's tool that reads a file.
#[derive(Clone, Debug)]
pub struct ReadFile {
    root: ClientRoot,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
}

impl ReadFile {
    /// Returns the tool for a project's folder.
    pub fn new(root: ClientRoot) -> Self {
        Self { root }
    }
}

impl Planner for ReadFile {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let Input { path } = input::parse(call)?;
        let target = self.root.find(&path)?;
        let summary = format!("Read `{}` on the client", shown(&path));
        Ok(Plan::new(vec![Effect::Read(target)], summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        self.plan(call)?;
        Ok(input::as_preview(call))
    }
}
