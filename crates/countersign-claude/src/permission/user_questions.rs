//! What else the CLI may ask a person: a question of an MCP server, a dialog.

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question of an MCP server to the user.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The server.
    pub mcp_server_name: String,
    /// What it asks.
    pub message: String,
    /// `form` or `url`.
    #[serde(default)]
    pub mode: Option<String>,
    /// Where the user is to go.
    #[serde(default)]
    pub url: Option<String>,
    /// The server's id for the question.
    #[serde(default)]
    pub elicitation_id: Option<String>,
    /// What the answer has to look like.
    #[serde(default)]
    pub requested_schema: Option<Value>,
    /// The whole request as it came.
    #[serde(skip)]
    pub raw: Value,
}

/// The answer to an [`ElicitationRequest`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum ElicitationAnswer {
    /// Given.
    Accept {
        /// What was filled in.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Value>,
    },
    /// Refused.
    Decline,
    /// Closed without an answer.
    Cancel,
}

/// Whoever answers questions of MCP servers; an async closure will do.
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Answers one question.
    fn answer(&self, question: ElicitationRequest) -> BoxFuture<'static, ElicitationAnswer>;
}

impl<F, R> ElicitationHandler for F
where
    F: Fn(ElicitationRequest) -> R + Send + Sync + 'static,
    R: Future<Output = ElicitationAnswer> + Send + 'static,
{
    fn answer(&self, question: ElicitationRequest) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(self(question))
    }
}

/// A dialog the CLI wants shown.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct DialogRequest {
    /// Which one.
    pub dialog_kind: String,
    /// What it is to show.
    #[serde(default)]
    pub payload: Value,
    /// The tool call it belongs to.
    #[serde(default)]
    pub tool_use_id: Option<String>,
}

/// How a [`DialogRequest`] ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum DialogAnswer {
    /// With a result.
    Completed {
        /// The result.
        result: Value,
    },
    /// Without one.
    Cancelled,
}

/// Whoever shows dialogs; an async closure will do.
pub trait DialogHandler: Send + Sync + 'static {
    /// Shows one dialog.
    fn show(&self, dialog: DialogRequest) -> BoxFuture<'static, DialogAnswer>;
}

impl<F, R> DialogHandler for F
where
    F: Fn(DialogRequest) -> R + Send + Sync + 'static,
    R: Future<Output = DialogAnswer> + Send + 'static,
{
    fn show(&self, dialog: DialogRequest) -> BoxFuture<'static, DialogAnswer> {
        Box::pin(self(dialog))
    }
}
