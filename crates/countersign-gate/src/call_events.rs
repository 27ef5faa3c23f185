//! Which events follow a change of state: the rules of the log, apart from the SQL that writes it.

use countersign_core::{
    Event, Execution, ExecutionState, ExecutionStatus, Executor, FailureKind, Secrets,
};

/// Returns the events that tell of a change of state. `secrets` is asked only where the log repeats what
/// a tool returned.
pub(crate) fn events_for_change(
    before: ExecutionStatus,
    approval: &Execution,
    secrets: impl FnOnce() -> Secrets,
) -> Vec<Event> {
    let mut events = Vec::new();
    let after = approval.status();
    match (before, after) {
        (_, ExecutionStatus::AwaitingApproval) => {
            events.push(Event::ApprovalRequested { approval: approval.id() });
        }
        (ExecutionStatus::AwaitingApproval, _) => events.push(resolved_event(approval)),
        _ => {
            if was_reported(approval) {
                events.push(Event::ResultReceived { execution: approval.call().id });
            }
            events.push(Event::ToolState {
                execution: approval.call().id,
                tool_use_id: Some(approval.call().tool_use_id.clone()),
                tool_name: approval.call().tool_name.clone(),
                status: after,
                executor: approval.call().executor,
            });
        }
    }
    if let Some(lease) = approval.lease()
        && approval.call().executor == Executor::Client
    {
        events.push(Event::ExecutionSignal {
            execution: approval.call().id,
            approval: approval.id(),
            holder: lease.holder.clone(),
        });
    }
    // What a child of our own agent is answered is no part of the conversation of its parent.
    let of_child = approval.call().agent.is_some() && approval.call().executor == Executor::Local;
    if let Some(answer) = approval.to_tool_output().filter(|_| !of_child) {
        events.push(Event::ToolResult {
            tool_use_id: approval.call().tool_use_id.clone(),
            content: secrets().hide_in_text(&answer.content),
            is_error: answer.is_error,
        });
    }
    events
}

/// Whether whoever ran it elsewhere has said what came of it.
fn was_reported(approval: &Execution) -> bool {
    match &approval.state() {
        ExecutionState::Completed { reported, .. } => *reported,
        ExecutionState::Failed { by: Some(_), failure, .. } => {
            approval.call().executor.is_remote() && failure.kind == FailureKind::ToolError
        }
        _ => false,
    }
}

fn resolved_event(approval: &Execution) -> Event {
    let by = match &approval.state() {
        ExecutionState::Approved { by, .. } | ExecutionState::Rejected { by, .. } => {
            Some(by.to_string())
        }
        _ => None,
    };
    let is_edited = approval.basis().edited_from.is_some() && approval.was_approved();
    Event::ApprovalResolved {
        approval: approval.id(),
        status: approval.status(),
        by,
        feedback: approval.state().decision_comment().map(str::to_owned),
        edited_input: is_edited.then(|| approval.call().input.clone()),
    }
}
