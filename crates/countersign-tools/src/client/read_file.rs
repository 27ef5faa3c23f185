//! `read_file`: a file of the client's project.

use std::io::Read as _;

use countersign_core::{
    CallPlan, ClientLook, Effect, EffectTarget, InvalidCall, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::report::{ClientToolReport, in_words};
use super::side::PathUse;
use super::{CONTENT_LIMIT, ClientSide};
use crate::files::disk::{self, DiskError};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::DecodedText;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Reads a text file of the project and returns its content.

- `path` is relative to the project's folder; nothing outside of it is reached.
- UTF-8 and UTF-16 (with a byte order mark) are read as text; binary files are not shown.
- Of a file longer than 100000 characters you see the start and the end, one above 10 MB is not read: \
take a part of it with execute_command (`head`, `sed -n`).
- It reads files only: use list_directory to see what is in a folder.";

/// The client's tool that reads a file.
pub type ReadFile = ToolAdapter<ReadFileTool>;

/// How [`ReadFile`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct ReadFileTool {
    side: ClientSide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFileInput {
    /// The path of the file, relative to the project's folder.
    path: String,
}

impl ReadFile {
    /// Returns the tool for a project's folder, not asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self::for_tool(ReadFileTool { side: side.into() }, false)
    }
}

impl TypedTool for ReadFileTool {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = ReadFileInput;
    type CheckedInput = (ReadFileInput, EffectTarget);

    fn check(&self, input: ReadFileInput, _: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.side.find(&input.path, PathUse::Look)?;
        Ok((input, target))
    }

    fn plan(
        &self,
        (ReadFileInput { path }, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let summary = format!("Read `{}` on the client", escape_to_line(&path));
        let effect = match self.side.workspace() {
            Some(_) => path_effects::read_effect(&path, target)?,
            None => Effect::Read(target),
        };
        Ok(CallPlan::new(vec![effect], summary))
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Self> {
        Some(Self { side: self.side.with_look(look) })
    }
}

impl BlockingTool for ReadFileTool {
    fn run_blocking(
        &self,
        (ReadFileInput { path }, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(Self::NAME)?;
        permit.check_reach(&target)?;
        ClientToolReport::from_text(content(&path, &target)?).output()
    }
}

/// Returns the text of a file as it is, line ends and all.
fn content(path: &str, target: &EffectTarget) -> Result<String, ToolError> {
    let (file, metadata) = disk::open(&target.path).map_err(|error| match error {
        DiskError::Folder => {
            ToolError::invalid(format!("`{path}` is a folder; list_directory shows what is in it"))
        }
        other => in_words(other, path),
    })?;
    let limit = CONTENT_LIMIT as u64;
    if metadata.len() > limit {
        return Err(in_words(DiskError::TooLarge(metadata.len()), path));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read, and some files do not say how long they are.
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| DiskError::Io("read", error).into_tool_error(path))?;
    if bytes.len() as u64 > limit {
        return Err(in_words(DiskError::TooLarge(bytes.len() as u64), path));
    }
    let text = DecodedText::decode(&bytes);
    text.map(|text| text.content).map_err(|error| {
        ToolError::invalid(format!(
            "`{path}` {error} and cannot be given as text; look at it with a program in \
             execute_command (`file`, `xxd`, `iconv`)"
        ))
    })
}
