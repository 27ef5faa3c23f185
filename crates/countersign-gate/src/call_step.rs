//! The steps of a call that the log and the metrics tell of.

use countersign_core::{ApprovedBy, Execution, ExecutionState, ExecutionStatus};

use crate::prior_state::PriorCallState;

/// One step on the way of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallStep {
    /// It was submitted, and nobody needs to be asked.
    Allowed,
    /// It was submitted, and may not run.
    Refused,
    /// It waits for a person.
    Asked,
    /// A person has approved or rejected it.
    Decided,
    /// Nobody decided in time.
    TimedOut,
    /// Somebody runs it.
    Started,
    /// It has run, or failed while it ran.
    Executed,
    /// It was taken back, or lost its leave, before it ran.
    Withdrawn,
}

impl CallStep {
    /// Returns the step that led here; `prior` is none for a call that was just submitted. A renewed
    /// lease and the progress of a rehearsal are no steps.
    pub(crate) fn between(
        prior: Option<PriorCallState>,
        status: ExecutionStatus,
    ) -> Option<CallStep> {
        use ExecutionStatus as Status;
        let before = prior.map(|prior| prior.status);
        if before == Some(status) {
            return None;
        }
        Some(match (before, status) {
            (_, Status::Pending) => return None,
            (_, Status::AwaitingApproval) => Self::Asked,
            (_, Status::Timeout) => Self::TimedOut,
            (None, Status::Approved | Status::Executing | Status::Completed) => Self::Allowed,
            (None, Status::Failed | Status::Rejected | Status::Cancelled) => Self::Refused,
            (Some(_), Status::Executing) => Self::Started,
            (Some(_), Status::Approved | Status::Rejected) => Self::Decided,
            (Some(Status::Executing), Status::Completed | Status::Failed) => Self::Executed,
            (Some(_), Status::Completed | Status::Failed | Status::Cancelled) => Self::Withdrawn,
        })
    }

    /// Returns what the log says of it.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Allowed => "call allowed",
            Self::Refused => "call refused",
            Self::Asked => "call asked",
            Self::Decided => "call decided",
            Self::TimedOut => "call timed out",
            Self::Started => "call started",
            Self::Executed => "call executed",
            Self::Withdrawn => "call withdrawn",
        }
    }
}

/// Returns what was decided, in one word, if this step decided it.
pub(crate) fn decision_word(
    step: CallStep,
    prior: Option<PriorCallState>,
    execution: &Execution,
) -> Option<&'static str> {
    let was_edited = prior.is_some_and(|prior| prior.was_edited);
    match step {
        CallStep::Decided if execution.status() == ExecutionStatus::Rejected => Some("reject"),
        CallStep::Decided if execution.basis().edited_from.is_some() && !was_edited => Some("edit"),
        CallStep::Decided => Some("approve"),
        CallStep::TimedOut => Some("timeout"),
        CallStep::Allowed
        | CallStep::Refused
        | CallStep::Asked
        | CallStep::Started
        | CallStep::Executed
        | CallStep::Withdrawn => None,
    }
}

/// Returns what kind of party gave or refused leave; never a name, and never what they said.
pub(crate) fn decider_word(state: &ExecutionState) -> Option<&'static str> {
    let by = match state {
        ExecutionState::Approved { by, .. }
        | ExecutionState::Executing { by, .. }
        | ExecutionState::Completed { by, .. }
        | ExecutionState::Rejected { by, .. } => Some(by),
        ExecutionState::Failed { by, .. } => by.as_ref(),
        ExecutionState::Pending
        | ExecutionState::AwaitingApproval { .. }
        | ExecutionState::Timeout { .. }
        | ExecutionState::Cancelled { .. } => None,
    };
    Some(match by? {
        ApprovedBy::Policy => "policy",
        ApprovedBy::Person(_) | ApprovedBy::PersonSaying { .. } => "person",
        ApprovedBy::Callback => "callback",
        ApprovedBy::AgentPrompt => "agent_prompt",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_told_by_where_the_call_was_and_where_it_is() {
        use ExecutionStatus as Status;
        let check = |before: Option<Status>, after: Status, step: Option<CallStep>| {
            let prior = |status| PriorCallState { status, started_at: None, was_edited: false };
            assert_eq!(CallStep::between(before.map(prior), after), step, "{before:?} {after}");
        };
        check(None, Status::AwaitingApproval, Some(CallStep::Asked));
        check(None, Status::Executing, Some(CallStep::Allowed));
        check(None, Status::Failed, Some(CallStep::Refused));
        check(Some(Status::AwaitingApproval), Status::Approved, Some(CallStep::Decided));
        check(Some(Status::AwaitingApproval), Status::Rejected, Some(CallStep::Decided));
        check(Some(Status::AwaitingApproval), Status::Timeout, Some(CallStep::TimedOut));
        check(Some(Status::AwaitingApproval), Status::Cancelled, Some(CallStep::Withdrawn));
        check(Some(Status::Approved), Status::Executing, Some(CallStep::Started));
        check(Some(Status::Approved), Status::Failed, Some(CallStep::Withdrawn));
        check(Some(Status::Executing), Status::Completed, Some(CallStep::Executed));
        check(Some(Status::Executing), Status::Failed, Some(CallStep::Executed));
        check(Some(Status::Executing), Status::Executing, None);
        check(Some(Status::AwaitingApproval), Status::AwaitingApproval, None);
    }
}
