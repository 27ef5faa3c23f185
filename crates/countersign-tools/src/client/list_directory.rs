//! `list_directory`: what is in a folder of the client's project.

use std::fmt::Write as _;

use countersign_core::{
    CallPlan, ClientLook, Effect, EffectTarget, InvalidCall, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::ClientSide;
use super::report::{ClientEntryKind, ClientFolderEntry, ClientToolReport, in_words};
use super::side::PathUse;
use crate::files::disk::{self, DiskError, FolderEntry};
use crate::files::escape::{escape_invisible, escape_to_line};
use crate::files::path_effects;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

/// How many entries of a folder are given.
const MOST: usize = 5_000;

const DESCRIPTION: &str = "\
Lists what is in a folder of the project, one name per line, folders with a slash at the end.

- `path` is relative to the project's folder (`.` is the folder itself); nothing outside of it is reached.
- Hidden files are listed too. Folders below are not entered, links are not followed.
- Of a folder with more than 5000 entries you get the first, by name.";

/// The client's tool that lists a folder.
pub type ListDirectory = ToolAdapter<ListDirectoryTool>;

/// How [`ListDirectory`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct ListDirectoryTool {
    side: ClientSide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDirectoryInput {
    /// The path of the folder, relative to the project's folder; `.` is that folder itself.
    path: String,
}

impl ListDirectory {
    /// Returns the tool for a project's folder, not asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self::for_tool(ListDirectoryTool { side: side.into() }, false)
    }
}

impl TypedTool for ListDirectoryTool {
    const NAME: &'static str = "list_directory";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = ListDirectoryInput;
    type CheckedInput = (ListDirectoryInput, EffectTarget);

    fn check(
        &self,
        input: ListDirectoryInput,
        _: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.side.find(&input.path, PathUse::Look)?;
        Ok((input, target))
    }

    fn plan(
        &self,
        (ListDirectoryInput { path }, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let summary = format!("List `{}` on the client", escape_to_line(&path));
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

impl BlockingTool for ListDirectoryTool {
    fn run_blocking(
        &self,
        (ListDirectoryInput { path }, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(Self::NAME)?;
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
        report_entries(found).output()
    }
}

fn report_entries(mut found: Vec<FolderEntry>) -> ClientToolReport {
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
