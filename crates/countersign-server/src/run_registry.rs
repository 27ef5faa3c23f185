//! The runs that are going on in this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_agent::RunSignals;
use countersign_core::{ProjectId, RunId, SessionId};
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;

/// A run that is going on.
pub(crate) struct ActiveRun {
    pub(crate) run: RunId,
    pub(crate) signals: RunSignals,
    /// None for the moment it takes to start its task.
    pub(crate) task: Option<AbortHandle>,
}

/// The runs that are going on.
#[derive(Default)]
pub(crate) struct RunRegistry {
    active: Mutex<HashMap<(ProjectId, SessionId), ActiveRun>>,
    pub(crate) tasks: TaskTracker,
}

impl RunRegistry {
    /// Returns the run of a conversation, if one is going on here.
    pub(crate) fn active_run(&self, project: &ProjectId, session: &SessionId) -> Option<RunId> {
        self.lock().get(&(project.clone(), session.clone())).map(|active| active.run)
    }

    /// Stops the run of a conversation; returns whether there was one.
    pub(crate) fn cancel(&self, project: &ProjectId, session: &SessionId) -> bool {
        let active = self.lock();
        let found = active.get(&(project.clone(), session.clone()));
        found.inspect(|active| active.signals.cancel.cancel()).is_some()
    }

    /// Breaks off what did not come to rest: the server is going down. The runs stay as they are
    /// recorded, and go on when a server comes for them.
    pub(crate) fn abort_all(&self) {
        self.lock().values().filter_map(|active| active.task.as_ref()).for_each(AbortHandle::abort);
    }

    /// Stops a run that somebody wants stopped, if it is going on here.
    pub(crate) fn cancel_run(&self, run: RunId) {
        let active = self.lock();
        let found = active.values().filter(|active| active.run == run);
        found.for_each(|active| active.signals.cancel.cancel());
    }

    /// Breaks off everything at once, and leaves it to the server that has taken over.
    pub(crate) fn hand_over(&self) {
        let mut active = self.lock();
        for (_, active) in active.drain() {
            active.signals.suspend.cancel();
            if let Some(task) = active.task {
                task.abort();
            }
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<(ProjectId, SessionId), ActiveRun>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
