//! Deciding: what a person says to a request, and what becomes of a call after that.

use countersign_core::{
    ApprovalId, Decision, Digest, Execution, ExecutionFailure, ExecutionStatus, LockedExecution,
    RunId, StateConflict, ToolOutput,
};

use crate::call_metrics::count_decision;
use crate::gate::Gate;
use crate::store::{StoreError, Transition};

/// Why a decision was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is no such request.
    #[error("no approval request has the id `{0}`")]
    Unknown(ApprovalId),
    /// Someone, or the deadline, was faster, and decided otherwise: what stands comes along.
    #[error(transparent)]
    AlreadySettled(#[from] StateConflict),
    /// What the person saw is not what the request shows.
    #[error("the request is not the one that was shown; look at it again before deciding")]
    Drift(Box<Execution>),
    /// The changed input is not one the tool can run.
    #[error("the changed input cannot run: {0}")]
    Invalid(String),
    /// The changed input is denied.
    #[error("the changed input is denied: {0}")]
    Denied(String),
    /// "Always" cannot be said here, or not like this.
    #[error("{0}")]
    NotAlways(String),
    /// It could not be written down, so it does not count.
    #[error("the decision could not be recorded")]
    Store(#[from] StoreError),
}

impl Gate {
    /// Records what a person decided, if it was theirs to decide.
    ///
    /// `seen` is the digest of what they saw; where it is given it must be that of the request. The
    /// same decision twice is fine; another one than what stands is not.
    pub async fn decide(
        &self,
        id: ApprovalId,
        decision: Decision,
        seen: Option<Digest>,
    ) -> Result<Execution, DecideError> {
        let now = self.inner().clock.now();
        let wanted = decided_status(&decision);
        let step = move |approval: LockedExecution| {
            let approval = check_seen_digest(approval, seen.as_ref())?;
            Ok(approval.settle(decision.clone(), now)?)
        };
        match self.transition(id, step).await? {
            Transition::Unknown => Err(DecideError::Unknown(id)),
            Transition::Made(approval) if approval.status() == wanted => {
                count_decision(&approval);
                Ok(*approval)
            }
            // It was settled by this very call, but as timed out.
            Transition::Made(approval) => Err(StateConflict(approval).into()),
            Transition::Refused(DecideError::AlreadySettled(StateConflict(stands)))
                if matches_decision(&stands, wanted) =>
            {
                Ok(*stands)
            }
            Transition::Refused(refused) => Err(refused),
        }
    }

    /// Takes back a call that has not started; what has started is for its tool to break off.
    pub async fn cancel(&self, id: ApprovalId) -> Result<(), StoreError> {
        let now = self.inner().clock.now();
        self.transition(id, move |approval: LockedExecution| approval.cancel(now)).await.map(drop)
    }

    /// Asks whoever drives a run to stop it.
    pub async fn ask_to_stop(&self, run: RunId) -> Result<(), StoreError> {
        self.inner().store.ask_to_stop(run).await
    }

    /// Returns the runs that are driven here and that somebody wants stopped.
    pub async fn runs_asked_to_stop(&self) -> Result<Vec<RunId>, StoreError> {
        self.inner().store.asked_to_stop().await
    }

    /// Takes back everything of a run that has not started.
    pub async fn cancel_run(&self, run: RunId) -> Result<(), StoreError> {
        for open in self.inner().store.open_in_run(run).await? {
            self.cancel(open.id()).await?;
        }
        Ok(())
    }

    /// Records what a started call gave back, or how it broke off.
    pub async fn finish(
        &self,
        id: ApprovalId,
        outcome: Result<ToolOutput, ExecutionFailure>,
    ) -> Result<Execution, DecideError> {
        let now = self.inner().clock.now();
        let step = move |approval: LockedExecution| match outcome.clone() {
            Ok(output) => approval.complete(output, now),
            Err(failure) => approval.fail(failure, now),
        };
        match self.transition(id, step).await? {
            Transition::Made(approval) => Ok(*approval),
            Transition::Refused(stands) => Err(stands.into()),
            Transition::Unknown => Err(DecideError::Unknown(id)),
        }
    }
}

/// Returns a request as the person saw it; who says nothing of what they saw means what stands.
pub(crate) fn check_seen_digest(
    stands: LockedExecution,
    seen: Option<&Digest>,
) -> Result<LockedExecution, DecideError> {
    match seen {
        Some(seen) => stands.restore_seen_version(seen).map_err(DecideError::Drift),
        None => Ok(stands),
    }
}

fn decided_status(decision: &Decision) -> ExecutionStatus {
    match decision {
        Decision::Approve { .. } => ExecutionStatus::Approved,
        Decision::Reject { .. } => ExecutionStatus::Rejected,
    }
}

/// Whether what stands is what was wanted: an approved call may have gone on meanwhile.
fn matches_decision(stands: &Execution, wanted: ExecutionStatus) -> bool {
    match wanted {
        ExecutionStatus::Approved => stands.was_approved(),
        _ => stands.status() == wanted,
    }
}
