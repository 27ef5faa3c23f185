//! Write: puts a text where a file stands, or where none stands yet.

use countersign_core::{
    CallPlan, DiffPreview, EffectTarget, InvalidCall, Preimage, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::files::disk::{DiskError, FileSnapshot};
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::{DecodedText, TextEncoding};
use crate::files::workspace::Workspace;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Writes a file to the local filesystem, replacing what is there.

- `file_path` is absolute, or relative to the working directory. Missing folders are made.
- `content` is the whole new content. To change part of a file, use Edit instead: it sends only what \
changes.
- Read an existing file before you write over it, so that nothing is lost that you have not seen.
- Do not write documentation or README files unless the user asks for them.
- The user may see the change as a diff before it is made and reject it.";

/// The tool that writes whole files.
pub type Write = ToolAdapter<WriteTool>;

/// How [`Write`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct WriteTool {
    workspace: Workspace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteInput {
    /// The path of the file to write, absolute or relative to the working directory.
    file_path: String,
    /// The whole content to write.
    content: String,
}

impl Write {
    /// Returns the tool, asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self::for_tool(WriteTool { workspace }, true)
    }
}

impl TypedTool for WriteTool {
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = WriteInput;
    type CheckedInput = (WriteInput, EffectTarget);

    fn check(&self, input: WriteInput, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.workspace.find(&call.cwd, &input.file_path)?;
        Ok((input, target))
    }

    fn plan(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let summary = format!("Write `{}`", escape_to_line(&input.file_path));
        Ok(CallPlan::new(path_effects::write_effects(&input.file_path, target)?, summary))
    }

    fn preview(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<Preview, InvalidCall> {
        let in_words = |error: DiskError| error.in_preview(&input.file_path);
        let standing = FileSnapshot::read_writable(&target.path).map_err(in_words)?;
        let preimage = standing.preimage();
        let old = standing.bytes();
        let Ok(original) = old.map(DecodedText::decode).transpose() else {
            return Ok(Preview::Diff(over_binary(input, old.map(<[u8]>::len), preimage)));
        };
        let original = original.map(|text| text.content);
        Ok(Preview::Diff(DiffPreview::new(
            input.file_path,
            original.as_deref(),
            &input.content,
            preimage,
        )))
    }
}

impl BlockingTool for WriteTool {
    fn run_blocking(
        &self,
        (WriteInput { file_path, content }, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        permit.check_reach(&target)?;
        let in_words = |error: DiskError| error.into_tool_error(&file_path);
        let standing = FileSnapshot::read_permitted(&target.path, permit).map_err(in_words)?;
        // The diff that was shown compares texts: what it does not show stays as it was.
        let encoding = TextEncoding::for_overwriting(standing.bytes());
        standing.replace(&encoding.encode(&content)).map_err(in_words)?;
        let count = content.chars().count();
        Ok(ToolOutput::ok(format!("Wrote {count} characters to {file_path}")))
    }
}

/// Shows a text that replaces what is none: what is there cannot be shown, what will be there can.
fn over_binary(input: WriteInput, old: Option<usize>, preimage: Preimage) -> DiffPreview {
    let WriteInput { file_path, content } = input;
    let size = |bytes: usize| bytes as u64;
    let new = Some(size(content.len()));
    let change = DiffPreview::for_binary(file_path, old.map(size), new, preimage);
    let short = content.len() <= DiffPreview::CONTENT_LIMIT;
    DiffPreview {
        new_lines: content.lines().count(),
        new_content: short.then_some(content),
        ..change
    }
}
