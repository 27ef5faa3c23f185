//! One running MCP server, or one that is reached by HTTP: lists its tools and calls them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    Implementation, JsonObject,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::Value;
use tokio::time::timeout;

use super::confinement::McpConfinement;
use super::declaration::{McpServerDeclaration, McpUrlDeclaration};
use super::pin::McpToolPin;
use crate::machine::Environment;
use crate::sandbox::CompanionProcess;

/// How long a server may take to be ready, and to list its tools.
const READY: Duration = Duration::from_secs(30);

/// How long a call may take.
const CALL: Duration = Duration::from_mins(10);

/// No message of a server is longer.
const MESSAGE_LIMIT: usize = 16 * 1024 * 1024;

/// Above this many tools a server is not taken for one.
const TOOLS: usize = 256;

/// Why an MCP server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// It could not be started.
    #[error("it could not be started: {0}")]
    Start(#[from] io::Error),
    /// It does not speak as it should.
    #[error("it does not answer as an MCP server: {why}{}", said(complaints))]
    Talk {
        /// What went wrong.
        why: String,
        /// What it wrote to its standard error.
        complaints: String,
    },
    /// It took too long.
    #[error("it did not answer within {} seconds", .0.as_secs())]
    Late(Duration),
}

fn said(complaints: &str) -> String {
    match complaints.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}

/// A server that was reached.
pub(super) struct McpConnection {
    client: RunningService<RoleClient, McpClientHandler>,
    /// None where it is reached by HTTP. Its group is ended with this.
    companion: Option<CompanionProcess>,
    is_stale: Arc<AtomicBool>,
}

/// Hears what a server says by itself. It asks us for nothing: we offer nothing.
struct McpClientHandler {
    is_stale: Arc<AtomicBool>,
}

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let version = env!("CARGO_PKG_VERSION");
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("countersign", version),
        )
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.is_stale.store(true, Ordering::Release);
    }
}

impl McpConnection {
    /// Reaches a server. Programs start in the workspace's folder, confined as they are declared.
    pub(super) async fn open(
        declared: &McpServerDeclaration,
        root: &Path,
        environment: &Environment,
        confinement: &McpConfinement,
    ) -> Result<Self, McpError> {
        let is_stale = Arc::new(AtomicBool::new(false));
        let listener = McpClientHandler { is_stale: Arc::clone(&is_stale) };
        let (client, companion) = match declared {
            McpServerDeclaration::Program(program) => {
                let confined = confinement.confined(program, root, environment).await?;
                let (companion, talk) = CompanionProcess::start(confined, root)?;
                let transport =
                    AsyncRwTransport::new(talk.from, talk.to).with_max_line_length(MESSAGE_LIMIT);
                let client = timeout(READY, listener.serve(transport)).await;
                let client = client.map_err(|_| McpError::Late(READY))?;
                (client.map_err(|error| talk_error(&error, Some(&companion)))?, Some(companion))
            }
            McpServerDeclaration::Url(McpUrlDeclaration { url, headers }) => {
                let transport = http(url, headers)?;
                let client = timeout(READY, listener.serve(transport)).await;
                let client = client.map_err(|_| McpError::Late(READY))?;
                (client.map_err(|error| talk_error(&error, None))?, None)
            }
        };
        Ok(Self { client, companion, is_stale })
    }

    /// Returns what the server calls itself.
    pub(super) fn server(&self) -> String {
        let info = self.client.peer_info();
        let told = info.as_ref().and_then(|info| info.server_info.as_ref());
        told.map(|it| format!("{} {}", it.name, it.version)).unwrap_or_default()
    }

    /// Lists the tools as they describe themselves now.
    pub(super) async fn tools(&self) -> Result<Vec<McpToolPin>, McpError> {
        self.is_stale.store(false, Ordering::Release);
        let listed = timeout(READY, self.client.list_all_tools()).await;
        let listed = listed.map_err(|_| McpError::Late(READY))?;
        let listed = listed.map_err(|error| self.talk_error(&error))?;
        if listed.len() > TOOLS {
            let why = format!("it has {} tools, the limit is {TOOLS}", listed.len());
            return Err(McpError::Talk { why, complaints: String::new() });
        }
        let tools = listed.into_iter().map(|tool| McpToolPin {
            name: tool.name.into_owned(),
            description: tool.description.map(Cow::into_owned).unwrap_or_default(),
            input_schema: Value::Object(JsonObject::clone(&tool.input_schema)),
        });
        Ok(tools.collect())
    }

    /// Returns whether the server has said that its tools are others now.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// Returns whether nobody is there any more.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.client.is_transport_closed()
    }

    /// Calls a tool. Dropping the future tells the server that nobody waits any more.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, McpError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answered = timeout(CALL, self.client.call_tool_once(params)).await;
        let answered = answered.map_err(|_| McpError::Late(CALL))?;
        match answered.map_err(|error| self.talk_error(&error))? {
            CallToolResponse::Complete(result) => Ok(result),
            // We have said that we offer neither.
            _ => Err(McpError::Talk {
                why: "it wants something from us that we do not offer".to_owned(),
                complaints: String::new(),
            }),
        }
    }

    fn talk_error(&self, error: &dyn std::error::Error) -> McpError {
        talk_error(error, self.companion.as_ref())
    }
}

fn talk_error(error: &dyn std::error::Error, companion: Option<&CompanionProcess>) -> McpError {
    let complaints = companion.map(CompanionProcess::complaints).unwrap_or_default();
    McpError::Talk { why: error.to_string(), complaints }
}

/// Who redirects us is not who was consented to.
fn http(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, McpError> {
    let other =
        |error: &dyn std::fmt::Display| McpError::Start(io::Error::other(error.to_string()));
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(READY)
        .build()
        .map_err(|error| other(&error))?;
    let mut sent = HashMap::new();
    for (name, value) in headers {
        let name: HeaderName = name.parse().map_err(|_| other(&"a header has no proper name"))?;
        let value: HeaderValue =
            value.parse().map_err(|_| other(&"a header has no proper value"))?;
        sent.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(sent);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
