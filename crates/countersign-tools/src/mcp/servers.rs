//! The MCP servers of all workspaces: which are declared, which pinned, and those that run.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rmcp::model::{CallToolResult, JsonObject};
use tokio::sync::Mutex;

use super::confinement::McpConfinement;
use super::connection::{McpConnection, McpError};
use super::declaration::{McpDeclarationError, McpServerDeclaration, parse_declarations};
use super::pin::{self, McpPinFile, McpServerPin, McpToolPin};
use super::tool::PinnedServerTool;
use crate::machine::Environment;
use crate::tool::Toolbox;
use crate::tool_error::ToolError;

/// The file in a workspace that declares servers, beside its rules.
const WORKSPACE_FILE: &str = "countersign.toml";

/// How a declared server stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// A person has consented to it as it is declared.
    Pinned,
    /// A person has consented to it as it was declared once; it is not used.
    Changed,
    /// Nobody has consented to it; it is not used.
    New,
}

/// The servers that can be used, started when they are first called.
pub struct McpServers {
    /// The pins, in our data.
    pins: PathBuf,
    /// The user's own file, whose servers every workspace has.
    user: Option<PathBuf>,
    environment: Environment,
    confinement: McpConfinement,
    running: RwLock<HashMap<McpServerKey, McpServerSlot>>,
}

/// One server of one workspace.
type McpServerKey = (PathBuf, String);

/// Where a server runs, if it does; whoever starts it holds the lock.
type McpServerSlot = Arc<Mutex<Option<RunningMcpServer>>>;

struct RunningMcpServer {
    connection: Arc<McpConnection>,
    /// What it was started as.
    pin: McpServerPin,
    /// Its tools, as they described themselves last.
    tools: Vec<McpToolPin>,
}

impl McpServers {
    /// Returns the servers whose pins are in a file; programs see `environment`, and run as they are.
    pub fn new(pins: PathBuf, user: Option<PathBuf>, environment: Environment) -> Self {
        let confinement = McpConfinement::none();
        Self { pins, user, environment, confinement, running: RwLock::default() }
    }

    /// Confines what they run.
    #[must_use]
    pub fn confined_by(self, confinement: McpConfinement) -> Self {
        Self { confinement, ..self }
    }

    /// Returns what they are confined by.
    pub fn confinement(&self) -> &McpConfinement {
        &self.confinement
    }

    /// Returns what is declared for a workspace. Where both files name a server, the user's counts.
    pub fn declared(
        &self,
        root: &Path,
    ) -> Result<BTreeMap<String, McpServerDeclaration>, McpDeclarationError> {
        let mut found = BTreeMap::new();
        let own = root.join(WORKSPACE_FILE);
        for file in [Some(&own), self.user.as_ref()].into_iter().flatten() {
            // One that cannot be read declares nothing; that it cannot is told with its rules.
            if let Ok(text) = std::fs::read_to_string(file) {
                found.extend(parse_declarations(&text)?);
            }
        }
        Ok(found)
    }

    /// Returns how each declared server of a workspace stands.
    pub fn trust_statuses(
        &self,
        root: &Path,
    ) -> Result<Vec<(String, McpServerDeclaration, TrustStatus)>, McpDeclarationError> {
        let pins = self.pins();
        let stands = |(name, declared): (String, McpServerDeclaration)| {
            let standing = match pins.get(root, &name) {
                Some(pin) if pin.declared == declared => TrustStatus::Pinned,
                Some(_) => TrustStatus::Changed,
                None => TrustStatus::New,
            };
            (name, declared, standing)
        };
        Ok(self.declared(root)?.into_iter().map(stands).collect())
    }

    /// Adds the tools of the pinned servers of a workspace, in the words that a person has seen.
    #[must_use]
    pub fn add_to(self: &Arc<Self>, toolbox: Toolbox, root: &Path) -> Toolbox {
        let declared = self.declared(root).unwrap_or_else(|error| {
            tracing::warn!(%error, "the MCP servers of a workspace cannot be read");
            BTreeMap::new()
        });
        let pins = self.pins();
        let pinned =
            pins.for_root(root).filter(|(name, pin)| declared.get(*name) == Some(&pin.declared));
        pinned
            .flat_map(|(name, pin)| pin.tools.iter().map(move |tool| (name, tool)))
            .filter_map(|(name, tool)| PinnedServerTool::new(Arc::clone(self), root, name, tool))
            .fold(toolbox, Toolbox::with)
    }

    /// Reaches a server and looks at it: what a person is to consent to.
    pub async fn inspect_server(
        &self,
        root: &Path,
        declared: &McpServerDeclaration,
    ) -> Result<McpServerPin, McpError> {
        let files = self.files(root, declared).await?;
        let connection = self.open(root, declared).await?;
        let (server, tools) = (connection.server(), connection.tools().await?);
        Ok(McpServerPin { declared: declared.clone(), files, server, tools })
    }

    /// Keeps what a person has consented to, or forgets it.
    pub fn pin(&self, root: &Path, name: &str, pin: Option<McpServerPin>) -> io::Result<()> {
        let mut pins = McpPinFile::read(&self.pins)?;
        pins.set(root, name, pin)?;
        pins.write(&self.pins)
    }

    /// Returns the pin of a server.
    pub fn pinned(&self, root: &Path, name: &str) -> Option<McpServerPin> {
        self.pins().get(root, name).cloned()
    }

    /// Ends all servers that run.
    pub async fn close(&self) {
        let running: Vec<McpServerSlot> = {
            let mut running = self.running.write().unwrap_or_else(PoisonError::into_inner);
            running.drain().map(|(_, slot)| slot).collect()
        };
        for slot in running {
            slot.lock().await.take();
        }
    }

    /// Calls a tool, if server and tool are what was consented to.
    pub(super) async fn call(
        &self,
        root: &Path,
        server: &str,
        tool: &McpToolPin,
        arguments: JsonObject,
    ) -> Result<CallToolResult, ToolError> {
        let connection = self.connection(root, server, tool).await?;
        let called = connection.call(&tool.name, arguments).await;
        called.map_err(|error| call_failed_error("use the MCP server", server, &error))
    }

    /// Returns where to call a tool: the server runs, and it and the tool are what they should be.
    async fn connection(
        &self,
        root: &Path,
        server: &str,
        tool: &McpToolPin,
    ) -> Result<Arc<McpConnection>, ToolError> {
        let slot = self.slot(root, server);
        let mut slot = slot.lock().await;
        let pin = self.still_pinned(root, server)?;
        if slot.as_ref().is_some_and(|it| it.connection.is_closed() || it.pin != pin) {
            *slot = None;
        }
        let running = match &mut *slot {
            Some(running) => running,
            none => none.insert(self.start(root, server, pin).await?),
        };
        if running.connection.is_stale() {
            let listed = running.connection.tools().await;
            running.tools =
                listed.map_err(|error| call_failed_error("use the MCP server", server, &error))?;
        }
        if !running.tools.contains(tool) {
            return Err(server_changed_error(
                server,
                &format!("the tool `{}` describes itself", tool.name),
            ));
        }
        Ok(Arc::clone(&running.connection))
    }

    async fn start(
        &self,
        root: &Path,
        server: &str,
        pin: McpServerPin,
    ) -> Result<RunningMcpServer, ToolError> {
        let failed = |error: McpError| call_failed_error("start the MCP server", server, &error);
        if self.files(root, &pin.declared).await.map_err(failed)? != pin.files {
            return Err(server_changed_error(server, "what starting it would run"));
        }
        let opened = self.open(root, &pin.declared).await;
        let connection = Arc::new(opened.map_err(failed)?);
        let tools = connection.tools().await.map_err(failed)?;
        Ok(RunningMcpServer { connection, pin, tools })
    }

    async fn open(
        &self,
        root: &Path,
        declared: &McpServerDeclaration,
    ) -> Result<McpConnection, McpError> {
        McpConnection::open(declared, root, &self.environment, &self.confinement).await
    }

    /// Returns the pin that holds now: it may have been taken back, or the file changed.
    fn still_pinned(&self, root: &Path, server: &str) -> Result<McpServerPin, ToolError> {
        let pin = self.pinned(root, server);
        let declared = self.declared(root).unwrap_or_default();
        match pin.filter(|pin| declared.get(server) == Some(&pin.declared)) {
            Some(pin) => Ok(pin),
            None => Err(server_changed_error(server, "how it is started")),
        }
    }

    async fn files(
        &self,
        root: &Path,
        declared: &McpServerDeclaration,
    ) -> Result<BTreeMap<PathBuf, countersign_core::Digest>, McpError> {
        let (declared, root) = (declared.clone(), root.to_owned());
        let environment = self.environment.clone();
        let reading =
            tokio::task::spawn_blocking(move || pin::files(&declared, &root, &environment));
        Ok(reading.await.map_err(io::Error::other)??)
    }

    fn slot(&self, root: &Path, server: &str) -> McpServerSlot {
        let key = (root.to_owned(), server.to_owned());
        let mut running = self.running.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(running.entry(key).or_default())
    }

    /// A file that cannot be read pins nothing.
    fn pins(&self) -> McpPinFile {
        McpPinFile::read(&self.pins).unwrap_or_else(|error| {
            tracing::warn!(%error, "the pins of MCP servers cannot be read");
            McpPinFile::default()
        })
    }
}

fn call_failed_error(doing: &'static str, server: &str, error: &McpError) -> ToolError {
    let cause = io::Error::other(error.to_string());
    ToolError::Io { doing, path: server.to_owned(), cause }
}

fn server_changed_error(server: &str, what: &str) -> ToolError {
    ToolError::invalid(format!(
        "The MCP server `{server}` is not used: {what} is not what the user consented to. Ask them to \
         look at it and run: countersign mcp trust {server}"
    ))
}
