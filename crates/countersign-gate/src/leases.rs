//! Leases: calls that somebody else runs, from being lent to being reported.

use std::time::Duration;

use countersign_core::{
    ApprovalId, CallLease, Digest, Execution, ExecutionFailure, ExecutionStatus, Executor,
    FailureKind, LockedExecution, ReportRejection, ReportedOutcome, StartRejection, VerdictAction,
};
use jiff::Timestamp;

use crate::executors::ExecutorLease;
use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::live::{LiveEvent, LiveUpdate};
use crate::new_id::new_id;
use crate::planner_task::deadline_after;
use crate::prior_state::PriorStateProbe;
use crate::store::{LendOutcome, StoreError, Transition};

/// Why a result, or a sign of life, was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is no such call.
    #[error("no call has the id `{0}`")]
    Unknown(ApprovalId),
    /// It is late, or not theirs: what stands comes along.
    #[error(transparent)]
    NotTaken(#[from] ReportRejection),
    /// It could not be written down, so it does not count.
    #[error("the result could not be recorded")]
    Store(#[from] StoreError),
}

impl Gate {
    /// Lends an approved call to whoever handed it in, or to the program that drives its run, once.
    pub async fn lend(
        &self,
        id: ApprovalId,
        holder: &str,
        period: Duration,
    ) -> Result<Result<Execution, StartRejection>, GateError> {
        if let Some(refused) = self.withdraw_if_denied_by_id(id).await? {
            return Ok(Err(StartRejection(refused)));
        }
        let now = self.inner().clock.now();
        let lease = new_lease(holder, now, period);
        let step = move |approval: LockedExecution| match approval.call().executor {
            Executor::Caller | Executor::ClaudeCli => approval.lend(lease.clone(), now),
            // Which client runs it is not for the client to say.
            Executor::Local | Executor::Client => Err(approval.reject_start()),
        };
        Ok(match self.transition(id, step).await? {
            Transition::Unknown => return Err(GateError::Unknown(id)),
            Transition::Refused(refused) => Err(refused),
            Transition::Made(made) if made.status() == ExecutionStatus::Executing => Ok(*made),
            Transition::Made(lapsed) => Err(StartRejection(lapsed)),
        })
    }

    /// Lends the approved calls of a project to the client that runs them; none if it no longer does.
    ///
    /// `period` says for how long each is lent at first.
    pub async fn lend_all(
        &self,
        role: &ExecutorLease,
        period: impl Fn(&Execution) -> Duration,
    ) -> Result<Option<usize>, StoreError> {
        let mut lent = 0;
        for approval in self.inner().store.unclaimed_calls(role.project()).await? {
            if self.withdraw_if_denied(&approval).await?.is_some() {
                continue;
            }
            let now = self.inner().clock.now();
            if !may_run_on_client(&approval, role) {
                let step =
                    move |stands: LockedExecution| stands.withdraw(client_changed_failure(), now);
                self.transition(approval.id(), step).await?;
                continue;
            }
            let lease = new_lease(role.client(), now, period(&approval));
            let probe = PriorStateProbe::default();
            let step = probe.watch(move |stands: LockedExecution| stands.lend(lease.clone(), now));
            match self.inner().store.lend_to(role.stream(), approval.id(), now, step).await? {
                LendOutcome::NotOnPost => return Ok(None),
                LendOutcome::Tried(Transition::Made(made)) => {
                    self.notify_changed(probe.prior_state(), &made);
                    lent += 1;
                }
                LendOutcome::Tried(Transition::Refused(_) | Transition::Unknown) => {}
            }
        }
        Ok(Some(lent))
    }

    /// Prolongs a lease from now: whoever has it is still there.
    pub async fn renew(
        &self,
        id: ApprovalId,
        token: &str,
        period: Duration,
    ) -> Result<Execution, ReportError> {
        let now = self.inner().clock.now();
        let (token, until) = (token.to_owned(), deadline_after(now, period));
        let step = move |approval: LockedExecution| approval.renew(&token, until, now);
        match self.transition(id, step).await? {
            Transition::Unknown => Err(ReportError::Unknown(id)),
            Transition::Refused(refused) => Err(refused.into()),
            Transition::Made(made) if made.status() == ExecutionStatus::Executing => Ok(*made),
            Transition::Made(lapsed) => Err(ReportRejection::Settled(lapsed).into()),
        }
    }

    /// Shows what a call that runs elsewhere has written so far. It need not survive.
    pub fn show_output(&self, approval: &Execution, text: String) {
        let call = &approval.call();
        let news = LiveEvent::ToolOutput { execution: call.id, text };
        let live = LiveUpdate { session: call.session.clone(), run: call.run, news };
        self.inner().channels.send_live(&call.project, live);
    }

    /// Records what came of a call that ran elsewhere, if it was in time and theirs to say.
    ///
    /// The same twice is fine. What is not taken is recorded as that.
    pub async fn report(
        &self,
        id: ApprovalId,
        token: Option<String>,
        reported: ReportedOutcome,
    ) -> Result<Execution, ReportError> {
        let now = self.inner().clock.now();
        let said = reported.clone();
        let step = move |approval: LockedExecution| approval.report(&said, token.as_deref(), now);
        let refused = match self.transition(id, step).await? {
            Transition::Unknown => return Err(ReportError::Unknown(id)),
            Transition::Made(made) if made.was_reported_as(&reported) => return Ok(*made),
            Transition::Made(lapsed) => ReportRejection::Settled(lapsed),
            Transition::Refused(ReportRejection::Settled(stands))
                if stands.was_reported_as(&reported) =>
            {
                return Ok(*stands);
            }
            Transition::Refused(refused) => refused,
        };
        self.record_refused_report(&refused, &reported, now).await?;
        Err(refused.into())
    }

    async fn record_refused_report(
        &self,
        refused: &ReportRejection,
        reported: &ReportedOutcome,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let said = match reported {
            ReportedOutcome::Done(report) => report.to_json_text(),
            ReportedOutcome::Failed(error) | ReportedOutcome::Drifted(error) => error.clone(),
        };
        let (stands, reason) = (refused.execution().clone(), refused.to_string());
        self.inner()
            .store
            .refuse_result(stands, reason, Digest::for_bytes(said.as_bytes()), now)
            .await
    }

    /// Ends an approved call that the rules have come to deny since it was asked for.
    async fn withdraw_if_denied_by_id(
        &self,
        id: ApprovalId,
    ) -> Result<Option<Box<Execution>>, StoreError> {
        match self.inner().store.approval(id).await? {
            Some(approved) if approved.status() == ExecutionStatus::Approved => {
                self.withdraw_if_denied(&approved).await
            }
            _ => Ok(None),
        }
    }
}

/// Whether a call may run at the client that has the role: what was shown, or what nobody was asked
/// about, is what is there.
fn may_run_on_client(approved: &Execution, role: &ExecutorLease) -> bool {
    let Some(witness) = &approved.basis().witness else { return true };
    let by_person = approved.verdict().outcome == VerdictAction::Ask;
    // One that checks refuses by itself what is not as a person saw it.
    witness.client == role.client() || (by_person && role.shows_files())
}

fn client_changed_failure() -> ExecutionFailure {
    let error = "The client whose files were shown is gone, and another one would have run this; it \
                 was not run. Make the call again.";
    ExecutionFailure::new(FailureKind::AnotherClient, error)
}

fn new_lease(holder: &str, now: Timestamp, period: Duration) -> CallLease {
    let token = new_id::<uuid::Uuid>().to_string();
    CallLease { token, holder: holder.to_owned(), until: deadline_after(now, period) }
}
