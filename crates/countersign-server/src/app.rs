//! What every handler shares.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use countersign_agent::{ClaudeSetup, Model, RunnerConfig};
use countersign_gate::{Gate, Project, ServerIdentity};
use countersign_tools::{BackupStore, PlannerCatalogue, Sandbox, Toolbox, Workspace};
use tokio_util::sync::CancellationToken;

use crate::approval_switch::ApprovalSwitch;
use crate::client_streams::ClientStreams;
use crate::host_names::HostNames;
use crate::project_registry::ProjectRegistry;
use crate::run_registry::RunRegistry;
use crate::sign_in::{LocalCredential, SignInRegistry};
use crate::stream_hub::StreamHubs;

/// Who answers the prompts.
#[derive(Clone)]
pub struct ModelSource {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Its name unless a prompt says another.
    pub name: String,
    /// Whether it is the scripted one, so that people are told.
    pub demo: bool,
}

/// What a server is made of.
pub struct ServerConfig {
    /// The gate all calls go through.
    pub gate: Gate,
    /// The workspaces, the default one first.
    pub workspaces: Vec<(Project, Workspace)>,
    /// Makes the tools of a workspace.
    pub toolbox: Arc<dyn Fn(&Workspace) -> Toolbox + Send + Sync>,
    /// Knows what calls of all tools would do, also of those that cannot run here.
    pub catalogue: Arc<dyn Fn(&Workspace) -> PlannerCatalogue + Send + Sync>,
    /// Where earlier contents of changed files are kept; nothing can be undone without it.
    pub keep: Option<BackupStore>,
    /// Who answers.
    pub model: ModelSource,
    /// Where the Claude Code CLI is, and what it may know of the environment.
    pub claude: ClaudeSetup,
    /// Whether people are asked.
    pub approval_switch: ApprovalSwitch,
    /// Where commands run, so that people are told.
    pub sandbox: Sandbox,
    /// What opens the door.
    pub credential: crate::Credential,
    /// Renders the metrics in Prometheus' format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

/// What runs of the server's own loop are given unless they say otherwise.
#[derive(Clone, Debug, Default)]
pub struct RunDefaults {
    /// Added to the built-in system prompt.
    pub system_prompt: Option<String>,
    /// How long one answer of the model may be; the runner's own default if none.
    pub max_tokens: Option<u32>,
}

/// The shared parts, behind one pointer.
#[derive(Clone)]
pub(crate) struct App(Arc<AppParts>);

pub(crate) struct AppParts {
    pub(crate) gate: Gate,
    pub(crate) projects: ProjectRegistry,
    pub(crate) runs: RunRegistry,
    pub(crate) sign_ins: SignInRegistry,
    pub(crate) keep: Option<BackupStore>,
    pub(crate) model: ModelSource,
    pub(crate) claude: ClaudeSetup,
    pub(crate) approval_switch: ApprovalSwitch,
    pub(crate) sandbox: Sandbox,
    pub(crate) metrics: Arc<dyn Fn() -> String + Send + Sync>,
    pub(crate) toolbox: Arc<dyn Fn(&Workspace) -> Toolbox + Send + Sync>,
    pub(crate) catalogue: Arc<dyn Fn(&Workspace) -> PlannerCatalogue + Send + Sync>,
    /// Cancelled when the server is to stop: sockets close, runs are suspended.
    pub(crate) stopping: CancellationToken,
    pub(crate) port: u16,
    /// What it listens on.
    pub(crate) address: SocketAddr,
    /// By what it proves who it is.
    pub(crate) identity: ServerIdentity,
    /// How long a body may take to come.
    pub(crate) body_patience: Duration,
    pub(crate) hubs: StreamHubs,
    pub(crate) clients: ClientStreams,
    pub(crate) run_defaults: RunDefaults,
    /// The names it answers to beside its addresses.
    pub(crate) host_names: Arc<HostNames>,
}

impl std::ops::Deref for App {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.0
    }
}

impl App {
    pub(crate) fn new(
        config: ServerConfig,
        address: SocketAddr,
        identity: ServerIdentity,
        body_patience: Duration,
        run_defaults: RunDefaults,
        stopping: CancellationToken,
        (host_names, local): (Arc<HostNames>, Option<LocalCredential>),
    ) -> Self {
        let sign_ins = SignInRegistry::new(config.gate.clone(), config.credential, local);
        Self(Arc::new(AppParts {
            projects: ProjectRegistry::new(config.gate.clone(), config.workspaces),
            gate: config.gate,
            runs: RunRegistry::default(),
            sign_ins,
            keep: config.keep,
            model: config.model,
            claude: config.claude,
            approval_switch: config.approval_switch,
            sandbox: config.sandbox,
            metrics: config.metrics,
            toolbox: config.toolbox,
            catalogue: config.catalogue,
            stopping,
            port: address.port(),
            address,
            identity,
            body_patience,
            hubs: StreamHubs::default(),
            clients: ClientStreams::default(),
            host_names,
            run_defaults,
        }))
    }

    /// Returns the settings of a run in a folder.
    pub(crate) fn runner_config(
        &self,
        cwd: std::path::PathBuf,
        model: Option<String>,
    ) -> RunnerConfig {
        let usual = RunnerConfig::new(cwd);
        RunnerConfig {
            model: model.unwrap_or_else(|| self.model.name.clone()),
            keep: self.keep.clone(),
            system_prompt: self.run_defaults.system_prompt.clone(),
            max_tokens: self.run_defaults.max_tokens.unwrap_or(usual.max_tokens),
            ..usual
        }
    }
}
