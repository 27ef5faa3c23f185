//! `MultiEdit`: several replacements in one file, one after the other, all of them or none.

use countersign_core::{DiffPreview, Effect, Invalid, Plan, Planner, Preview, Target, ToolCall};
use serde::Deserialize;

use crate::disk::{DiskError, Standing};
use crate::shown::shown;
use crate::workspace::Workspace;
use crate::{edit, input, reach};

/// Above this many edits a call is refused: nobody reads that far.
const EDITS: usize = 200;

/// The tool that changes several parts of a file.
#[derive(Clone, Debug)]
pub struct MultiEdit {
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    file_path: String,
    edits: Vec<Step>,
}

/// One replacement, in what the one before it left.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

impl MultiEdit {
    /// Returns the tool.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn read(&self, call: &ToolCall) -> Result<(Input, Target), Invalid> {
        let input: Input = input::parse(call)?;
        let target = self.workspace.find(&call.cwd, &input.file_path)?;
        let Some((first, later)) = input.edits.split_first() else {
            return Err(Invalid("`edits` is empty: say what to replace".to_owned()));
        };
        if input.edits.len() > EDITS {
            return Err(Invalid(format!("`edits`: at most {EDITS}; make several calls")));
        }
        if let Some(at) = input.edits.iter().position(|step| step.old_string == step.new_string) {
            return Err(step(at, "old_string and new_string are the same: nothing would change"));
        }
        if first.old_string.is_empty() && reach::exists(&target) {
            return Err(step(0, "the file exists, and an empty old_string only makes new files"));
        }
        if let Some(at) = later.iter().position(|step| step.old_string.is_empty()) {
            return Err(step(at + 1, "old_string is empty: only the first edit can make a file"));
        }
        Ok((input, target))
    }
}

/// Says which edit is wrong, counted from 1, and why.
fn step(index: usize, fault: &str) -> Invalid {
    Invalid(format!("edit {}: {fault}; none of the edits was made", index + 1))
}

impl Input {
    /// Makes every change in memory.
    fn apply(&self, before: Option<&str>) -> Result<String, Invalid> {
        let mut edits = self.edits.iter().enumerate();
        let mut content = match before {
            Some(before) => before.to_owned(),
            None => match edits.next() {
                Some((_, first)) if first.old_string.is_empty() => first.new_string.clone(),
                _ => return Err(Invalid(format!("`{}` does not exist", self.file_path))),
            },
        };
        for (index, Step { old_string, new_string, replace_all }) in edits {
            let path = &self.file_path;
            content = edit::replaced(path, &content, old_string, new_string, *replace_all)
                .map_err(|Invalid(fault)| step(index, &fault))?
                .content;
        }
        Ok(content)
    }
}

impl Planner for MultiEdit {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let (input, target) = self.read(call)?;
        let (path, count) = (shown(&input.file_path), input.edits.len());
        let summary = format!("Edit `{path}` in {count} places, one after the other");
        let mut effects = vec![Effect::Read(target.clone())];
        effects.extend(reach::writing(&input.file_path, target)?);
        Ok(Plan::new(effects, summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        let (input, target) = self.read(call)?;
        let in_words = |error: DiskError| error.in_preview(&input.file_path);
        let standing = Standing::read(&target.path).map_err(in_words)?;
        standing.check_writable().map_err(in_words)?;
        let text = standing.snapshot.as_ref().map(|old| edit::text_of(&input.file_path, old));
        let before = text.transpose()?.map(|text| text.content);
        let after = input.apply(before.as_deref())?;
        let preimage = standing.preimage();
        let change = DiffPreview::new(input.file_path, before.as_deref(), &after, preimage.clone());
        Ok(Preview::MultiDiff { files: vec![change], preimages: vec![preimage] })
    }
}
