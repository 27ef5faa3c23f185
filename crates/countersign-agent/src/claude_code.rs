//! Claude Code under the gate: the CLI holds the conversation, the gate sees every call it makes.
//!
//! [`ClaudeCode`] begins runs, each a CLI of its own that goes on with the session the one before it
//! left. `gatekeeper` takes its calls through the gate, `running` knows those it let pass, `teller`
//! says its messages as events. [`ApprovalHandler`] is the callback alone, for programs that drive the
//! CLI themselves (S4.2).

mod event_recorder;
mod gatekeeper;
mod handler;
mod in_flight;
mod plan_files;
mod run;
mod suggestion;

use std::path::PathBuf;
use std::sync::Arc;

use countersign_claude::session::StoredSessions;
use countersign_core::{Event, Executor, PermissionMode, RunId, SessionId, Supervision};
use countersign_gate::{Gate, NewRun, SubmitOptions, new_id};
use countersign_tools::{BackupStore, Tool};
use uuid::Uuid;

pub use self::gatekeeper::{ClaudeCallOrigin, PlannerLookup};
pub use self::handler::ApprovalHandler;
pub use self::run::ClaudeRun;
use crate::message::ModelMessage;
use crate::message::to_value;
use crate::run_settings::RunSettings;
use crate::runner::{BeginError, RunPrompt, title};

/// Where the CLI is, and what it may know of our environment.
#[derive(Clone, Debug, Default)]
pub struct ClaudeSetup {
    /// Its program; found on the path and in the usual places if none is named.
    pub cli: Option<PathBuf>,
    /// The environment of its process: all of it.
    pub env: Vec<(String, String)>,
}

impl ClaudeSetup {
    /// Returns where the CLI's program is, or in words for people that it is not there.
    pub fn find(&self) -> Result<PathBuf, String> {
        let variables = self.env.iter().map(|(name, value)| (name, value)).collect();
        let found = countersign_claude::process::find_cli(self.cli.as_deref(), &variables);
        found.map_err(|error| error.to_string())
    }

    /// Returns where the CLI keeps its sessions.
    fn config(&self) -> Option<PathBuf> {
        let named = |name: &str| {
            let found = self.env.iter().find(|(key, value)| key == name && !value.is_empty());
            found.map(|(_, value)| PathBuf::from(value))
        };
        named("CLAUDE_CONFIG_DIR").or_else(|| Some(named("HOME")?.join(".claude")))
    }
}

/// How Claude Code is run.
#[derive(Clone, Debug)]
pub struct ClaudeConfig {
    /// The working directory.
    pub cwd: PathBuf,
    /// The model; the CLI's own choice if none is named.
    pub model: Option<String>,
    /// Whether LOW calls run without asking.
    pub auto_approve_read: bool,
    /// What becomes of calls that would ask. With [`PermissionMode::BypassPermissions`] the CLI runs
    /// unattended: nothing is asked but what a rule says must be, and what is denied stays denied.
    pub mode: Option<PermissionMode>,
    /// Whether that mode is what the project's settings said; noted beside the run.
    pub mode_by_settings: bool,
    /// Where what its calls change is kept, so that it can be undone; nowhere if there is none.
    pub keep: Option<BackupStore>,
}

impl ClaudeConfig {
    fn is_unattended(&self) -> bool {
        self.mode == Some(PermissionMode::BypassPermissions)
    }

    fn terms(&self) -> SubmitOptions {
        let auto_approve_read = self.auto_approve_read;
        SubmitOptions { stance: Supervision::Attended { auto_approve_read }, mode: self.mode }
    }

    fn settings(&self) -> RunSettings {
        RunSettings {
            cwd: self.cwd.to_str().map(PathBuf::from),
            model: self.model.clone(),
            auto_approve_read: self.auto_approve_read,
            mode: self.mode,
            mode_by_settings: self.mode_by_settings,
            executor: Executor::ClaudeCli,
            ..RunSettings::default()
        }
    }
}

/// Runs prompts on the Claude Code CLI.
#[derive(Clone)]
pub struct ClaudeCode {
    pub(crate) gate: Gate,
    pub(crate) planners: PlannerLookup,
    pub(crate) setup: ClaudeSetup,
    pub(crate) config: ClaudeConfig,
    bash: Option<Arc<dyn Tool>>,
}

impl ClaudeCode {
    /// Returns what runs prompts. `planners` know what calls of the CLI's tools would do.
    pub fn new(
        gate: Gate,
        planners: PlannerLookup,
        setup: ClaudeSetup,
        config: ClaudeConfig,
    ) -> Self {
        Self { gate, planners, setup, config, bash: None }
    }

    /// Has this tool try out commands while they wait, where their project has chosen that. Only to
    /// look at: Claude Code runs its commands itself.
    #[must_use]
    pub fn with_rehearsals(self, bash: Option<Arc<dyn Tool>>) -> Self {
        Self { bash, ..self }
    }

    /// Records the prompt and makes ready to run it.
    pub async fn begin(&self, prompt: RunPrompt) -> Result<ClaudeRun, BeginError> {
        let RunPrompt { project, session, text } = prompt;
        if text.trim().is_empty() {
            return Err(BeginError::EmptyPrompt);
        }
        let session = session.unwrap_or_else(|| new_id::<RunId>().to_string().into());
        let run = NewRun {
            id: new_id(),
            project,
            session: session.clone(),
            title: title(&text),
            settings: to_value(&self.config.settings())?,
            message: to_value(&ModelMessage::user(&text))?,
            events: vec![Event::Prompt { text: text.clone() }],
        };
        let journal = self.gate.begin_run(run).await?.ok_or(BeginError::Busy)?;
        Ok(ClaudeRun::new(self.clone(), journal, text, self.place(&session).await))
    }

    /// Returns the CLI's session of a conversation, and whether the CLI has it already.
    async fn place(&self, session: &SessionId) -> CliSession {
        let id = cli_session(session);
        let Some(config) = self.setup.config() else { return CliSession { id, is_known: false } };
        let look = move || StoredSessions::from_config_dir(config).info(&id.to_string()).is_ok();
        let is_known = tokio::task::spawn_blocking(look).await.unwrap_or_default();
        CliSession { id, is_known }
    }
}

/// A session of the CLI.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CliSession {
    pub(crate) id: Uuid,
    /// Whether it is to be gone on with.
    pub(crate) is_known: bool,
}

/// The CLI's sessions have UUIDs, and so have ours, unless a client has named one: then it follows
/// from that name.
fn cli_session(session: &SessionId) -> Uuid {
    session
        .as_str()
        .parse()
        .unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, session.as_str().as_bytes()))
}
