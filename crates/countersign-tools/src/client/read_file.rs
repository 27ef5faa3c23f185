//! `read_file`: a file of the client's project.

use std::io::Read as _;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    CallPlan, ClientLook, Effect, EffectTarget, InvalidCall, Planner, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::report::{ClientToolReport, in_words};
use super::side::PathUse;
use super::{CONTENT_LIMIT, ClientSide};
use crate::blocking::blocking;
use crate::disk::{self, DiskError};
use crate::escape::escape_to_line;
use crate::text::DecodedText;
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::{input, path_effects};

const DESCRIPTION: &str = "\
Reads a text file of the project and returns its content.

- `path` is relative to the project's folder; nothing outside of it is reached.
- UTF-8 and UTF-16 (with a byte order mark) are read as text; binary files are not shown.
- Of a file longer than 100000 characters you see the start and the end, one above 10 MB is not read: \
take a part of it with execute_command (`head`, `sed -n`).
- It reads files only: use list_directory to see what is in a folder.";

/// The client's tool that reads a file.
#[derive(Clone, Debug)]
pub struct ReadFile {
    side: ClientSide,
    needs_approval: NeedsApproval,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadFileInput {
    /// The path of the file, relative to the project's folder.
    path: String,
}

impl ReadFile {
    /// Returns the tool for a project's folder, not asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self { side: side.into(), needs_approval: false.into() }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<(ReadFileInput, EffectTarget), InvalidCall> {
        let input: ReadFileInput = input::parse(call)?;
        let target = self.side.find(&input.path, PathUse::Look)?;
        Ok((input, target))
    }
}

impl Planner for ReadFile {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let (ReadFileInput { path }, target) = self.read(call)?;
        let summary = format!("Read `{}` on the client", escape_to_line(&path));
        let effect = match self.side.workspace() {
            Some(_) => path_effects::read_effect(&path, target)?,
            None => Effect::Read(target),
        };
        Ok(CallPlan::new(vec![effect], summary))
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Arc<dyn Planner>> {
        Some(Arc::new(Self { side: self.side.with_look(look), ..self.clone() }))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.read(call)?;
        Ok(input::as_preview(call))
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn name(&self) -> &'static str {
        "read_file"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<ReadFileInput>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(self.name())?;
        let tool = self.clone();
        blocking(&cancel, move |_| {
            let (ReadFileInput { path }, target) = tool.read(permit.call())?;
            permit.check_reach(&target)?;
            ClientToolReport::from_text(content(&path, &target)?).output()
        })
        .await
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
