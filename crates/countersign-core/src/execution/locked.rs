//! An execution that a write transaction holds: the only one whose state can change.

use std::ops::Deref;

use countersign_seal::GateToken;
use jiff::Timestamp;

use super::{
    ApprovedBy, CallLease, Decision, EditedInput, Execution, ExecutionFailure, ReportRejection,
    StartRejection, StartedExecution, StateConflict,
};
use crate::{ApprovalId, Digest, RehearsalState, ReportedOutcome, ToolOutput};

/// An execution as a write transaction has found it.
///
/// Each method checks the state and returns the execution as it is to be written. Nothing happens if
/// the transaction does not write it.
#[derive(Debug)]
pub struct LockedExecution(Execution);

impl LockedExecution {
    /// Returns an execution that the transaction has just read.
    pub fn in_transaction(found: Execution, _: GateToken) -> Self {
        Self(found)
    }

    /// Settles a request that waits.
    ///
    /// A decision that comes at the deadline or later settles it as timed out, whatever it says.
    pub fn settle(self, decision: Decision, now: Timestamp) -> Result<Execution, StateConflict> {
        self.0.settle(decision, now)
    }

    /// Approves a request with the input as a person changed it. The original input is kept beside it.
    pub fn settle_edited(
        self,
        edited: EditedInput,
        by: ApprovedBy,
        now: Timestamp,
    ) -> Result<Execution, StateConflict> {
        self.0.settle_edited(edited, by, now)
    }

    /// Settles a call that nobody decided, came to run or reported in time.
    pub fn expire(self, now: Timestamp) -> Result<Execution, StateConflict> {
        self.0.expire(now)
    }

    /// Takes back a call that has not started; one that runs elsewhere is given up.
    pub fn cancel(self, now: Timestamp) -> Result<Execution, StateConflict> {
        self.0.cancel(now)
    }

    /// Gives way to another request: one for the edited input, which is riskier than what was asked.
    pub fn replace_with(self, to: ApprovalId, now: Timestamp) -> Result<Execution, StateConflict> {
        self.0.replace_with(to, now)
    }

    /// Ends an approved call that may no longer start.
    pub fn withdraw(
        self,
        failure: ExecutionFailure,
        now: Timestamp,
    ) -> Result<Execution, StateConflict> {
        self.0.withdraw(failure, now)
    }

    /// Ends a started call that would not have done what was approved; it is asked for again.
    pub fn supersede(
        self,
        failure: ExecutionFailure,
        by_request: ApprovalId,
        now: Timestamp,
    ) -> Result<Execution, StateConflict> {
        self.0.supersede(failure, by_request, now)
    }

    /// Starts an approved call that runs here. The permit follows the commit, see
    /// [`Permit::from_committed`](super::Permit::from_committed).
    pub fn start(self, now: Timestamp) -> Result<StartedExecution, StartRejection> {
        self.0.start(now)
    }

    /// Records what the tool gave back.
    pub fn complete(self, output: ToolOutput, now: Timestamp) -> Result<Execution, StateConflict> {
        self.0.complete(output, now)
    }

    /// Records that the tool broke off.
    pub fn fail(
        self,
        failure: ExecutionFailure,
        now: Timestamp,
    ) -> Result<Execution, StateConflict> {
        self.0.fail(failure, now)
    }

    /// Lends an approved call to somebody elsewhere, once.
    ///
    /// One that has waited too long for somebody to come has lapsed: it comes back as failed.
    pub fn lend(self, lease: CallLease, now: Timestamp) -> Result<Execution, StartRejection> {
        self.0.lend(lease, now)
    }

    /// Refuses to lend or start the call.
    pub fn reject_start(self) -> StartRejection {
        StartRejection(Box::new(self.0))
    }

    /// Prolongs a lease. One that is over is not prolonged: the call comes back as failed.
    pub fn renew(
        self,
        token: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Execution, ReportRejection> {
        self.0.renew(token, until, now)
    }

    /// Records what came of a call that ran elsewhere.
    ///
    /// Without a token it is taken from whoever brings it. What comes too late makes the call fail.
    pub fn report(
        self,
        reported: &ReportedOutcome,
        token: Option<&str>,
        now: Timestamp,
    ) -> Result<Execution, ReportRejection> {
        self.0.report(reported, token, now)
    }

    /// Records what came of a call that was only seen.
    pub fn record_observed_result(
        self,
        reported: &ReportedOutcome,
        now: Timestamp,
    ) -> Result<Execution, StateConflict> {
        self.0.record_observed_result(reported, now)
    }

    /// Shows with a command that waits how its rehearsal stands.
    pub fn record_rehearsal(self, rehearsal: RehearsalState) -> Result<Execution, StateConflict> {
        self.0.record_rehearsal(rehearsal)
    }

    /// Returns the request as somebody saw it who names this digest, see
    /// [`Execution::restore_seen_version`].
    pub fn restore_seen_version(self, seen: &Digest) -> Result<Self, Box<Execution>> {
        self.0.restore_seen_version(seen).map(Self)
    }
}

impl Deref for LockedExecution {
    type Target = Execution;

    fn deref(&self) -> &Execution {
        &self.0
    }
}
