//! `write_file`: puts a text into a file of the client's project.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    CallPlan, ClientFile, ClientLook, DiffPreview, Effect, EffectTarget, InvalidCall, Planner,
    Preimage, Preview, ToolCall, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::report::{ClientToolReport, in_words};
use super::side::PathUse;
use super::{CONTENT_LIMIT, ClientSide};
use crate::blocking::blocking;
use crate::disk::FileSnapshot;
use crate::escape::escape_to_line;
use crate::text::{DecodedText, TextEncoding, size};
use crate::tool::{NeedsApproval, Tool, ToolError, VerifiedPermit};
use crate::{input, path_effects};

const DESCRIPTION: &str = "\
Writes a text to a file of the project, in place of what is there.

- `path` is relative to the project's folder; nothing outside of it is reached. Missing folders are made.
- `content` is the whole new content, up to 10 MB. An existing file keeps its mode and its encoding.
- Read an existing file before you write over it, so that nothing is lost that you have not seen.
- The user may see the change before it is made and reject it.";

/// The client's tool that writes a file.
#[derive(Clone, Debug)]
pub struct WriteFile {
    side: ClientSide,
    needs_approval: NeedsApproval,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteFileInput {
    /// The path of the file, relative to the project's folder.
    path: String,
    /// The whole content to write.
    content: String,
}

impl WriteFile {
    /// Returns the tool for a project's folder, asking before it runs.
    pub fn new(side: impl Into<ClientSide>) -> Self {
        Self { side: side.into(), needs_approval: true.into() }
    }

    /// Sets whether it asks before it runs.
    #[must_use]
    pub fn with_needs_approval(self, needs_approval: impl Into<NeedsApproval>) -> Self {
        Self { needs_approval: needs_approval.into(), ..self }
    }

    fn read(&self, call: &ToolCall) -> Result<(WriteFileInput, EffectTarget), InvalidCall> {
        let input: WriteFileInput = input::parse(call)?;
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

    fn write(&self, permit: &VerifiedPermit) -> Result<ToolOutput, ToolError> {
        let (WriteFileInput { path, content }, target) = self.read(permit.call())?;
        permit.check_reach(&target)?;
        let standing = FileSnapshot::read(&target.path).map_err(|error| in_words(error, &path))?;
        standing.check(permit).map_err(|error| in_words(error, &path))?;
        let encoding = match standing.snapshot.as_ref().map(|old| DecodedText::decode(&old.bytes)) {
            Some(Ok(text)) => text.encoding,
            Some(Err(_)) | None => TextEncoding::Utf8,
        };
        let replaced = standing.replace(&encoding.encode(&content));
        replaced.map_err(|error| in_words(error, &path))?;
        let count = content.chars().count();
        ClientToolReport::from_text(format!("Wrote {count} characters to {path}")).output()
    }
}

impl Planner for WriteFile {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        self.side.check_look()?;
        let (input, target) = self.read(call)?;
        let summary = format!("Write `{}` on the client", escape_to_line(&input.path));
        let effects = match self.side.workspace() {
            Some(_) => path_effects::write_effects(&input.path, target)?,
            None => vec![Effect::Write(target)],
        };
        Ok(CallPlan::new(effects, summary))
    }

    fn with_client_look(&self, look: &ClientLook) -> Option<Arc<dyn Planner>> {
        Some(Arc::new(Self { side: self.side.with_look(look), ..self.clone() }))
    }

    /// Shows the change against the file as the client shows it. Where it does not, only the text that
    /// will be there.
    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        let (input, target) = self.read(call)?;
        if self.side.workspace().is_none() {
            let file = self.side.look().and_then(|look| look.file.as_ref());
            return Ok(match file {
                Some(file) => shown_against(file, input, call),
                None => input::as_preview(call),
            });
        }
        let invalid = |error| InvalidCall(in_words(error, &input.path).to_string());
        let standing = FileSnapshot::read(&target.path).map_err(invalid)?;
        standing.check_writable().map_err(invalid)?;
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

#[async_trait]
impl Tool for WriteFile {
    fn name(&self) -> &'static str {
        "write_file"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn input_schema(&self) -> Value {
        input::schema_of::<WriteFileInput>()
    }

    fn client_look(&self, call: &ToolCall) -> Result<ClientLook, InvalidCall> {
        let (input, target) = self.read(call)?;
        let invalid = |error| InvalidCall(in_words(error, &input.path).to_string());
        let standing = FileSnapshot::read(&target.path).map_err(invalid)?;
        standing.check_writable().map_err(invalid)?;
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

    async fn needs_approval(&self, params: &Value) -> bool {
        self.needs_approval.applies_to(params).await
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        self.side.check_runs(self.name())?;
        let tool = self.clone();
        blocking(&cancel, move |_| tool.write(&permit)).await
    }
}
