//! The transitions of an execution, as pure functions. The gate reaches them through
//! [`ExecutionDraft`](super::ExecutionDraft) and [`LockedExecution`](super::LockedExecution).

use jiff::Timestamp;

use super::{
    ApprovedBy, Decision, DecisionContext, EditedInput, Execution, ExecutionFailure,
    ExecutionState, ExecutionStatus, FailureKind, PermitTerms, StartRejection, StartedExecution,
    StateConflict,
};
use crate::{ApprovalId, ToolCall, ToolOutput};

impl Execution {
    /// Settles a request that waits.
    ///
    /// A decision that comes at the deadline or later settles it as timed out, whatever it says: late
    /// consent is no consent.
    pub(crate) fn settle(self, decision: Decision, now: Timestamp) -> Result<Self, StateConflict> {
        let ExecutionState::AwaitingApproval { deadline } = self.state else {
            return Err(StateConflict(Box::new(self)));
        };
        let state = match decision {
            _ if now >= deadline => ExecutionState::Timeout { at: now },
            Decision::Approve { by } => self.approved(by, now),
            Decision::Reject { by, feedback } => ExecutionState::Rejected { by, at: now, feedback },
        };
        Ok(Self { state, ..self })
    }

    /// Settles a call whose time has come: nobody decided, came to run it or reported. Gives it back
    /// unchanged if it has not.
    pub(crate) fn expire(self, now: Timestamp) -> Result<Self, StateConflict> {
        if self.has_lapsed(now) {
            Ok(self.expire_lapsed(now))
        } else {
            Err(StateConflict(Box::new(self)))
        }
    }

    /// Takes back a call that has not started; one that runs elsewhere is given up.
    pub(crate) fn cancel(self, now: Timestamp) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Pending
            | ExecutionState::AwaitingApproval { .. }
            | ExecutionState::Approved { .. } => {
                Ok(Self { state: ExecutionState::Cancelled { at: now, replaced_by: None }, ..self })
            }
            ExecutionState::Executing { lease: Some(_), .. } => {
                self.fail(cancellation_failure(), now)
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Gives way to another request: one for the edited input, which is riskier than what was asked.
    pub(crate) fn replace_with(
        self,
        to: ApprovalId,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::AwaitingApproval { deadline } if now < deadline => Ok(Self {
                state: ExecutionState::Cancelled { at: now, replaced_by: Some(to) },
                ..self
            }),
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Approves a request with the input as a person changed it, judged and previewed anew.
    ///
    /// The original input is kept beside it. Consent that comes late is none, here too.
    pub(crate) fn settle_edited(
        self,
        edited: EditedInput,
        by: ApprovedBy,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        let settled = self.settle(Decision::Approve { by }, now)?;
        if settled.status() != ExecutionStatus::Approved {
            return Ok(settled);
        }
        let EditedInput {
            input,
            effects,
            commands,
            summary,
            risk,
            verdict,
            preview,
            rules,
            witness,
        } = edited;
        let original = settled.basis.edited_from.clone().unwrap_or(settled.call.input.clone());
        let basis =
            DecisionContext { edited_from: Some(original), rules, witness, ..settled.basis };
        let call = ToolCall { input, ..settled.call };
        let preview = Some(preview);
        Ok(Self { call, effects, commands, summary, risk, verdict, preview, basis, ..settled }
            .with_updated_binding())
    }

    /// Ends an approved call that may no longer start: the rules now deny it.
    pub(crate) fn withdraw(
        self,
        failure: ExecutionFailure,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Approved { .. } => {
                let state =
                    ExecutionState::Failed { by: None, at: now, failure, replaced_by: None };
                Ok(Self { state, ..self })
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Ends a started call that would not have done what was approved; it is asked for again.
    pub(crate) fn supersede(
        self,
        failure: ExecutionFailure,
        by_request: ApprovalId,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Executing { by, .. } => {
                let replaced_by = Some(by_request);
                let state = ExecutionState::Failed { by: Some(by), at: now, failure, replaced_by };
                Ok(Self { state, ..self })
            }
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Starts an approved call. What it may do is fixed here; it becomes a permit once the store has
    /// committed the start.
    pub(crate) fn start(self, now: Timestamp) -> Result<StartedExecution, StartRejection> {
        // What somebody else is to run gets a lease, see `lend`, and no permit.
        let elsewhere = self.call.executor.is_remote();
        let ExecutionState::Approved { by, at, .. } = self.state.clone() else {
            return Err(StartRejection(Box::new(self)));
        };
        if elsewhere {
            return Err(StartRejection(Box::new(self)));
        }
        let terms = PermitTerms::for_start(&self, &by);
        let state = ExecutionState::Executing { by, approved_at: at, since: now, lease: None };
        Ok(StartedExecution::new(Self { state, ..self }, terms))
    }

    /// Records what the tool gave back.
    pub(crate) fn complete(
        self,
        output: ToolOutput,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        let ExecutionState::Executing { by, approved_at, since, .. } = self.state else {
            return Err(StateConflict(Box::new(self)));
        };
        let ToolOutput { content: result, is_error, attachments } = output;
        let state = ExecutionState::Completed {
            by,
            approved_at,
            since,
            at: now,
            is_error,
            result,
            attachments,
            reported: false,
        };
        Ok(Self { state, ..self })
    }

    /// Records that the tool broke off.
    pub(crate) fn fail(
        self,
        failure: ExecutionFailure,
        now: Timestamp,
    ) -> Result<Self, StateConflict> {
        match self.state {
            ExecutionState::Executing { by, .. } => Ok(Self {
                state: ExecutionState::Failed { by: Some(by), at: now, failure, replaced_by: None },
                ..self
            }),
            _ => Err(StateConflict(Box::new(self))),
        }
    }

    /// Leave to start; where somebody else is to start it, not for ever.
    pub(super) fn approved(&self, by: ApprovedBy, now: Timestamp) -> ExecutionState {
        let until = self.call.executor.claim_timeout_secs().map(|seconds| {
            // In whole milliseconds, as the table holds it: both must agree on when it is over.
            let until = now.as_millisecond().saturating_add(seconds.saturating_mul(1000));
            Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX)
        });
        ExecutionState::Approved { by, at: now, until }
    }
}

fn cancellation_failure() -> ExecutionFailure {
    let error = "Interrupted: the run was stopped while this ran elsewhere. Whether it took effect \
                 is unknown; look before trying again.";
    ExecutionFailure::new(FailureKind::Interrupted, error)
}
