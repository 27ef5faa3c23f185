//! `list_directory`: what is in a folder of the client's project.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    CallPlan, ClientLook, Effect, EffectTarget, InvalidCall, Planner, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ClientSide;
use super::report::{ClientEntryKind, ClientFolderEntry, ClientToolReport, in_words};
use super::side::PathUse;
use crate::blocking::blocking;
use crate::disk::{self, DiskError, FolderEntry};
use crate::escape::{escape_invisible, escape_to_line};
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::{input, path_effects};

/// How many entries of a folder are given.
const MOST: usize = 5_000;

const DESCRIPTION: &str = "\
Lists what is in a folder of the project, one name per line, folders with a slash at the end.

- `path` is relative to the project's folder (`.` is the folder itself); nothing outside of it is reached.
- Hidden files are listed too. Folders below are not entered, links are not followed.
- Of a folder with more than 5000 entries you get the first, by name.";

/// The client's tool that lists a folder.
#[derive(Clone, Debug)]
pub struct ListDirectory {
    side: ClientSide,
    needs_approval: NeedsApproval,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDirectoryInput {
    /// The path of the folder, relative to the project's folder; `.` is that folder itself.
    path: String,
}

impl ListDirectory {
    /// Returns the tool for a project's folder, not asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self { side: side.into(), needs_approval: false.into() }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<(ListDirectoryInput, EffectTarget), InvalidCall> {
        let input: ListDirectoryInput = input::parse(call)?;
        let target = self.side.find(&input.path, PathUse::Look)?;
        Ok((input, target))
    }
}

impl Planner for ListDirectory {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let (ListDirectoryInput { path }, target) = self.read(call)?;
        let summary = format!("List `{}` on the client", escape_to_line(&path));
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
impl Tool for ListDirectory {
    fn name(&self) -> &'static str {
        "list_directory"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<ListDirectoryInput>()
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
        blocking(&cancel, move |cancel| {
            let (ListDirectoryInput { path }, target) = tool.read(permit.call())?;
            permit.check_reach(&target)?;
            let found = disk::list(&target.path, || cancel.is_cancelled());
            let found = found.map_err(|error| match error {
                DiskError::NoFolder => ToolError::invalid(format!(
                    "`{path}` is a file, not a folder; read_file shows what is in it"
                )),
                other => in_words(other, &path),
            })?;
            if cancel.is_cancelled() {
                return Err(ToolError::Interrupted);
            }
            listed(found).output()
        })
        .await
    }
}

fn listed(mut found: Vec<FolderEntry>) -> ClientToolReport {
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let left = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    let entries: Vec<ClientFolderEntry> = found.iter().map(entry).collect();
    let mut lines = String::new();
    for entry in &entries {
        let slash = if entry.kind == ClientEntryKind::Directory { "/" } else { "" };
        // One name per line, whatever is in the name. Writing to a string cannot fail.
        let _ = writeln!(lines, "{}{slash}", escape_invisible(&entry.name).replace('\n', "\\n"));
    }
    if left > 0 {
        let _ = writeln!(lines, "… [{left} more entries not shown]");
    }
    ClientToolReport { entries: Some(entries), ..ClientToolReport::from_text(lines) }
}

fn entry(found: &FolderEntry) -> ClientFolderEntry {
    let kind = found.metadata.file_type();
    let kind = if kind.is_file() {
        ClientEntryKind::File
    } else if kind.is_dir() {
        ClientEntryKind::Directory
    } else if kind.is_symlink() {
        ClientEntryKind::Link
    } else {
        ClientEntryKind::Other
    };
    let size = (kind == ClientEntryKind::File).then_some(found.metadata.len());
    // Bytes that are no text are spelled out: two such names stay two.
    let name = match found.name.to_str() {
        Some(name) => name.to_owned(),
        None => found.name.as_encoded_bytes().escape_ascii().to_string(),
    };
    ClientFolderEntry { name, kind, size }
}
