//! `MultiEdit`: several replacements in one file, one after the other, all of them or none.

use countersign_core::{
    CallPlan, DiffPreview, Effect, EffectTarget, InvalidCall, Preview, ToolCall, ToolOutput,
    UnifiedDiff,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::builtin::edit;
use crate::files::disk::{DiskError, FileSnapshot};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::{DecodedText, TextEncoding};
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Makes several replacements in one file, one after the other: all of them or none.

- Prefer it over several calls of Edit when you change one file in several places.
- Each edit is as in Edit: `old_string` has to be in the file to the letter, and only once unless \
`replace_all` is set. Read the file first.
- An edit sees what the edits before it left. If one does not fit, none is made, and the answer says \
which one and why.
- An empty `old_string` in the first edit makes a new file.
- Write line ends as `\\n`; a file with `\\r\\n` keeps its own, and so do encoding and byte order mark.
- The user may see all changes as one diff before they are made and reject them.";

/// How many lines of the diff the model is shown.
const REPORTED: usize = 120;

/// Above this many edits a call is refused: nobody reads that far.
const EDITS: usize = 200;

/// The tool that changes several parts of a file.
pub type MultiEdit = ToolAdapter<MultiEditTool>;

/// How [`MultiEdit`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct MultiEditTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MultiEditInput {
    /// The path of the file to change, absolute or relative to the working directory.
    file_path: String,
    /// The replacements, in the order in which they are made.
    edits: Vec<MultiEditStep>,
}

/// One replacement, in what the one before it left.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MultiEditStep {
    /// The text to replace, exactly as the edits before left it.
    old_string: String,
    /// The text to put in its place; different from `old_string`.
    new_string: String,
    /// Whether to replace every occurrence of `old_string` (default false).
    #[serde(default)]
    replace_all: bool,
}

impl MultiEdit {
    /// Returns the tool, asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(MultiEditTool { workspace }, true)
    }
}

/// Says which edit is wrong, counted from 1, and why.
fn step(index: usize, fault: &str) -> InvalidCall {
    InvalidCall(format!("edit {}: {fault}; none of the edits was made", index + 1))
}

impl MultiEditInput {
    /// Returns the text as it is; none where there is no file yet.
    fn before(&self, standing: &FileSnapshot) -> Result<Option<DecodedText>, InvalidCall> {
        standing
            .snapshot
            .as_ref()
            .map(|old| edit::decode_for_editing(&self.file_path, old))
            .transpose()
    }

    /// Tells the model what has changed.
    fn report(&self, before: Option<&str>, after: &str) -> String {
        let (path, count) = (&self.file_path, self.edits.len());
        let done = if before.is_some() { "updated" } else { "created" };
        let edits =
            if count == 1 { "1 edit was".to_owned() } else { format!("{count} edits were") };
        let mut lines = UnifiedDiff::from_texts(path, before.unwrap_or_default(), after).lines;
        let more = lines.len().saturating_sub(REPORTED);
        lines.truncate(REPORTED);
        if more > 0 {
            lines.push(format!("[{more} more lines of the diff]"));
        }
        let lines = lines.join("\n");
        format!("The file {path} has been {done}: {edits} made. Here is the diff:\n{lines}")
    }

    /// Makes every change in memory.
    fn apply(&self, before: Option<&str>) -> Result<String, InvalidCall> {
        let mut edits = self.edits.iter().enumerate();
        let mut content = match before {
            Some(before) => before.to_owned(),
            None => match edits.next() {
                Some((_, first)) if first.old_string.is_empty() => first.new_string.clone(),
                _ => return Err(InvalidCall(format!("`{}` does not exist", self.file_path))),
            },
        };
        for (index, MultiEditStep { old_string, new_string, replace_all }) in edits {
            let path = &self.file_path;
            content = edit::replace_text(path, &content, old_string, new_string, *replace_all)
                .map_err(|InvalidCall(fault)| step(index, &fault))?
                .content;
        }
        Ok(content)
    }
}

impl TypedTool for MultiEditTool {
    const NAME: &'static str = "MultiEdit";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = MultiEditInput;
    type CheckedInput = (MultiEditInput, EffectTarget);

    fn check(
        &self,
        input: MultiEditInput,
        call: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.workspace.find(&call.cwd, &input.file_path)?;
        let Some((first, later)) = input.edits.split_first() else {
            return Err(InvalidCall("`edits` is empty: say what to replace".to_owned()));
        };
        if input.edits.len() > EDITS {
            return Err(InvalidCall(format!("`edits`: at most {EDITS}; make several calls")));
        }
        if let Some(at) = input.edits.iter().position(|step| step.old_string == step.new_string) {
            return Err(step(at, "old_string and new_string are the same: nothing would change"));
        }
        if first.old_string.is_empty() && path_effects::exists(&target) {
            return Err(step(0, "the file exists, and an empty old_string only makes new files"));
        }
        if let Some(at) = later.iter().position(|step| step.old_string.is_empty()) {
            return Err(step(at + 1, "old_string is empty: only the first edit can make a file"));
        }
        Ok((input, target))
    }

    fn plan(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let (path, count) = (escape_to_line(&input.file_path), input.edits.len());
        let summary = format!("Edit `{path}` in {count} places, one after the other");
        let mut effects = vec![Effect::Read(target.clone())];
        effects.extend(path_effects::write_effects(&input.file_path, target)?);
        Ok(CallPlan::new(effects, summary))
    }

    fn preview(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<Preview, InvalidCall> {
        let in_words = |error: DiskError| error.in_preview(&input.file_path);
        let standing = FileSnapshot::read_writable(&target.path).map_err(in_words)?;
        let before = input.before(&standing)?.map(|text| text.content);
        let after = input.apply(before.as_deref())?;
        let preimage = standing.preimage();
        let change = DiffPreview::new(input.file_path, before.as_deref(), &after, preimage.clone());
        Ok(Preview::MultiDiff { files: vec![change], preimages: vec![preimage] })
    }
}

impl BlockingTool for MultiEditTool {
    fn run_blocking(
        &self,
        (input, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&target)?;
        let in_words = |error: DiskError| error.into_tool_error(&input.file_path);
        let standing = FileSnapshot::read_permitted(&target.path, permit).map_err(in_words)?;
        let before = input.before(&standing)?;
        let content = before.as_ref().map(|text| text.content.as_str());
        let after = input.apply(content)?;
        let encoding = before.as_ref().map_or(TextEncoding::Utf8, |text| text.encoding);
        standing.replace(&encoding.encode(&after)).map_err(in_words)?;
        Ok(ToolOutput::ok(input.report(content, &after)))
    }
}
