//! Edit: replaces one exact text in a file, and leaves every other byte as it was.

mod hint;
mod replacement;

use countersign_core::{
    CallPlan, DiffPreview, Effect, EffectTarget, InvalidCall, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::replacement::{ReplacementError, TextReplacement};
use crate::files::disk::{DiskError, FileSnapshot, LoadedFile};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::{DecodedText, TextEncoding, size};
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Replaces an exact text in a file.

- `file_path` is absolute, or relative to the working directory.
- Read the file first: `old_string` has to be in it to the letter, with its indentation. Leave out the \
line numbers and the tab that Read puts in front of every line.
- `old_string` must occur once. If it occurs more often, add lines around it until it is unique, or set \
`replace_all` to change every occurrence (to rename something, for example).
- Write line ends as `\\n`; a file with `\\r\\n` keeps its own, and so do encoding and byte order mark.
- An empty `old_string` makes a new file with `new_string` as its content, where there is none yet.
- Prefer editing a file over writing a new one.
- The user may see the change as a diff before it is made and reject it.";

/// The tool that changes a part of a file.
pub type Edit = ToolAdapter<EditTool>;

/// How [`Edit`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct EditTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditInput {
    /// The path of the file to change, absolute or relative to the working directory.
    file_path: String,
    /// The text to replace, exactly as it is in the file.
    old_string: String,
    /// The text to put in its place; different from `old_string`.
    new_string: String,
    /// Whether to replace every occurrence of `old_string` (default false).
    #[serde(default)]
    replace_all: bool,
}

/// A file before and after.
struct EditedFile {
    /// None for a file that is made.
    before: Option<String>,
    after: TextReplacement,
    encoding: TextEncoding,
}

impl Edit {
    /// Returns the tool, asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(EditTool { workspace }, true)
    }
}

impl EditInput {
    /// Makes the change in memory.
    fn apply(&self, snapshot: Option<&LoadedFile>) -> Result<EditedFile, InvalidCall> {
        let path = &self.file_path;
        let Some(snapshot) = snapshot else {
            if !self.old_string.is_empty() {
                return Err(InvalidCall(format!(
                    "`{path}` does not exist; to make it, leave old_string empty or use Write"
                )));
            }
            let after = TextReplacement::new_file(&self.new_string);
            return Ok(EditedFile { before: None, after, encoding: TextEncoding::Utf8 });
        };
        if self.old_string.is_empty() {
            return Err(exists(path));
        }
        let DecodedText { content, encoding } = decode_for_editing(path, snapshot)?;
        let after =
            replace_text(path, &content, &self.old_string, &self.new_string, self.replace_all)?;
        Ok(EditedFile { before: Some(content), after, encoding })
    }

    /// Tells the model what the file looks like now, around the change.
    fn report(&self, edited: &EditedFile) -> String {
        let path = &self.file_path;
        let done = match (&edited.before, edited.after.count) {
            (None, _) => format!("The file {path} has been created."),
            (Some(_), 1) => format!("The file {path} has been updated."),
            (Some(_), count) => {
                format!("The file {path} has been updated: {count} occurrences were replaced.")
            }
        };
        let snippet = edited.after.snippet();
        format!("{done} Here is the result of running `cat -n` on a snippet of it:\n{snippet}")
    }
}

fn exists(path: &str) -> InvalidCall {
    InvalidCall(format!(
        "`{path}` exists already: an empty old_string only makes new files; say which text to \
         replace, or use Write to replace all of it"
    ))
}

/// Returns the text of a file that is to be edited.
pub(crate) fn decode_for_editing(
    path: &str,
    snapshot: &LoadedFile,
) -> Result<DecodedText, InvalidCall> {
    DecodedText::decode(&snapshot.bytes).map_err(|kind| {
        let bytes = size(snapshot.bytes.len() as u64);
        InvalidCall(format!("`{path}` {kind} ({bytes}): it cannot be edited as text; use Bash"))
    })
}

/// Replaces one text by another, or says why it cannot be told which is meant.
pub(crate) fn replace_text(
    path: &str,
    content: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<TextReplacement, InvalidCall> {
    TextReplacement::replace_text(content, old, new, all).map_err(|fault| match fault {
        ReplacementError::NotFound => InvalidCall(format!(
            "old_string is not in `{path}`. {}",
            hint::why_not_found(content, old, new)
        )),
        ReplacementError::NotUnique { lines, more } => {
            let count = lines.len() + more;
            let mut listed: Vec<String> = lines.iter().map(ToString::to_string).collect();
            if more > 0 {
                listed.push("…".to_owned());
            }
            InvalidCall(format!(
                "old_string occurs {count} times in `{path}` (at lines {}). Add lines around it \
                 until it is unique, or set replace_all to true to change every occurrence",
                listed.join(", ")
            ))
        }
    })
}

impl TypedTool for EditTool {
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = EditInput;
    type CheckedInput = (EditInput, EffectTarget);

    fn check(&self, input: EditInput, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        if input.old_string == input.new_string {
            return Err(InvalidCall(
                "old_string and new_string are the same: nothing would change".to_owned(),
            ));
        }
        let target = self.workspace.find(&call.cwd, &input.file_path)?;
        if input.old_string.is_empty() && path_effects::exists(&target) {
            return Err(exists(&input.file_path));
        }
        Ok((input, target))
    }

    fn plan(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let summary = format!("Edit `{}`", escape_to_line(&input.file_path));
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
        let edited = input.apply(standing.snapshot.as_ref())?;
        Ok(Preview::Diff(DiffPreview::new(
            input.file_path,
            edited.before.as_deref(),
            &edited.after.content,
            standing.preimage(),
        )))
    }
}

impl BlockingTool for EditTool {
    fn run_blocking(
        &self,
        (input, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&target)?;
        let in_words = |error: DiskError| error.into_tool_error(&input.file_path);
        let standing = FileSnapshot::read_permitted(&target.path, permit).map_err(in_words)?;
        let edited = input.apply(standing.snapshot.as_ref())?;
        standing.replace(&edited.encoding.encode(&edited.after.content)).map_err(in_words)?;
        Ok(ToolOutput::ok(input.report(&edited)))
    }
}
