//! What every handler shares.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use countersign_agent::{ClaudeSetup, Model, RunnerConfig};
use countersign_gate::{Gate, Project, ServerIdentity};
use countersign_tools::{Catalogue, Keep, Sandbox, Toolbox, Workspace};
use tokio_util::sync::CancellationToken;

use crate::chat::hub::Hubs;
use crate::chat::post::Clients;
use crate::projects::Projects;
use crate::runs::Runs;
use crate::sign_in::SignIns;
use crate::ways::ApprovalSwitch;

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
    pub catalogue: Arc<dyn Fn(&Workspace) -> Catalogue + Send + Sync>,
    /// Where earlier contents of changed files are kept; nothing can be undone without it.
    pub keep: Option<Keep>,
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
pub(crate) struct App(Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) gate: Gate,
    pub(crate) projects: Projects,
    pub(crate) runs: Runs,
    pub(crate) sign_ins: SignIns,
    pub(crate) keep: Option<Keep>,
    pub(crate) model: ModelSource,
    pub(crate) claude: ClaudeSetup,
    pub(crate) approval_switch: ApprovalSwitch,
    pub(crate) sandbox: Sandbox,
    pub(crate) metrics: Arc<dyn Fn() -> String + Send + Sync>,
    pub(crate) toolbox: Arc<dyn Fn(&Workspace) -> Toolbox + Send + Sync>,
    pub(crate) catalogue: Arc<dyn Fn(&Workspace) -> Catalogue + Send + Sync>,
    /// Cancelled when the server is to stop: sockets close, runs are suspended.
    pub(crate) stopping: CancellationToken,
    pub(crate) port: u16,
    /// What it listens on.
    pub(crate) address: SocketAddr,
    /// By what it proves who it is.
    pub(crate) identity: ServerIdentity,
    /// How long a body may take to come.
    pub(crate) body_patience: Duration,
    pub(crate) hubs: Hubs,
    pub(crate) clients: Clients,
    pub(crate) run_defaults: RunDefaults,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
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
    ) -> Self {
        let sign_ins = SignIns::new(config.gate.clone(), config.credential);
        Self(Arc::new(Parts {
            projects: Projects::new(config.gate.clone(), config.workspaces),
            gate: config.gate,
            runs: Runs::default(),
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
            hubs: Hubs::default(),
            clients: Clients::default(),
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
