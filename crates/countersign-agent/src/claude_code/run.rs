//! A run of Claude Code: one prompt, one CLI, from its start to its end.

use std::time::Duration;

use countersign_claude::{
    ConnectError, HookEvent, HookFailurePolicy, HookInput, HookMatcher, Message, Options,
    PermissionMode, Query, SessionEnd, StreamError, SystemPrompt, ToolRequest, query,
};
use countersign_core::{Event, RunId, SessionId};
use countersign_gate::{RunEnd, RunJournal};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::event_recorder::EventRecorder;
use super::gatekeeper::{ClaudeCallOrigin, Gatekeeper, GatekeeperOptions};
use super::{ClaudeCode, CliSession};
use crate::runner::{RunSignals, end_run};
use crate::stop::{ClosingRecord, RunStopCause};

/// How long a hook may take: longer than anybody is asked for.
const HOOK: Duration = Duration::from_hours(2);

/// How long an interrupted CLI has to come to its end.
const STOPPING: Duration = Duration::from_secs(10);

/// A run that is recorded and can now be driven to its end.
///
/// Dropped before its end it is recorded as broken off, unless it was told to suspend.
pub struct ClaudeRun {
    claude: ClaudeCode,
    journal: RunJournal,
    prompt: String,
    place: CliSession,
    suspend: CancellationToken,
    is_over: bool,
}

/// What happens next in a run.
enum ClaudeRunStep {
    Heard(Box<Result<Message, StreamError>>),
    Stop,
    Over,
    /// It was told to stop and has not.
    Late,
}

impl ClaudeRun {
    pub(super) fn new(
        claude: ClaudeCode,
        journal: RunJournal,
        prompt: String,
        place: CliSession,
    ) -> Self {
        let suspend = CancellationToken::new();
        Self { claude, journal, prompt, place, suspend, is_over: false }
    }

    /// Returns the conversation.
    pub fn session(&self) -> &SessionId {
        self.journal.session()
    }

    /// Returns the run's id.
    pub fn id(&self) -> RunId {
        self.journal.run()
    }

    /// Drives the run to its end and records how it ended.
    ///
    /// One that is told to suspend is left as it stands: its CLI ends, and whoever comes for the run
    /// says so. The conversation can go on with another prompt.
    pub async fn drive(self, signals: impl Into<RunSignals>) {
        let span = self.journal.span();
        self.drive_to_end(signals.into()).instrument(span).await;
    }

    async fn drive_to_end(mut self, signals: RunSignals) {
        self.suspend = signals.suspend.clone();
        let ended = tokio::select! {
            biased;
            () = signals.suspend.cancelled() => None,
            end = self.converse(&signals) => Some(end),
        };
        self.is_over = true;
        match ended {
            Some(ended) => record_end(&self.journal, ended).await,
            None => self.journal.discard_draft(),
        }
    }

    /// Returns what the run took, or why it stopped.
    async fn converse(&self, signals: &RunSignals) -> Result<Event, RunStopCause> {
        let keeper = self.keeper();
        let started = query(self.prompt.as_str(), self.options(&keeper)).await;
        let mut running = started.map_err(|error| not_started(&error))?;
        let mut teller = EventRecorder::new(&self.journal, &keeper);
        let mut stopping = None;
        let ended = loop {
            match self.step(&mut running, signals, stopping).await {
                ClaudeRunStep::Over => break Some(None),
                ClaudeRunStep::Late => break None,
                ClaudeRunStep::Heard(heard) => match *heard {
                    Ok(message) => teller.record_message(message).await?,
                    Err(StreamError::Ended(end)) => break Some(Some(end)),
                    Err(error) => {
                        let error: &dyn std::error::Error = &error;
                        tracing::warn!(error, "something Claude Code said could not be read");
                    }
                },
                ClaudeRunStep::Stop => {
                    stopping = Some(tokio::time::Instant::now() + STOPPING);
                    self.stop(&running).await;
                }
            }
        };
        if ended.is_some() {
            keeper.close().await;
        }
        teller.close().await?;
        match stopping {
            Some(_) => Err(RunStopCause::Cancelled),
            None => teller.end(ended.flatten().as_ref()),
        }
    }

    async fn step(
        &self,
        running: &mut Query,
        signals: &RunSignals,
        stopping: Option<tokio::time::Instant>,
    ) -> ClaudeRunStep {
        let late = async {
            match stopping {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = signals.cancel.cancelled(), if stopping.is_none() => ClaudeRunStep::Stop,
            heard = running.next() => heard.map_or(ClaudeRunStep::Over, |it| ClaudeRunStep::Heard(Box::new(it))),
            () = late => ClaudeRunStep::Late,
        }
    }

    /// Takes back what waits and tells the CLI to stop. One that does not is ended a little later.
    async fn stop(&self, running: &Query) {
        if let Err(error) = self.claude.gate.cancel_run(self.id()).await {
            let error: &dyn std::error::Error = &error;
            tracing::error!(error, "the calls of a stopped run could not be taken back");
        }
        if let Err(error) = running.interrupt().await {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "Claude Code could not be told to stop");
        }
    }

    fn keeper(&self) -> Gatekeeper {
        let ClaudeCode { gate, planners, setup, config, bash } = &self.claude;
        let asker = ClaudeCallOrigin {
            project: self.journal.project().clone(),
            session: self.journal.session().clone(),
            run: Some(self.id()),
            cwd: config.cwd.clone(),
        };
        let plans = setup.config().map(|folder| folder.join("plans"));
        let (gate, planners) = (gate.clone(), planners.clone());
        let equipment = GatekeeperOptions { plans, keep: config.keep.clone(), bash: bash.clone() };
        Gatekeeper::new(gate, planners, asker, config.terms(), None, equipment)
    }

    fn options(&self, keeper: &Gatekeeper) -> Options {
        let ClaudeCode { setup, config, .. } = &self.claude;
        let mut options = Options::new()
            .cwd(&config.cwd)
            .clean_env()
            .client_app("countersign")
            .system_prompt(SystemPrompt::claude_code())
            .include_partial_messages();
        for (name, value) in &setup.env {
            options = options.env(name, value);
        }
        if let Some(cli) = &setup.cli {
            options = options.cli_path(cli);
        }
        if let Some(model) = &config.model {
            options = options.model(model);
        }
        let id = self.place.id.to_string();
        options = if self.place.is_known { options.resume(id) } else { options.session_id(id) };
        if config.is_unattended() { unattended(options, keeper) } else { attended(options, keeper) }
    }
}

/// Nothing runs that the hook has not let pass; what asks comes to the callback.
fn attended(options: Options, keeper: &Gatekeeper) -> Options {
    let (looks, decides) = (keeper.clone(), keeper.clone());
    // The SDK calls back from tasks of its own, which know nothing of the run.
    let (run_of_hook, run_of_callback) = (Span::current(), Span::current());
    let hook = HookMatcher::new(HookEvent::PreToolUse, move |input: HookInput| {
        let keeper = looks.clone();
        async move { keeper.on_pre_tool_use(input).await }.instrument(run_of_hook.clone())
    });
    options
        .permission_mode(PermissionMode::Default)
        .hook(hook.timeout(HOOK).on_failure(HookFailurePolicy::Block))
        .can_use_tool(move |request: ToolRequest| {
            let keeper = decides.clone();
            async move { keeper.decide(request).await }.instrument(run_of_callback.clone())
        })
}

/// Nobody is asked by the CLI: what the hook does not let pass is denied, also if the hook breaks.
fn unattended(options: Options, keeper: &Gatekeeper) -> Options {
    let (guards, run) = (keeper.clone(), Span::current());
    let hook = HookMatcher::new(HookEvent::PreToolUse, move |input: HookInput| {
        let keeper = guards.clone();
        async move { keeper.on_pre_tool_use_unattended(input).await }.instrument(run.clone())
    });
    options
        .permission_mode(PermissionMode::DontAsk)
        .hook(hook.timeout(HOOK).on_failure(HookFailurePolicy::Block))
}

impl Drop for ClaudeRun {
    fn drop(&mut self) {
        let (false, Ok(runtime)) = (self.is_over, Handle::try_current()) else { return };
        if self.suspend.is_cancelled() {
            return;
        }
        let (gate, journal) = (self.claude.gate.clone(), self.journal.clone());
        runtime.spawn(async move {
            if let Err(error) = gate.cancel_run(journal.run()).await {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "the calls of a dropped run could not be taken back");
            }
            record_end(&journal, Err(RunStopCause::Cancelled)).await;
        });
    }
}

async fn record_end(journal: &RunJournal, ended: Result<Event, RunStopCause>) {
    let (end, event) = match ended {
        Ok(done) => (RunEnd::Done, done),
        Err(stop) => (stop.end(), stop.event()),
    };
    end_run(journal, end, ClosingRecord { messages: Vec::new(), events: vec![event] }).await;
}

fn not_started(error: &ConnectError) -> RunStopCause {
    let hint = match error {
        ConnectError::Launch(_) => {
            "install it with `npm install -g @anthropic-ai/claude-code`, or name it with --claude"
        }
        _ => "try `claude` in a terminal, or another permission mode",
    };
    let message = format!("Claude Code could not be started: {}", whole(error));
    RunStopCause::ClaudeCode { message, hint }
}

/// An error with all its causes, in one sentence.
fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |said, cause| format!("{said}: {cause}"))
}

impl EventRecorder<'_> {
    /// Returns how the run ended, from what the CLI said last.
    fn end(&self, ended: Option<&SessionEnd>) -> Result<Event, RunStopCause> {
        let hint = "send a prompt to go on";
        match (self.failure(), ended) {
            (Some(message), _) => Err(RunStopCause::ClaudeCode { message, hint }),
            (None, Some(ended)) => {
                let message = format!("Claude Code broke off: {}", whole(ended));
                Err(RunStopCause::ClaudeCode { message, hint })
            }
            (None, None) => Ok(self.done()),
        }
    }
}
