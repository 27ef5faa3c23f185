//! A tool of an in-process server.

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// A tool of an in-process server.
#[derive(Clone)]
#[must_use = "a tool is reached only once it is part of a server"]
pub struct SdkMcpTool {
    name: String,
    description: String,
    schema: Value,
    annotations: Map<String, Value>,
    meta: Map<String, Value>,
    run:
        Arc<dyn Fn(Value, SdkMcpToolContext) -> BoxFuture<'static, SdkMcpToolOutput> + Send + Sync>,
}

/// What a tool is given besides its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SdkMcpToolContext {
    /// Fires when nobody waits for the result any more.
    pub cancelled: CancellationToken,
    /// What the client said about the call.
    pub meta: Option<Value>,
}

impl SdkMcpTool {
    /// Makes a tool whose arguments are a Rust type.
    ///
    /// The type's schema is what the model sees. Arguments that do not fit never reach the
    /// function; the model reads why, and may try again. So it does when the function returns an
    /// `Err` or panics.
    pub fn new<A, F, R, O>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(A, SdkMcpToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Into<SdkMcpToolOutput>,
    {
        let schema = object_schema(schemars::schema_for!(A).to_value());
        Self::with_schema(name, description, schema, move |arguments, context| {
            let running = serde_json::from_value(arguments).map(|it| run(it, context));
            async move {
                match running {
                    Ok(running) => running.await.into(),
                    Err(error) => {
                        SdkMcpToolOutput::error(format!("the arguments do not fit: {error}"))
                    }
                }
            }
        })
    }

    /// Makes a tool with a schema of your own. The arguments are not checked against it.
    pub fn with_schema<F, R, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        run: F,
    ) -> Self
    where
        F: Fn(Value, SdkMcpToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Into<SdkMcpToolOutput>,
    {
        let run = Arc::new(move |arguments, context| {
            let running = run(arguments, context);
            async move { running.await.into() }.boxed()
        });
        Self {
            name: name.into(),
            description: description.into(),
            schema,
            annotations: Map::new(),
            meta: Map::new(),
            run,
        }
    }

    /// Notes something about the tool: `readOnlyHint`, `destructiveHint`, `idempotentHint`,
    /// `openWorldHint` or `title`.
    pub fn annotate(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }

    /// Notes something for the CLI: `anthropic/maxResultSizeChars`, `anthropic/alwaysLoad`,
    /// `anthropic/searchHint`, `anthropic/requiresUserInteraction`, `claude/endTurn`.
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn listing(&self) -> Value {
        let mut listing = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
        });
        if let Some(listing) = listing.as_object_mut() {
            for (key, notes) in [("annotations", &self.annotations), ("_meta", &self.meta)] {
                if !notes.is_empty() {
                    listing.insert(key.to_owned(), json!(notes));
                }
            }
        }
        listing
    }

    pub(super) async fn call(
        &self,
        arguments: Value,
        context: SdkMcpToolContext,
    ) -> SdkMcpToolOutput {
        // The function itself may panic before it returns its future.
        let running = AssertUnwindSafe(async { (self.run)(arguments, context).await });
        let failed = |_| SdkMcpToolOutput::error(format!("the tool `{}` panicked", self.name));
        running.catch_unwind().await.unwrap_or_else(failed)
    }
}

/// Makes sure the schema says that it is of an object, which the protocol asks for.
fn object_schema(schema: Value) -> Value {
    let mut schema = if schema.is_object() { schema } else { json!({}) };
    if let Some(schema) = schema.as_object_mut() {
        schema.entry("type").or_insert_with(|| json!("object"));
        schema.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// What a tool returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SdkMcpToolOutput {
    /// What the model reads.
    pub content: Vec<SdkMcpToolContent>,
    /// The same for programs.
    pub structured: Option<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// A piece of what a tool returns.
#[derive(Clone, Debug, PartialEq)]
pub enum SdkMcpToolContent {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Base64.
        data: String,
        /// What kind of image.
        mime_type: String,
    },
    /// A piece this crate has no name for.
    Other(Value),
}

impl SdkMcpToolOutput {
    /// Returns text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![SdkMcpToolContent::Text(text.into())], ..Self::default() }
    }

    /// Returns a failure the model reads.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    pub(super) fn to_wire(&self) -> Value {
        let content: Vec<_> = self
            .content
            .iter()
            .map(|piece| match piece {
                SdkMcpToolContent::Text(text) => json!({ "type": "text", "text": text }),
                SdkMcpToolContent::Image { data, mime_type } => {
                    json!({ "type": "image", "data": data, "mimeType": mime_type })
                }
                SdkMcpToolContent::Other(value) => value.clone(),
            })
            .collect();
        let mut wire = json!({ "content": content, "isError": self.is_error });
        if let (Some(wire), Some(structured)) = (wire.as_object_mut(), &self.structured) {
            wire.insert("structuredContent".to_owned(), structured.clone());
        }
        wire
    }
}

impl From<String> for SdkMcpToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for SdkMcpToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl<O: Into<SdkMcpToolOutput>, E: Display> From<Result<O, E>> for SdkMcpToolOutput {
    fn from(result: Result<O, E>) -> Self {
        match result {
            Ok(output) => output.into(),
            Err(error) => Self::error(error.to_string()),
        }
    }
}
