//! `NotebookEdit`: replaces, inserts or deletes one cell of a Jupyter notebook.

mod notebook;

use countersign_core::{DiffPreview, Effect, Invalid, Plan, Planner, Preview, Target, ToolCall};
use serde::Deserialize;

use self::notebook::Notebook;
use crate::disk::{DiskError, Standing};
use crate::shown::shown;
use crate::workspace::Workspace;
use crate::{edit, input, reach};

/// The tool that changes a notebook.
#[derive(Clone, Debug)]
pub struct NotebookEdit {
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    notebook_path: String,
    /// The cell by its id, or by its place as `cell-3`; the first one unless given.
    #[serde(default)]
    cell_id: Option<String>,
    #[serde(default)]
    cell_type: Option<CellType>,
    #[serde(default)]
    edit_mode: EditMode,
    /// Only a cell that is deleted has none.
    #[serde(default)]
    new_source: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CellType {
    Code,
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EditMode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl NotebookEdit {
    /// Returns the tool.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn read(&self, call: &ToolCall) -> Result<(Input, Target), Invalid> {
        let input: Input = input::parse(call)?;
        let target = self.workspace.find(&call.cwd, &input.notebook_path)?;
        let ending = target.path.extension();
        if !ending.is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb")) {
            return Err(Invalid(format!(
                "`{}` is no notebook (`.ipynb`); use Edit for other files",
                shown(&input.notebook_path)
            )));
        }
        if input.edit_mode == EditMode::Insert && input.cell_type.is_none() {
            return Err(Invalid("`cell_type` is missing: say `code` or `markdown`".to_owned()));
        }
        if input.edit_mode != EditMode::Delete && input.new_source.is_none() {
            return Err(Invalid("`new_source` is missing: say what the cell holds".to_owned()));
        }
        Ok((input, target))
    }
}

impl Input {
    /// Makes the change in memory.
    fn apply(&self, content: &str) -> Result<String, Invalid> {
        let mut notebook = Notebook::read(content)?;
        let (cell, source) = (self.cell_id.as_deref(), self.new_source.as_deref());
        let source = source.unwrap_or_default();
        match self.edit_mode {
            EditMode::Replace => notebook.replace(cell, self.cell_type, source)?,
            EditMode::Insert => {
                let kind = self.cell_type.unwrap_or(CellType::Code);
                notebook.insert(cell, kind, source)?;
            }
            EditMode::Delete => notebook.delete(cell)?,
        }
        notebook.write()
    }
}

impl Planner for NotebookEdit {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (input, target) = self.read(call)?;
        let doing = match input.edit_mode {
            EditMode::Replace => "Replace a cell of",
            EditMode::Insert => "Insert a cell into",
            EditMode::Delete => "Delete a cell of",
        };
        let summary = format!("{doing} `{}`", shown(&input.notebook_path));
        let mut effects = vec![Effect::Read(target.clone())];
        effects.extend(reach::writing(&input.notebook_path, target)?);
        Ok(Plan::new(effects, summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        let (input, target) = self.read(call)?;
        let path = &input.notebook_path;
        let in_words = |error: DiskError| error.in_preview(path);
        let standing = Standing::read(&target.path).map_err(in_words)?;
        standing.check_writable().map_err(in_words)?;
        let Some(snapshot) = &standing.snapshot else {
            return Err(Invalid(format!("`{path}` does not exist; make it with Write")));
        };
        let before = edit::text_of(path, snapshot)?.content;
        let after =
            input.apply(&before).map_err(|Invalid(why)| Invalid(format!("`{path}`: {why}")))?;
        Ok(Preview::Diff(DiffPreview::new(
            path.clone(),
            Some(&before),
            &after,
            standing.preimage(),
        )))
    }
}
