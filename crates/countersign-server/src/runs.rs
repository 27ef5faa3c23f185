//! Runs: which conversations are being driven in this process, and how to stop them.

use std::path::Path;
use std::sync::Arc;

use countersign_agent::{
    AgentRun, ClaudeCode, ClaudeConfig, ClaudeRun, ConsentSource, PlannerLookup, ResumeError,
    RunPrompt, RunSettings, RunSignals, Runner, RunnerConfig,
};
use countersign_core::{Event, Executor, ProjectId, RunId, SessionId};
use countersign_gate::{OrphanedRun, StoreError, retry_until_available};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::error::ApiError;
use crate::project_registry::{ProjectHandle, working_folder};
use crate::run_mode::ResolvedRunMode;
use crate::run_registry::ActiveRun;
use crate::run_tools;
use crate::with_deadline::with_deadline;

/// What a client wants run.
pub(crate) struct RunRequest {
    pub(crate) prompt: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) auto_approve_read: bool,
    pub(crate) way: ResolvedRunMode,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
    /// Added to the system prompt of our own loop.
    pub(crate) system_prompt: Option<String>,
    /// How long one answer may be in our own loop.
    pub(crate) max_tokens: Option<u32>,
}

/// A run that can be driven: on our own loop, or on the Claude Code CLI.
enum DrivableRun {
    Own(Box<AgentRun>),
    Claude(Box<ClaudeRun>),
}

impl DrivableRun {
    fn session(&self) -> &SessionId {
        match self {
            Self::Own(run) => run.session(),
            Self::Claude(run) => run.session(),
        }
    }

    fn id(&self) -> RunId {
        match self {
            Self::Own(run) => run.id(),
            Self::Claude(run) => run.id(),
        }
    }

    async fn drive(self, signals: RunSignals) {
        match self {
            Self::Own(run) => run.drive(signals).await,
            Self::Claude(run) => run.drive(signals).await,
        }
    }
}

/// A run that began.
pub(crate) struct StartedRun {
    pub(crate) session: SessionId,
    pub(crate) run: RunId,
}

/// Begins a run and drives it in the background.
pub(crate) async fn start(
    app: &App,
    place: &ProjectHandle,
    wanted: RunRequest,
) -> Result<StartedRun, ApiError> {
    let (project, _) = place;
    let cwd = working_folder(place, wanted.cwd.as_deref())?;
    let ResolvedRunMode { executor, mode, mode_by_settings } = wanted.way;
    let auto_approve_read = wanted.auto_approve_read;
    check_limits(&wanted)?;
    let prompt =
        RunPrompt { project: project.id.clone(), session: wanted.session, text: wanted.prompt };
    // One that begins after we have given up on it is dropped, and so ended.
    let run = if executor == Executor::ClaudeCli {
        let (keep, model) = (app.keep.clone(), wanted.model);
        let config = ClaudeConfig { cwd, model, auto_approve_read, mode, mode_by_settings, keep };
        let claude = claude_code(app, place, config);
        DrivableRun::Claude(Box::new(
            with_deadline(async move { claude.begin(prompt).await }).await?,
        ))
    } else {
        let consent = ConsentSource::People { auto_approve_read, mode };
        let config = app.runner_config(cwd, wanted.model);
        let config = RunnerConfig {
            executor,
            mode_by_settings,
            system_prompt: wanted.system_prompt.or(config.system_prompt),
            max_tokens: wanted.max_tokens.unwrap_or(config.max_tokens),
            ..config
        };
        let runner = runner(app, place, consent, config);
        DrivableRun::Own(Box::new(with_deadline(async move { runner.begin(prompt).await }).await?))
    };
    let begun = StartedRun { session: run.session().clone(), run: run.id() };
    drive(app, &project.id, run);
    metrics::counter!("countersign_runs_total").increment(1);
    Ok(begun)
}

/// Checks what only our own loop can do something with.
fn check_limits(wanted: &RunRequest) -> Result<(), ApiError> {
    if wanted.max_tokens == Some(0) {
        return Err(ApiError::bad_request("bad_max_tokens", "`max_tokens` must be 1 or more"));
    }
    let is_given = wanted.max_tokens.is_some() || wanted.system_prompt.is_some();
    if is_given && wanted.way.executor == Executor::ClaudeCli {
        let why = "`system_prompt` and `max_tokens` are for the server's own loop, and Claude Code runs \
                   this conversation: leave them out, or say `\"permission_mode\": \"sdk\"`";
        return Err(ApiError::bad_request("contradiction", why));
    }
    Ok(())
}

/// Goes on, in the background, with the runs of our projects that nobody drives any more.
///
/// One that cannot go on is ended and says why. Runs of projects that are not served here are left
/// to whoever serves them.
pub(crate) async fn resume_abandoned(app: &App) -> Result<(), StoreError> {
    for left in app.gate.take_over_runs(&app.projects.ids()).await? {
        if app.runs.active_run(&left.project, &left.session) == Some(left.id) {
            continue;
        }
        // It is ours now: if the database is away, it is waited for.
        let resuming = || async {
            match resume(app, left.clone()).await {
                Err(ResumeObstacle::Store(error)) => Err(error),
                done => Ok(done),
            }
        };
        let clock = app.gate.clock();
        match retry_until_available(clock, "a run", app.stopping.cancelled(), resuming).await? {
            Ok(Some(run)) => {
                drive(app, &left.project, DrivableRun::Own(Box::new(run)));
                metrics::counter!("countersign_runs_resumed_total").increment(1);
            }
            Ok(None) => {}
            Err(why) => abandon(app, &left, &why).await?,
        }
    }
    Ok(())
}

/// Stops the run of a conversation, wherever it is driven; returns whether there was one.
pub(crate) async fn cancel(
    app: &App,
    project: &ProjectId,
    session: &SessionId,
) -> Result<bool, ApiError> {
    if app.runs.cancel(project, session) {
        return Ok(true);
    }
    let Some(run) = app.gate.store().active_run(project, session).await? else { return Ok(false) };
    let gate = app.gate.clone();
    with_deadline(async move { gate.ask_to_stop(run).await }).await?;
    Ok(true)
}

/// Stops what is driven here and what somebody wants stopped at another server.
pub(crate) async fn stop_requested_runs(app: &App) -> Result<(), StoreError> {
    for run in app.gate.runs_asked_to_stop().await? {
        app.runs.cancel_run(run);
    }
    Ok(())
}

/// Ends a run that cannot go on, and says why.
async fn abandon(app: &App, left: &OrphanedRun, why: &ResumeObstacle) -> Result<(), StoreError> {
    tracing::warn!(run_id = %left.id, %why, "a run cannot go on");
    let event = Event::RunFailed {
        code: "interrupted".to_owned(),
        message: format!("the server was restarted and the run cannot go on: {why}"),
        hint: Some("send a prompt to continue the conversation".to_owned()),
    };
    let end = || app.gate.abandon_run(left, event.clone());
    retry_until_available(app.gate.clock(), "the end of a run", app.stopping.cancelled(), end).await
}

/// Why a run cannot go on, in words for people.
#[derive(Debug, thiserror::Error)]
enum ResumeObstacle {
    #[error("{0}")]
    Place(String),
    #[error("Claude Code ended with the server; its conversation is kept")]
    Claude,
    #[error(transparent)]
    Run(ResumeError),
    #[error(transparent)]
    Store(StoreError),
}

impl From<ApiError> for ResumeObstacle {
    fn from(error: ApiError) -> Self {
        Self::Place(error.message)
    }
}

impl From<ResumeError> for ResumeObstacle {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Store(error) => Self::Store(error),
            other => Self::Run(other),
        }
    }
}

/// Makes ready to go on with a run; none if somebody has ended it, or goes on with it already.
async fn resume(app: &App, left: OrphanedRun) -> Result<Option<AgentRun>, ResumeObstacle> {
    let place = &*app.projects.get(left.project.as_str()).await?;
    let settings = RunSettings::from_json(&left.settings).map_err(ResumeError::from)?;
    if settings.executor == Executor::ClaudeCli {
        return Err(ResumeObstacle::Claude);
    }
    // What was a folder of the project when it began need not be one any more.
    let cwd = working_folder(place, settings.cwd.as_deref().and_then(Path::to_str))?;
    // Overridden by the settings of the run.
    let consent = ConsentSource::People { auto_approve_read: false, mode: None };
    let config = app.runner_config(cwd, settings.model);
    let config = RunnerConfig { executor: settings.executor, ..config };
    let runner = runner(app, place, consent, config);
    // It is ours now: nobody else would come for it when the database is there again.
    let stopping = app.stopping.cancelled();
    let resumed =
        retry_until_available(app.gate.clock(), "a run that was left", stopping, || async {
            match runner.resume(left.clone()).await {
                Err(ResumeError::Store(error)) => Err(error),
                resumed => Ok(resumed),
            }
        });
    match resumed.await {
        Ok(Ok(run)) => Ok(Some(run)),
        Ok(Err(ResumeError::Over)) => Ok(None),
        Ok(Err(error)) => Err(error.into()),
        // Whoever comes next finds it as it is.
        Err(error) if error.is_transient() => Ok(None),
        Err(error) => Err(ResumeError::from(error).into()),
    }
}

fn claude_code(app: &App, (_, workspace): &ProjectHandle, config: ClaudeConfig) -> ClaudeCode {
    let catalogue = (app.catalogue)(workspace);
    let planners: PlannerLookup = Arc::new(move |tool| catalogue.planner_of_any(tool));
    let bash = (app.toolbox)(workspace).get("Bash").cloned();
    ClaudeCode::new(app.gate.clone(), planners, app.claude.clone(), config).with_rehearsals(bash)
}

fn runner(
    app: &App,
    place: &ProjectHandle,
    consent: ConsentSource,
    config: RunnerConfig,
) -> Runner {
    let toolbox = run_tools::toolbox(app, place, config.executor);
    Runner::new(app.gate.clone(), app.model.model.clone(), toolbox, consent, config)
}

fn drive(app: &App, project: &ProjectId, run: DrivableRun) {
    let key = (project.clone(), run.session().clone());
    let suspend = app.stopping.child_token();
    let signals = RunSignals { cancel: CancellationToken::new(), suspend };
    let id = run.id();
    let active = ActiveRun { run: id, signals: signals.clone(), task: None };
    app.runs.lock().insert(key.clone(), active);
    let (app_of_task, key_of_task) = (app.clone(), key.clone());
    let task = app.runs.tasks.spawn(async move {
        run.drive(signals).await;
        let mut active = app_of_task.runs.lock();
        // The next run of this conversation may have begun already: only ours goes.
        if active.get(&key_of_task).is_some_and(|active| active.run == id) {
            active.remove(&key_of_task);
        }
    });
    if let Some(active) = app.runs.lock().get_mut(&key).filter(|active| active.run == id) {
        active.task = Some(task.abort_handle());
    }
}
