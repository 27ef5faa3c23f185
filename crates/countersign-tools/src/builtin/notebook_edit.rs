//! `NotebookEdit`: replaces, inserts or deletes one cell of a Jupyter notebook.

mod notebook;

use countersign_core::{
    CallPlan, DiffPreview, Effect, EffectTarget, InvalidCall, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::notebook::JupyterNotebook;
use crate::builtin::edit;
use crate::files::disk::{DiskError, FileSnapshot};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::DecodedText;
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Replaces, inserts or deletes one cell of a Jupyter notebook (`.ipynb`).

- `cell_id` names the cell: by its id, or by its place as `cell-0`, `cell-1`, … Read shows both.
- `edit_mode` is `replace` unless you set it: `new_source` becomes the whole source of the cell, and the \
outputs of a code cell are cleared.
- `insert` puts a new cell behind the one `cell_id` names, or at the start without one; it needs \
`cell_type`. `delete` takes the cell out.
- Everything else in the file stays as it is, byte for byte.
- The user may see the change as a diff before it is made and reject it.";

/// The tool that changes a notebook.
pub type NotebookEdit = ToolAdapter<NotebookEditTool>;

/// How [`NotebookEdit`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct NotebookEditTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotebookEditInput {
    /// The path of the notebook, absolute or relative to the working directory.
    notebook_path: String,
    /// The cell by its id, or by its place as `cell-3`; the first one unless given.
    cell_id: Option<String>,
    /// What kind of cell it is or becomes. An inserted cell needs it.
    cell_type: Option<CellType>,
    /// What to do: `replace` (the default), `insert` or `delete`.
    edit_mode: Option<EditMode>,
    /// What the cell is to hold. Only a cell that is deleted needs none.
    new_source: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl NotebookEdit {
    /// Returns the tool, asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(NotebookEditTool { workspace }, true)
    }
}

impl NotebookEditInput {
    fn mode(&self) -> EditMode {
        self.edit_mode.unwrap_or_default()
    }

    /// Makes the change in memory.
    fn apply(&self, content: &str) -> Result<String, InvalidCall> {
        let notebook = JupyterNotebook::read(content).and_then(|notebook| {
            let (cell, source) = (self.cell_id.as_deref(), self.new_source.as_deref());
            let source = source.unwrap_or_default();
            match self.mode() {
                EditMode::Replace => notebook.replace(cell, self.cell_type, source),
                EditMode::Insert => {
                    notebook.insert(cell, self.cell_type.unwrap_or(CellType::Code), source)
                }
                EditMode::Delete => notebook.delete(cell),
            }
        });
        notebook.map_err(|InvalidCall(why)| InvalidCall(format!("`{}`: {why}", self.notebook_path)))
    }

    /// Returns the notebook as it is.
    fn before(&self, standing: &FileSnapshot) -> Result<DecodedText, InvalidCall> {
        let path = &self.notebook_path;
        let Some(snapshot) = &standing.snapshot else {
            return Err(InvalidCall(format!("`{path}` does not exist; make it with Write")));
        };
        edit::decode_for_editing(path, snapshot)
    }

    fn report(&self) -> String {
        let path = &self.notebook_path;
        let cell = self.cell_id.as_deref().unwrap_or("cell-0");
        match (self.mode(), &self.cell_id) {
            (EditMode::Replace, _) => format!("The cell {cell} of {path} has been replaced."),
            (EditMode::Insert, None) => format!("A cell has been inserted at the start of {path}."),
            (EditMode::Insert, Some(_)) => {
                format!("A cell has been inserted behind {cell} of {path}.")
            }
            (EditMode::Delete, _) => format!("The cell {cell} of {path} has been deleted."),
        }
    }
}

impl TypedTool for NotebookEditTool {
    const NAME: &'static str = "NotebookEdit";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = NotebookEditInput;
    type CheckedInput = (NotebookEditInput, EffectTarget);

    fn check(
        &self,
        input: NotebookEditInput,
        call: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.workspace.find(&call.cwd, &input.notebook_path)?;
        let ending = target.path.extension();
        if !ending.is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb")) {
            return Err(InvalidCall(format!(
                "`{}` is not a notebook (`.ipynb`); use Edit for other files",
                escape_to_line(&input.notebook_path)
            )));
        }
        if input.mode() == EditMode::Insert && input.cell_type.is_none() {
            return Err(InvalidCall("`cell_type` is missing: say `code` or `markdown`".to_owned()));
        }
        if input.mode() != EditMode::Delete && input.new_source.is_none() {
            return Err(InvalidCall("`new_source` is missing: say what the cell holds".to_owned()));
        }
        Ok((input, target))
    }

    fn plan(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let doing = match input.mode() {
            EditMode::Replace => "Replace a cell of",
            EditMode::Insert => "Insert a cell into",
            EditMode::Delete => "Delete a cell of",
        };
        let summary = format!("{doing} `{}`", escape_to_line(&input.notebook_path));
        let mut effects = vec![Effect::Read(target.clone())];
        effects.extend(path_effects::write_effects(&input.notebook_path, target)?);
        Ok(CallPlan::new(effects, summary))
    }

    fn preview(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<Preview, InvalidCall> {
        let path = &input.notebook_path;
        let in_words = |error: DiskError| error.in_preview(path);
        let standing = FileSnapshot::read_writable(&target.path).map_err(in_words)?;
        let before = input.before(&standing)?.content;
        let after = input.apply(&before)?;
        Ok(Preview::Diff(DiffPreview::new(
            path.clone(),
            Some(&before),
            &after,
            standing.preimage(),
        )))
    }
}

impl BlockingTool for NotebookEditTool {
    fn run_blocking(
        &self,
        (input, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&target)?;
        let in_words = |error: DiskError| error.into_tool_error(&input.notebook_path);
        let standing = FileSnapshot::read_permitted(&target.path, permit).map_err(in_words)?;
        let DecodedText { content, encoding } = input.before(&standing)?;
        let after = input.apply(&content)?;
        standing.replace(&encoding.encode(&after)).map_err(in_words)?;
        Ok(ToolOutput::ok(input.report()))
    }
}
