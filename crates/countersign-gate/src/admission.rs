//! The way of a call from its submission to leave to run it.
//!
//! [`Gate::admit`] takes a call that runs here, [`Gate::admit_remote`] one that runs elsewhere. Both
//! submit it, wait for the decision while the driver does something else, give leave, and ask again if
//! the call would no longer do what was approved.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use countersign_core::{
    ApprovalId, Execution, ExecutionFailure, ExecutionState, ExecutionStatus, FailureKind, Permit,
    StartRejection, ToolCall,
};
use tracing::{Instrument, Span};

use crate::activity_log::call_span;
use crate::call_driver::{CallDriver, LocalCallDriver, PermitUse, RecordingPatience};
use crate::decide::DecideError;
use crate::gate::Gate;
use crate::gate_error::GateError;
use crate::new_id::new_id;
use crate::recovery::interrupted_failure;
use crate::retry::retry_until_available;
use crate::submit::{LocalSubmission, RemoteSubmission};
use crate::submit_options::CallTerms;

/// How often a call that keeps moving under its approval is asked for again.
const ASK_AGAIN: usize = 3;

/// What is wrong with a call that runs elsewhere and moved under its approval.
const MOVED: &str = "what it would change is no longer what was shown";

/// A call on its way through the gate. Boxed: it is large, and callers that are generic over lifetimes
/// could not send it between threads otherwise.
pub type AdmissionFuture<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// Where a call enters the gate.
#[derive(Clone, Debug)]
pub enum CallEntry {
    /// It is made now.
    New(ToolCall),
    /// An earlier driver of its run has left it in this state.
    Resumed(Box<Execution>),
    /// It was let pass, and is asked for after all before it had an effect.
    Again {
        /// The execution that gives way.
        stale: ApprovalId,
        /// Why.
        why: ExecutionFailure,
    },
}

impl CallEntry {
    /// Returns the span of the call, for everything that is done on its way.
    fn span(&self) -> Span {
        match self {
            Self::New(call) => call_span(Some(call)),
            Self::Resumed(stands) => call_span(Some(stands.call())),
            Self::Again { .. } => call_span(None),
        }
    }
}

/// What came of a call that runs here.
#[derive(Debug)]
pub enum Admission<T> {
    /// It ran on its permit, and this is what the driver made of that.
    Ran(T),
    /// It may not run; the execution says why, and [`Execution::to_tool_output`] tells the model.
    Refused(Box<Execution>),
}

/// To whom a call that runs elsewhere is lent, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct LeaseTerms<'a> {
    /// Who runs it.
    pub holder: &'a str,
    /// For how long, unless the lease is renewed.
    pub period: Duration,
}

impl Gate {
    /// Takes a call that runs here through the gate: submits it, waits for the decision, starts it and
    /// lets the driver use the permit. A call that moved under its approval is asked for again.
    pub fn admit<'a, D: LocalCallDriver>(
        &'a self,
        entry: CallEntry,
        terms: &'a CallTerms,
        driver: &'a D,
    ) -> AdmissionFuture<'a, Admission<D::Output>, D::Error> {
        let span = entry.span();
        Box::pin(self.admit_here(entry, terms, driver).instrument(span))
    }

    async fn admit_here<D: LocalCallDriver>(
        &self,
        entry: CallEntry,
        terms: &CallTerms,
        driver: &D,
    ) -> Result<Admission<D::Output>, D::Error> {
        let mut submission = self.enter_here(entry, terms, driver).await?;
        let mut left = ASK_AGAIN;
        loop {
            let permit = match self.await_permit(submission, driver).await? {
                Ok(permit) => permit,
                Err(refused) => return Ok(Admission::Refused(refused)),
            };
            let (stale, why) = match driver.use_permit(permit).await {
                PermitUse::Done(output) => return Ok(Admission::Ran(output)),
                PermitUse::Drifted { stale, why } => (stale, why),
            };
            if left == 0 {
                let failed =
                    self.record(driver, "a result", || self.fail_call(stale, why.clone())).await?;
                return Ok(Admission::Refused(Box::new(failed)));
            }
            left -= 1;
            submission = self.ask_again_here(stale, why, terms, driver).await?;
        }
    }

    /// Takes a call that runs elsewhere through the gate: submits it, waits for the decision and lends
    /// it. Returns it in the state `Executing`, or in the one that says why it is not lent.
    ///
    /// Nobody looks at its files again when it runs, so they are looked at right after it is lent. A
    /// call that moved under its approval is asked for again.
    pub fn admit_remote<'a, D: CallDriver>(
        &'a self,
        entry: CallEntry,
        terms: &'a CallTerms,
        lease: LeaseTerms<'a>,
        driver: &'a D,
    ) -> AdmissionFuture<'a, Execution, D::Error> {
        let span = entry.span();
        Box::pin(self.admit_elsewhere(entry, terms, lease, driver).instrument(span))
    }

    async fn admit_elsewhere<D: CallDriver>(
        &self,
        entry: CallEntry,
        terms: &CallTerms,
        lease: LeaseTerms<'_>,
        driver: &D,
    ) -> Result<Execution, D::Error> {
        let mut submission = self.enter_elsewhere(entry, terms, driver).await?;
        let mut left = ASK_AGAIN;
        loop {
            let decided = self.await_remote_decision(submission, driver).await?;
            if decided.status() != ExecutionStatus::Approved {
                return Ok(decided);
            }
            let was_shown = decided.preview().is_some();
            let hand_out = || self.lend(decided.id(), lease.holder, lease.period);
            let running = match self.record(driver, "a lease", hand_out).await? {
                Ok(running) => running,
                Err(StartRejection(stands)) => return Ok(*stands),
            };
            if !was_shown || self.matches_preview(&running, &terms.planner).await {
                return Ok(running);
            }
            let (stale, why) = (running.id(), ExecutionFailure::new(FailureKind::Drift, MOVED));
            if left == 0 {
                return self
                    .record(driver, "a result", || self.fail_call(stale, why.clone()))
                    .await;
            }
            left -= 1;
            let again = || self.resubmit_remote(stale, why.clone(), terms);
            submission = self.record(driver, "a call", again).await?;
        }
    }

    /// Submits a call that runs elsewhere, from wherever it enters, and does not wait for anybody.
    pub fn enter_remote<'a, D: CallDriver>(
        &'a self,
        entry: CallEntry,
        terms: &'a CallTerms,
        driver: &'a D,
    ) -> AdmissionFuture<'a, RemoteSubmission, D::Error> {
        let span = entry.span();
        Box::pin(self.enter_elsewhere(entry, terms, driver).instrument(span))
    }

    async fn enter_elsewhere<D: CallDriver>(
        &self,
        entry: CallEntry,
        terms: &CallTerms,
        driver: &D,
    ) -> Result<RemoteSubmission, D::Error> {
        match entry {
            CallEntry::New(call) => {
                let _turn = driver.take_turn().await?;
                self.record(driver, "a call", || self.submit_remote(call.clone(), terms)).await
            }
            CallEntry::Again { stale, why } => {
                let again = || self.resubmit_remote(stale, why.clone(), terms);
                self.record(driver, "a call", again).await
            }
            // Whoever was to take its place was never recorded.
            CallEntry::Resumed(stands) if stands.replaced_by().is_some() => {
                let heir = || self.resubmit_remote_replacement(&stands, terms);
                self.record(driver, "a call", heir).await
            }
            CallEntry::Resumed(stands) => Ok(RemoteSubmission::Existing(stands)),
        }
    }

    async fn enter_here<D: CallDriver>(
        &self,
        entry: CallEntry,
        terms: &CallTerms,
        driver: &D,
    ) -> Result<LocalSubmission, D::Error> {
        match entry {
            CallEntry::New(call) => {
                let _turn = driver.take_turn().await?;
                self.record(driver, "a call", || self.submit_local(call.clone(), terms)).await
            }
            CallEntry::Again { stale, why } => self.ask_again_here(stale, why, terms, driver).await,
            CallEntry::Resumed(stands) => self.resume_here(*stands, terms, driver).await,
        }
    }

    /// Goes on with a call where an earlier driver of its run has left it.
    async fn resume_here<D: CallDriver>(
        &self,
        stands: Execution,
        terms: &CallTerms,
        driver: &D,
    ) -> Result<LocalSubmission, D::Error> {
        match stands.state() {
            ExecutionState::AwaitingApproval { .. } | ExecutionState::Approved { .. } => {
                Ok(LocalSubmission::Waiting(Box::new(stands)))
            }
            // Whatever it has read, reading it again changes nothing.
            ExecutionState::Executing { .. } if stands.is_read_only() => {
                self.ask_again_here(stands.id(), interrupted_failure(), terms, driver).await
            }
            ExecutionState::Executing { .. } => {
                let end = || self.fail_call(stands.id(), interrupted_failure());
                let failed = self.record(driver, "an interruption", end).await?;
                Ok(LocalSubmission::Refused(Box::new(failed)))
            }
            // Whoever was to take its place was never recorded.
            ExecutionState::Failed { replaced_by: Some(_), .. }
            | ExecutionState::Cancelled { replaced_by: Some(_), .. } => {
                let heir = || self.resubmit_local_replacement(&stands, terms);
                self.record(driver, "a call", heir).await
            }
            ExecutionState::Pending => {
                let call = ToolCall { id: new_id(), ..stands.call().clone() };
                self.record(driver, "a call", || self.submit_local(call.clone(), terms)).await
            }
            ExecutionState::Completed { .. }
            | ExecutionState::Failed { .. }
            | ExecutionState::Rejected { .. }
            | ExecutionState::Timeout { .. }
            | ExecutionState::Cancelled { .. } => Ok(LocalSubmission::Refused(Box::new(stands))),
        }
    }

    async fn ask_again_here<D: CallDriver>(
        &self,
        stale: ApprovalId,
        why: ExecutionFailure,
        terms: &CallTerms,
        driver: &D,
    ) -> Result<LocalSubmission, D::Error> {
        let again = || self.resubmit_local(stale, why.clone(), terms);
        match self.record(driver, "a call", again).await? {
            // It has given way, but the database was away before its replacement was there.
            LocalSubmission::Refused(stands) if stands.replaced_by().is_some() => {
                let heir = || self.resubmit_local_replacement(&stands, terms);
                self.record(driver, "a call", heir).await
            }
            submission => Ok(submission),
        }
    }

    /// Returns the permit of a submitted call, or the execution that says why there is none.
    async fn await_permit<D: CallDriver>(
        &self,
        submission: LocalSubmission,
        driver: &D,
    ) -> Result<Result<Permit, Box<Execution>>, D::Error> {
        let asked = match submission {
            LocalSubmission::Permitted(permit) => return Ok(Ok(*permit)),
            LocalSubmission::Refused(stands) => return Ok(Err(stands)),
            LocalSubmission::Waiting(asked) => asked,
        };
        self.wait_beside(&asked, driver).await?;
        // Only now, where nothing can drop it half-way: it may start the call.
        self.record(driver, "a start", || self.start_decided(asked.id())).await
    }

    async fn await_remote_decision<D: CallDriver>(
        &self,
        submission: RemoteSubmission,
        driver: &D,
    ) -> Result<Execution, D::Error> {
        let asked = match submission {
            RemoteSubmission::Waiting(asked) => asked,
            RemoteSubmission::Approved(stands)
            | RemoteSubmission::Refused(stands)
            | RemoteSubmission::Existing(stands) => return Ok(*stands),
        };
        self.wait_beside(&asked, driver).await?;
        self.record(driver, "a decision", || self.wait_for_decision(asked.id())).await
    }

    /// Waits for the decision on a request, or until the driver has done what it does meanwhile.
    async fn wait_beside<D: CallDriver>(
        &self,
        asked: &Execution,
        driver: &D,
    ) -> Result<(), D::Error> {
        tokio::select! {
            biased;
            done = driver.while_waiting(asked) => done,
            decided = self.record(driver, "a decision", || self.wait_for_decision(asked.id())) => {
                decided.map(drop)
            }
        }
    }

    /// Takes one step, again and again if the driver is patient. `what` says in the log what waits.
    async fn record<D: CallDriver, T, F>(
        &self,
        driver: &D,
        what: &'static str,
        step: impl Fn() -> F,
    ) -> Result<T, D::Error>
    where
        F: Future<Output = Result<T, GateError>>,
    {
        let taken = match driver.patience() {
            RecordingPatience::Once => step().await,
            RecordingPatience::Until(left) => {
                retry_until_available(self.clock(), what, left.cancelled(), step).await
            }
        };
        taken.map_err(|error| driver.give_up(error))
    }

    /// Waits for the decision on a request and starts the call if it was approved.
    async fn start_decided(
        &self,
        id: ApprovalId,
    ) -> Result<Result<Permit, Box<Execution>>, GateError> {
        let decided = self.wait_for_decision(id).await?;
        if decided.status() != ExecutionStatus::Approved {
            return Ok(Err(Box::new(decided)));
        }
        if let Some(refused) = self.withdraw_if_denied(&decided).await? {
            return Ok(Err(refused));
        }
        Ok(self.start(decided.id()).await?.map_err(|StartRejection(stands)| stands))
    }

    /// Ends a started call as failed; one that was settled meanwhile stays as it is.
    async fn fail_call(
        &self,
        id: ApprovalId,
        why: ExecutionFailure,
    ) -> Result<Execution, GateError> {
        match self.finish(id, Err(why)).await {
            Ok(failed) => Ok(failed),
            Err(DecideError::AlreadySettled(stands)) => Ok(*stands.0),
            Err(DecideError::Store(error)) => Err(error.into()),
            Err(_) => Err(GateError::Unknown(id)),
        }
    }
}
