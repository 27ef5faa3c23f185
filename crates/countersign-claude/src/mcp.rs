//! MCP servers: those that run elsewhere, and those that run in this process.
//!
//! To an in-process server the CLI is the client; each JSON-RPC message arrives as a control
//! request and is answered in the reply to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

mod rpc;
mod server;
#[cfg(test)]
mod tests;
mod tool;

pub(crate) use rpc::error as rpc_error;
pub use tool::{SdkMcpTool, SdkMcpToolContent, SdkMcpToolContext, SdkMcpToolOutput};

/// An MCP server that runs elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum McpServerConfig {
    /// A program that speaks over its input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: BTreeMap<String, String>,
    },
    /// A server behind an event stream.
    Sse {
        /// Its address.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
    },
    /// A server behind HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
    },
    /// A configuration this crate has no name for.
    #[serde(untagged)]
    Other(Value),
}

/// An MCP server that runs in this process.
///
/// ```
/// use countersign_claude::{McpServer, Options, SdkMcpTool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// let add = SdkMcpTool::new("add", "Adds two numbers", async |args: Add, _| {
///     (args.a + args.b).to_string()
/// });
/// let options = Options::new()
///     .sdk_mcp_server(McpServer::new("calculator", "1.0.0").tool(add))
///     .allowed_tools(["mcp__calculator__add"]);
/// ```
#[derive(Clone)]
#[must_use = "a server is reached only once it is part of the options"]
pub struct McpServer {
    name: String,
    timeout: Option<Duration>,
    kind: McpServerKind,
}

#[derive(Clone)]
enum McpServerKind {
    Tools(Arc<server::McpToolServer>),
    Raw(Arc<dyn RawMcpServer>),
}

/// A server that is given JSON-RPC messages as they come, to plug in another implementation of the
/// protocol, with resources and prompts.
pub trait RawMcpServer: Send + Sync + 'static {
    /// Takes a message of the client in. A request is answered, a notification is not.
    fn receive(
        &self,
        message: Value,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Option<Value>>;
}

impl McpServer {
    /// Makes a server without tools. Its name is part of theirs: `mcp__<server>__<tool>`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let name = name.into();
        let server = server::McpToolServer::new(name.clone(), version.into());
        Self { name, timeout: None, kind: McpServerKind::Tools(Arc::new(server)) }
    }

    /// Makes a server that is given the messages as they come.
    pub fn raw(name: impl Into<String>, server: impl RawMcpServer) -> Self {
        Self { name: name.into(), timeout: None, kind: McpServerKind::Raw(Arc::new(server)) }
    }

    /// Adds a tool; one of the same name is replaced. A raw server knows its tools itself and
    /// stays as it is.
    pub fn tool(mut self, tool: SdkMcpTool) -> Self {
        if let McpServerKind::Tools(server) = &mut self.kind {
            Arc::make_mut(server).add(tool);
        }
        self
    }

    /// Tells the model how to use the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        if let McpServerKind::Tools(server) = &mut self.kind {
            Arc::make_mut(server).instructions = Some(text.into());
        }
        self
    }

    /// Sets how long the CLI waits for a call, at least a second.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout.max(Duration::from_secs(1)));
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn call_timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Takes a message in and returns the reply, which for a notification says nothing.
    pub(crate) async fn receive(&self, message: Value, cancelled: CancellationToken) -> Value {
        let reply = match &self.kind {
            McpServerKind::Tools(server) => server.receive(message, cancelled).await,
            McpServerKind::Raw(server) => server.receive(message, cancelled).await,
        };
        // The CLI waits for a reply to its control request even where the protocol has none.
        reply.unwrap_or_else(|| serde_json::json!({ "jsonrpc": "2.0", "result": {}, "id": 0 }))
    }
}
