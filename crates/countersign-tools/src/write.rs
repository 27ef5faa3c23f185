//! Write: puts a text where a file stands, or where none stands yet.

use async_trait::async_trait;
use countersign_core::{
    CallPlan, DiffPreview, EffectTarget, InvalidCall, Planner, Preimage, Preview, ToolCall,
    ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::disk::FileSnapshot;
use crate::escape::escape_to_line;
use crate::text::{DecodedText, TextEncoding};
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::workspace::Workspace;
use crate::{input, path_effects};

const DESCRIPTION: &str = "\
Writes a file to the local filesystem, replacing what is there.

- `file_path` is absolute, or relative to the working directory. Missing folders are made.
- `content` is the whole new content. To change part of a file, use Edit instead: it sends only what \
changes.
- Read an existing file before you write over it, so that nothing is lost that you have not seen.
- Do not write documentation or README files unless the user asks for them.
- The user may see the change as a diff before it is made and reject it.";

/// The tool that writes whole files.
#[derive(Clone, Debug)]
pub struct Write {
    workspace: Workspace,
    needs_approval: NeedsApproval,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteInput {
    /// The path of the file to write, absolute or relative to the working directory.
    file_path: String,
    /// The whole content to write.
    content: String,
}

impl Write {
    /// Returns the tool, asking before it runs.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, needs_approval: true.into() }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<(WriteInput, EffectTarget), InvalidCall> {
        let input: WriteInput = input::parse(call)?;
        let target = self.workspace.find(&call.cwd, &input.file_path)?;
        Ok((input, target))
    }
}

impl Planner for Write {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let (input, target) = self.read(call)?;
        let summary = format!("Write `{}`", escape_to_line(&input.file_path));
        Ok(CallPlan::new(path_effects::write_effects(&input.file_path, target)?, summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        let (input, target) = self.read(call)?;
        let in_words = |error: crate::disk::DiskError| error.in_preview(&input.file_path);
        let standing = FileSnapshot::read(&target.path).map_err(in_words)?;
        standing.check_writable().map_err(in_words)?;
        let preimage = standing.preimage();
        let old = standing.snapshot.as_ref().map(|snapshot| snapshot.bytes.as_slice());
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

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &'static str {
        "Write"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<WriteInput>()
    }

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let tool = self.clone();
        blocking(&cancel, move |_| tool.write(&permit)).await
    }
}

impl Write {
    fn write(&self, permit: &VerifiedPermit) -> Result<ToolOutput, ToolError> {
        let (WriteInput { file_path, content }, target) = self.read(permit.call())?;
        permit.check_reach(&target)?;
        let in_words = |error: crate::disk::DiskError| error.into_tool_error(&file_path);
        let standing = FileSnapshot::read(&target.path).map_err(in_words)?;
        standing.check(permit).map_err(in_words)?;
        // The diff that was shown compares texts: what it does not show stays as it was.
        let encoding = match standing.snapshot.as_ref().map(|old| DecodedText::decode(&old.bytes)) {
            Some(Ok(text)) => text.encoding,
            Some(Err(_)) | None => TextEncoding::Utf8,
        };
        standing.replace(&encoding.encode(&content)).map_err(in_words)?;
        let count = content.chars().count();
        Ok(ToolOutput::ok(format!("Wrote {count} characters to {file_path}")))
    }
}
