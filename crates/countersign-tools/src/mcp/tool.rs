//! One tool of a pinned MCP server, as a tool like any other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use countersign_core::{
    Attachment, AttachmentKind, CallPlan, InvalidCall, Planner, Preview, ToolCall, ToolOutput,
};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::pin::McpToolPin;
use super::planner::McpTool;
use super::servers::McpServers;
use crate::files::truncate::cap;
use crate::tool::{Tool, VerifiedPermit};
use crate::tool_error::ToolError;

/// Above this many characters the model's API refuses a name.
const NAME_LIMIT: usize = 64;

/// How many characters of an answer are given back.
const ANSWER_LIMIT: usize = 60_000;

/// Pictures that the model can look at, and how large they may be in Base64.
const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
const PICTURE_LIMIT: usize = 5 * 1024 * 1024;

/// A tool of a server that a person has consented to.
pub(super) struct PinnedServerTool {
    servers: Arc<McpServers>,
    root: PathBuf,
    server: String,
    tool: McpToolPin,
    name: String,
    planner: McpTool,
}

impl PinnedServerTool {
    /// Returns the tool; none if its name cannot be said to a model.
    pub(super) fn new(
        servers: Arc<McpServers>,
        root: &Path,
        server: &str,
        tool: &McpToolPin,
    ) -> Option<Self> {
        let name = format!("mcp__{server}__{}", tool.name);
        let planner = McpTool::named(&name)?;
        let fits = name.len() <= NAME_LIMIT && !name.contains('.');
        fits.then(|| Self {
            servers,
            root: root.to_owned(),
            server: server.to_owned(),
            tool: tool.clone(),
            name,
            planner,
        })
    }
}

impl Planner for PinnedServerTool {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        self.planner.plan(call)
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.planner.preview(call)
    }
}

#[async_trait]
impl Tool for PinnedServerTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.tool.description
    }

    fn input_schema(&self) -> Value {
        self.tool.input_schema.clone()
    }

    async fn needs_approval(&self, _: &Value) -> bool {
        true
    }

    async fn run(
        &self,
        permit: VerifiedPermit,
        cancel: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = permit.call().input.clone() else {
            return Err(ToolError::invalid("the input is not an object"));
        };
        let calling = self.servers.call(&self.root, &self.server, &self.tool, arguments);
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::Interrupted),
            result = calling => result.map(output),
        }
    }
}

/// Says an answer in the words of the model's API.
fn output(result: CallToolResult) -> ToolOutput {
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    for block in result.content {
        match block {
            ContentBlock::Text(text) => texts.push(text.text),
            ContentBlock::Image(image)
                if PICTURES.contains(&image.mime_type.as_str())
                    && image.data.len() <= PICTURE_LIMIT =>
            {
                let (media_type, data) = (image.mime_type, image.data);
                pictures.push(Attachment { kind: AttachmentKind::Image, media_type, data });
            }
            ContentBlock::Image(image) => {
                texts.push(format!("[a picture that cannot be shown: {}]", image.mime_type));
            }
            ContentBlock::Audio(audio) => {
                texts.push(format!("[a sound that cannot be heard: {}]", audio.mime_type));
            }
            ContentBlock::Resource(embedded) => texts.push(match embedded.resource {
                ResourceContents::TextResourceContents { uri, text, .. } => {
                    format!("[{uri}]\n{text}")
                }
                ResourceContents::BlobResourceContents { uri, .. } => format!("[data at {uri}]"),
                _ => "[something that cannot be shown]".to_owned(),
            }),
            ContentBlock::ResourceLink(link) => {
                texts.push(format!("[{}: {}]", link.name, link.uri));
            }
            _ => texts.push("[something that cannot be shown]".to_owned()),
        }
    }
    if texts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        texts.push(structured.to_string());
    }
    let content = cap(&texts.join("\n"), ANSWER_LIMIT);
    let is_error = result.is_error.unwrap_or(false);
    ToolOutput { content, is_error, attachments: pictures }
}
