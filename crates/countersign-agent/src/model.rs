//! The seam to a language model: one request in, a stream of events out.
//!
//! Two real implementations: [`AnthropicModel`](crate::AnthropicModel) over HTTPS and
//! [`ScriptedModel`](crate::scripted::ScriptedModel) in-process.

mod error;
mod event;

use std::pin::Pin;

use async_trait::async_trait;
use futures_util::Stream;
use serde_json::{Map, Value};

pub(crate) use self::error::ApiErrorDetails;
pub use self::error::ModelError;
pub use self::event::{AnswerStopReason, AnswerUsage, ModelStreamEvent, PartialAnswerUsage};
use crate::message::ModelMessage;

/// A language model that speaks the Messages API.
#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// Returns what to show people, such as `anthropic` or `scripted`.
    fn name(&self) -> &str;

    /// Asks for one answer.
    ///
    /// Does not retry: that is for [`ask_model`](crate::ask_model()). Dropping the stream ends the answer.
    async fn stream(&self, request: &ModelRequest) -> Result<ModelEventStream, ModelError>;
}

/// One answer as it comes in. Ends after [`ModelStreamEvent::MessageStop`] or the first error.
pub type ModelEventStream =
    Pin<Box<dyn Stream<Item = Result<ModelStreamEvent, ModelError>> + Send>>;

/// What a model is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The model, by the server's name for it.
    pub model: String,
    /// How long the answer may be.
    pub max_tokens: u32,
    /// The system prompt; none if empty.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<ModelMessage>,
    /// The tools the model may ask for.
    pub tools: Vec<ToolSpec>,
    /// Further top-level fields of the API, such as `thinking` or `metadata`.
    pub extra: Map<String, Value>,
}

/// A tool as it is described to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it is for, in the words for the model.
    pub description: String,
    /// The JSON schema of its input.
    pub input_schema: Value,
}
