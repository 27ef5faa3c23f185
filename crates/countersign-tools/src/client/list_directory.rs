//! `list_directory`: what is in a folder of the client's project.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    ClientLook, Effect, Invalid, Plan, Planner, Preview, Target, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ClientSide;
use super::report::{Entry, Kind, Report, in_words};
use super::side::Use;
use crate::blocking::blocking;
use crate::disk::{self, DiskError, Found};
use crate::shown::{shown, spelled};
use crate::tool::{Cleared, NeedsApproval, Tool, ToolError};
use crate::{input, reach};

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
struct Input {
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

    fn read(&self, call: &ToolCall) -> Result<(Input, Target), Invalid> {
        let input: Input = input::parse(call)?;
        let target = self.side.find(&input.path, Use::Look)?;
        Ok((input, target))
    }
}

impl Planner for ListDirectory {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (Input { path }, target) = self.read(call)?;
        let summary = format!("List `{}` on the client", shown(&path));
        let effect = match self.side.workspace() {
            Some(_) => reach::reading(&path, target)?,
            None => Effect::Read(target),
        };
        Ok(Plan::new(vec![effect], summary))
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Arc<dyn Planner>> {
        Some(Arc::new(Self { side: self.side.with_look(look), ..self.clone() }))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
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
        input::schema_of::<Input>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.of(params).await
    }

    async fn run(
        &self,
        permit: Cleared,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(self.name())?;
        let tool = self.clone();
        blocking(&cancel, move |cancel| {
            let (Input { path }, target) = tool.read(permit.call())?;
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

fn listed(mut found: Vec<Found>) -> Report {
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let left = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    let entries: Vec<Entry> = found.iter().map(entry).collect();
    let mut lines = String::new();
    for entry in &entries {
        let slash = if entry.kind == Kind::Directory { "/" } else { "" };
        // One name per line, whatever is in the name. Writing to a string cannot fail.
        let _ = writeln!(lines, "{}{slash}", spelled(&entry.name).replace('\n', "\\n"));
    }
    if left > 0 {
        let _ = writeln!(lines, "… [{left} more entries not shown]");
    }
    Report { entries: Some(entries), ..Report::of(lines) }
}

fn entry(found: &Found) -> Entry {
    let kind = found.metadata.file_type();
    let kind = if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    };
    let size = (kind == Kind::File).then_some(found.metadata.len());
    // Bytes that are no text are spelled out: two such names stay two.
    let name = match found.name.to_str() {
        Some(name) => name.to_owned(),
        None => found.name.as_encoded_bytes().escape_ascii().to_string(),
    };
    Entry { name, kind, size }
}
