//! Recovery: what a process that died left behind, and how another goes on with it.

use std::collections::{HashMap, HashSet};

use countersign_core::{
    ApprovalId, Event, Execution, ExecutionFailure, ExecutionState, FailureKind, LockedExecution,
    ProjectId, RunId,
};

use crate::activity_log::{log_run_end, log_run_start};
use crate::gate::Gate;
use crate::journal::RunJournal;
use crate::store::{OrphanedRun, RunEnd, RunKey, StoreError};

impl Gate {
    /// Settles the calls that nobody will go on with. To be called before anything else.
    ///
    /// What belongs to a run that goes on is left to the run's next driver, see
    /// [`Gate::take_over_runs`]. A call without a run that had started may or may not have happened,
    /// and says so; one that waits goes on waiting until its deadline. Of a run that is over nobody
    /// starts anything any more.
    pub async fn recover(&self) -> Result<(), StoreError> {
        for left in self.inner().store.orphaned_calls().await? {
            self.end_abandoned_call(left.id()).await?;
        }
        Ok(())
    }

    /// Takes over the runs of these projects that nobody drives any more, the oldest first: from now
    /// on this server drives them.
    pub async fn take_over_runs(
        &self,
        projects: &[ProjectId],
    ) -> Result<Vec<OrphanedRun>, StoreError> {
        self.inner().store.take_over(projects.to_vec()).await
    }

    /// Goes on with a run whose driver is gone, and tells of it; none if it has ended meanwhile.
    pub async fn resume_run(&self, left: &OrphanedRun) -> Result<Option<RunJournal>, StoreError> {
        let journal = self.journal(run_key(left));
        // What its last driver showed of an answer is void: it is asked for again.
        journal.discard_draft();
        let now = self.inner().clock.now();
        let goes_on = self.inner().store.resume_run(&journal.key, Event::RunResumed, now).await?;
        if goes_on {
            log_run_start(&journal.key, "run resumed");
        }
        Ok(goes_on.then_some(journal))
    }

    /// Ends everything that waits or runs, in a database that was put back from a backup: since the
    /// backup was made it may have happened. Returns how much that was.
    pub async fn end_all_open(&self) -> Result<usize, StoreError> {
        let (runs, calls) =
            (self.inner().store.unfinished_runs().await?, self.inner().store.open_calls().await?);
        let ended = runs.len() + calls.len();
        for run in runs {
            let why = Event::RunFailed {
                code: "restored".to_owned(),
                message: "this is a backup; what became of the run is not in it".to_owned(),
                hint: Some("look before you send a prompt to go on".to_owned()),
            };
            self.abandon_run(&run, why).await?;
        }
        for call in calls {
            self.end_abandoned_call(call).await?;
        }
        Ok(ended)
    }

    /// Ends a run that nobody can go on with: takes back what waits and says why.
    pub async fn abandon_run(&self, left: &OrphanedRun, why: Event) -> Result<(), StoreError> {
        for open in self.inner().store.open_in_run(left.id).await? {
            self.end_abandoned_call(open.id()).await?;
        }
        let now = self.inner().clock.now();
        let store = &self.inner().store;
        let run = run_key(left);
        store.end_run(&run, RunEnd::Failed, Vec::new(), vec![why], now).await?;
        log_run_end(&run, RunEnd::Failed, None);
        Ok(())
    }

    /// Returns what stands of the calls of a run, in the order they were made: where one took
    /// another's place, the last of them.
    pub async fn calls_in_run(&self, run: RunId) -> Result<Vec<Execution>, StoreError> {
        let made = self.inner().store.calls_in_run(run).await?;
        let heirs: HashSet<_> = made.iter().filter_map(Execution::replaced_by).collect();
        let first =
            made.iter().map(countersign_core::Execution::id).filter(|id| !heirs.contains(id));
        let first: Vec<_> = first.collect();
        let mut by_id: HashMap<_, _> = made.into_iter().map(|call| (call.id(), call)).collect();
        Ok(first.into_iter().filter_map(|id| last_replacement(&mut by_id, id)).collect())
    }

    /// Settles a call that nobody will go on with.
    async fn end_abandoned_call(&self, id: ApprovalId) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        let step = move |approval: LockedExecution| match approval.state() {
            ExecutionState::Executing { .. } => approval.fail(interrupted_failure(), now),
            _ => approval.cancel(now),
        };
        // One that was settled meanwhile stays as it is.
        self.transition(id, step).await.map(drop)
    }
}

/// Follows a call to the last one that took its place. One that was never recorded is not there.
fn last_replacement(
    by_id: &mut HashMap<ApprovalId, Execution>,
    first: ApprovalId,
) -> Option<Execution> {
    let mut last = by_id.remove(&first)?;
    while let Some(next) = last.replaced_by().and_then(|heir| by_id.remove(&heir)) {
        last = next;
    }
    Some(last)
}

fn run_key(left: &OrphanedRun) -> RunKey {
    RunKey { project: left.project.clone(), session: left.session.clone(), run: left.id }
}

/// Why a call failed whose driver went away while it ran.
pub fn interrupted_failure() -> ExecutionFailure {
    let error = "Interrupted: the server stopped while this ran. Whether it took effect is unknown; \
                 look before trying again.";
    ExecutionFailure::new(FailureKind::Interrupted, error)
}
