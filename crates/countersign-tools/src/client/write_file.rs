//! `write_file`: puts a text into a file of the client's project.

use countersign_core::{
    CallPlan, ClientFile, ClientLook, DiffPreview, Effect, EffectTarget, InvalidCall, Preimage,
    Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::report::{ClientToolReport, in_words};
use super::side::PathUse;
use super::{CONTENT_LIMIT, ClientSide};
use crate::files::disk::FileSnapshot;
use crate::files::escape::escape_to_line;
use crate::files::path_effects;
use crate::files::text::{DecodedText, TextEncoding, size};
use crate::tool::input;
use crate::tool::{BlockingTool, ToolAdapter, TypedTool, VerifiedPermit};
use crate::tool_error::ToolError;

const DESCRIPTION: &str = "\
Writes a text to a file of the project, in place of what is there.

- `path` is relative to the project's folder; nothing outside of it is reached. Missing folders are made.
- `content` is the whole new content, up to 10 MB. An existing file keeps its mode and its encoding.
- Read an existing file before you write over it, so that nothing is lost that you have not seen.
- The user may see the change before it is made and reject it.";

/// The client's tool that writes a file.
pub type WriteFile = ToolAdapter<WriteFileTool>;

/// How [`WriteFile`] plans, previews and runs a call.
#[derive(Clone, Debug)]
pub struct WriteFileTool {
    side: ClientSide,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFileInput {
    /// The path of the file, relative to the project's folder.
    path: String,
    /// The whole content to write.
    content: String,
}

impl WriteFile {
    /// Returns the tool for a project's folder, asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self::for_tool(WriteFileTool { side: side.into() }, true)
    }
}

impl TypedTool for WriteFileTool {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = DESCRIPTION;

    type Input = WriteFileInput;
    type CheckedInput = (WriteFileInput, EffectTarget);

    fn check(
        &self,
        input: WriteFileInput,
        _: &ToolCall,
    ) -> Result<Self::CheckedInput, InvalidCall> {
        let target = self.side.find(&input.path, PathUse::Change)?;
        if target.path == self.side.root() {
            return Err(InvalidCall(
                "`path` is the project's folder: name a file in it".to_owned(),
            ));
        }
        let bytes = input.content.len();
        if bytes > CONTENT_LIMIT {
            return Err(InvalidCall(format!(
                "`content` has {}, the limit is {}: write it in parts",
                size(bytes as u64),
                size(CONTENT_LIMIT as u64)
            )));
        }
        Ok((input, target))
    }

    fn plan(
        &self,
        (input, target): Self::CheckedInput,
        _: &ToolCall,
    ) -> Result<CallPlan, InvalidCall> {
        let summary = format!("Write `{}` on the client", escape_to_line(&input.path));
        let effects = match self.side.workspace() {
            Some(_) => path_effects::write_effects(&input.path, target)?,
            None => vec![Effect::Write(target)],
        };
        Ok(CallPlan::new(effects, summary))
    }

    /// Shows the change against the file as the client shows it. Where it does not, only the text that
    /// will be there.
    fn preview(
        &self,
        (input, target): Self::CheckedInput,
        call: &ToolCall,
    ) -> Result<Preview, InvalidCall> {
        if self.side.workspace().is_none() {
            let file = self.side.look().and_then(|look| look.file.as_ref());
            return Ok(match file {
                Some(file) => shown_against(file, input, call),
                None => input::as_preview(call),
            });
        }
        let invalid = |error| InvalidCall(in_words(error, &input.path).to_string());
        let standing = FileSnapshot::read_writable(&target.path).map_err(invalid)?;
        let preimage = standing.preimage();
        let old = standing.snapshot.as_ref().map(|snapshot| DecodedText::decode(&snapshot.bytes));
        match old.transpose() {
            Ok(old) => {
                let old = old.map(|text| text.content);
                let WriteFileInput { path, content } = input;
                Ok(Preview::Diff(DiffPreview::new(path, old.as_deref(), &content, preimage)))
            }
            // What is there cannot be shown; what will be there can.
            Err(_) => Ok(Preview::Generic { input: call.input.clone(), preimages: vec![preimage] }),
        }
    }

    fn read(&self, call: &ToolCall) -> Result<Self::CheckedInput, InvalidCall> {
        self.side.check_look()?;
        self.check(Self::parse(call)?, call)
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Self> {
        Some(Self { side: self.side.with_look(look) })
    }

    fn client_look(&self, call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        let (input, target) = self.read(call)?;
        let invalid = |error| InvalidCall(in_words(error, &input.path).to_string());
        let standing = FileSnapshot::read_writable(&target.path).map_err(invalid)?;
        let Preimage { path, digest } = standing.preimage();
        let Ok(path) = path.into_os_string().into_string() else {
            return Err(InvalidCall(
                "the project's folder has a name that is not UTF-8".to_owned(),
            ));
        };
        let text = standing.snapshot.as_ref().map(|old| DecodedText::decode(&old.bytes));
        let text = text.and_then(Result::ok).map(|text| text.content);
        let content = text.filter(|text| text.len() <= CONTENT_LIMIT);
        let file = Some(ClientFile { path, digest, content });
        Ok(ClientLook { file, ..self.side.empty_look() })
    }
}

impl BlockingTool for WriteFileTool {
    fn run_blocking(
        &self,
        (WriteFileInput { path, content }, target): Self::CheckedInput,
        permit: &VerifiedPermit,
        _: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(Self::NAME)?;
        permit.check_reach(&target)?;
        let standing = FileSnapshot::read_permitted(&target.path, permit)
            .map_err(|error| in_words(error, &path))?;
        let encoding = TextEncoding::for_overwriting(standing.bytes());
        let replaced = standing.replace(&encoding.encode(&content));
        replaced.map_err(|error| in_words(error, &path))?;
        let count = content.chars().count();
        ClientToolReport::from_text(format!("Wrote {count} characters to {path}")).output()
    }
}

/// Returns the change to a file of the client, as the client has shown it.
fn shown_against(file: &ClientFile, input: WriteFileInput, call: &ToolCall) -> Preview {
    let preimage = Preimage { path: file.path.clone().into(), digest: file.digest.clone() };
    let old = file.content.as_deref();
    // A file that was not shown cannot be compared, but it is known again.
    if old.is_none() && file.digest.is_some() {
        return Preview::Generic { input: call.input.clone(), preimages: vec![preimage] };
    }
    let old = old.filter(|_| file.digest.is_some());
    let WriteFileInput { path, content } = input;
    Preview::Diff(DiffPreview::new(path, old, &content, preimage))
}
