//! `write_file`: puts a text into a file of the client's project.

use countersign_core::{Effect, Invalid, Plan, Planner, Preview, Target, ToolCall};
use serde::Deserialize;

use super::ClientRoot;
use crate::input;
use crate::shown::shown;
use crate::text::size;

/// Above this many bytes a text is not sent to a client.
const CONTENT_LIMIT: usize = 10 * 1024 * 1024;

/// The client's tool that writes a file.
#[derive(Clone, Debug)]
pub struct WriteFile {
    root: ClientRoot,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    content: String,
}

impl WriteFile {
    /// Returns the tool for a project's folder.
    pub fn new(root: ClientRoot) -> Self {
        Self { root }
    }

    fn read(&self, call: &ToolCall) -> Result<(Input, Target), Invalid> {
        let input: Input = input::parse(call)?;
        let target = self.root.find(&input.path)?;
        if target.path == self.root.path() {
            return Err(Invalid("`path` is the project's folder: name a file in it".to_owned()));
        }
        let bytes = input.content.len();
        if bytes > CONTENT_LIMIT {
            return Err(Invalid(format!(
                "`content` has {}, the limit is {}: write it in parts",
                size(bytes as u64),
                size(CONTENT_LIMIT as u64)
            )));
        }
        Ok((input, target))
    }
}

impl Planner for WriteFile {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (input, target) = self.read(call)?;
        let summary = format!("Write `{}` on the client", shown(&input.path));
        Ok(Plan::new(vec![Effect::Write(target)], summary))
    }

    /// Shows the text that will be there: what is there now only the client can see.
    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        self.read(call)?;
        Ok(input::as_preview(call))
    }
}
