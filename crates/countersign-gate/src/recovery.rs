//! Recovery: what a process that died left behind, and how another goes on with it.

use std::collections::{HashMap, HashSet};

use countersign_core::{Approval, ApprovalId, Event, Failure, ProjectId, RunId, State};

use crate::gate::{DecideError, Gate};
use crate::journal::Journal;
use crate::store::{LeftRun, RunEnd, RunKey, StoreError};

impl Gate {
    /// Settles the calls that nobody will go on with. To be called before anything else.
    ///
    /// What belongs to a run that goes on is left to the run's next driver, see
    /// [`Gate::left_behind`]. A call without a run that had started may or may not have happened,
    /// and says so; one that waits goes on waiting until its deadline. Of a run that is over nobody
    /// starts anything any more.
    pub async fn recover(&self) -> Result<(), StoreError> {
        for left in self.inner().store.orphans().await? {
            self.settle_left(left.id).await?;
        }
        Ok(())
    }

    /// Takes over the runs of these projects that nobody drives any more, the oldest first: from now
    /// on this server drives them.
    pub async fn left_behind(&self, projects: &[ProjectId]) -> Result<Vec<LeftRun>, StoreError> {
        self.inner().store.take_over(projects.to_vec()).await
    }

    /// Goes on with a run whose driver is gone, and tells of it; none if it has ended meanwhile.
    pub async fn resume_run(&self, left: &LeftRun) -> Result<Option<Journal>, StoreError> {
        let journal = self.journal(key_of(left));
        // What its last driver showed of an answer is void: it is asked for again.
        journal.settle();
        let now = self.inner().clock.now();
        let goes_on = self.inner().store.resume_run(&journal.key, Event::RunResumed, now).await?;
        Ok(goes_on.then_some(journal))
    }

    /// Ends everything that waits or runs, in a database that was put back from a backup: since the
    /// backup was made it may have happened. Returns how much that was.
    pub async fn settle_all(&self) -> Result<usize, StoreError> {
        let (runs, calls) =
            (self.inner().store.running().await?, self.inner().store.open_calls().await?);
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
            self.settle_left(call).await?;
        }
        Ok(ended)
    }

    /// Ends a run that nobody can go on with: takes back what waits and says why.
    pub async fn abandon_run(&self, left: &LeftRun, why: Event) -> Result<(), StoreError> {
        for open in self.inner().store.open_in_run(left.id).await? {
            self.settle_left(open.id).await?;
        }
        let now = self.inner().clock.now();
        let store = &self.inner().store;
        store.end_run(&key_of(left), RunEnd::Failed, Vec::new(), vec![why], now).await
    }

    /// Returns what stands of the calls of a run, in the order they were made: where one took
    /// another's place, the last of them.
    pub async fn calls_of(&self, run: RunId) -> Result<Vec<Approval>, StoreError> {
        let made = self.inner().store.calls_of(run).await?;
        let heirs: HashSet<_> = made.iter().filter_map(Approval::replaced_by).collect();
        let first = made.iter().map(|call| call.id).filter(|id| !heirs.contains(id));
        let first: Vec<_> = first.collect();
        let mut by_id: HashMap<_, _> = made.into_iter().map(|call| (call.id, call)).collect();
        Ok(first.into_iter().filter_map(|id| last_of(&mut by_id, id)).collect())
    }

    /// Ends a call that was executing when its driver went away: its outcome is unknown.
    pub async fn interrupt(&self, id: ApprovalId) -> Result<Approval, DecideError> {
        self.finish(id, Err(interrupted())).await
    }

    /// Settles a call that nobody will go on with.
    async fn settle_left(&self, id: ApprovalId) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        let step = move |approval: Approval| match approval.state {
            State::Executing { .. } => approval.fail(interrupted(), now),
            _ => approval.cancel(now),
        };
        // One that was settled meanwhile stays as it is.
        self.transition(id, step).await.map(drop)
    }
}

/// Follows a call to the last one that took its place. One that was never recorded is not there.
fn last_of(by_id: &mut HashMap<ApprovalId, Approval>, first: ApprovalId) -> Option<Approval> {
    let mut last = by_id.remove(&first)?;
    while let Some(next) = last.replaced_by().and_then(|heir| by_id.remove(&heir)) {
        last = next;
    }
    Some(last)
}

fn key_of(left: &LeftRun) -> RunKey {
    RunKey { project: left.project.clone(), session: left.session.clone(), run: left.id }
}

/// Why a call failed whose driver went away while it ran.
pub fn interrupted() -> Failure {
    Failure {
        error_type: "interrupted".to_owned(),
        error:
            "Interrupted: the server stopped while this ran. Whether it took effect is unknown; \
                look before trying again."
                .to_owned(),
    }
}
