//! Runs: which conversations are being driven in this process, and how to stop them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_agent::{Consent, Prompt, Run, Runner};
use countersign_core::{Mode, ProjectId, RunId, SessionId};
use countersign_gate::Project;
use countersign_tools::Workspace;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::error::ApiError;
use crate::projects::working_folder;

/// What a client wants run.
pub(crate) struct Wanted {
    pub(crate) prompt: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) auto_approve_read: bool,
    pub(crate) mode: Option<Mode>,
    pub(crate) cwd: Option<String>,
    pub(crate) model: Option<String>,
}

/// A run that is going on.
struct Active {
    run: RunId,
    cancel: CancellationToken,
}

/// The runs that are going on.
#[derive(Default)]
pub(crate) struct Runs {
    active: Mutex<HashMap<(ProjectId, SessionId), Active>>,
    pub(crate) tasks: TaskTracker,
}

impl Runs {
    /// Returns the run of a conversation, if one is going on here.
    pub(crate) fn of(&self, project: &ProjectId, session: &SessionId) -> Option<RunId> {
        self.lock().get(&(project.clone(), session.clone())).map(|active| active.run)
    }

    /// Stops the run of a conversation; returns whether there was one.
    pub(crate) fn cancel(&self, project: &ProjectId, session: &SessionId) -> bool {
        let active = self.lock();
        let found = active.get(&(project.clone(), session.clone()));
        found.inspect(|active| active.cancel.cancel()).is_some()
    }

    /// Stops all runs: the server is going down.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(|active| active.cancel.cancel());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(ProjectId, SessionId), Active>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a run and drives it in the background; returns its conversation.
pub(crate) async fn start(
    app: &App,
    place: &(Project, Workspace),
    wanted: Wanted,
) -> Result<SessionId, ApiError> {
    let (project, workspace) = place;
    let cwd = working_folder(place, wanted.cwd.as_deref())?;
    let runner = Runner::new(
        app.gate.clone(),
        app.model.model.clone(),
        (app.toolbox)(workspace),
        Consent::People { auto_approve_read: wanted.auto_approve_read, mode: wanted.mode },
        app.runner_config(cwd, wanted.model),
    );
    let prompt =
        Prompt { project: project.id.clone(), session: wanted.session, text: wanted.prompt };
    let run = runner.begin(prompt).await?;
    let session = run.session().clone();
    drive(app, (project.id.clone(), session.clone()), run);
    metrics::counter!("countersign_runs_total").increment(1);
    Ok(session)
}

fn drive(app: &App, key: (ProjectId, SessionId), run: Run) {
    let cancel = CancellationToken::new();
    let active = Active { run: run.id(), cancel: cancel.clone() };
    let id = run.id();
    app.runs.lock().insert(key.clone(), active);
    let app_of_task = app.clone();
    app.runs.tasks.spawn(async move {
        run.drive(cancel).await;
        let mut active = app_of_task.runs.lock();
        // The next run of this conversation may have begun already: only ours goes.
        if active.get(&key).is_some_and(|active| active.run == id) {
            active.remove(&key);
        }
    });
}
