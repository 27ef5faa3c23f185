//! Events of the stream, in S2's words: made from entries of the log and from what is live.

use countersign_api::approval::ApprovalView;
use countersign_api::execution::{CallOutcome, WaitingFor};
use countersign_api::stream::{
    ApprovalAsked, ApprovalDecided, ChatDelta, ChatRetry, EventContext, PreviewRequested,
    StreamEvent, ToolOutput, ToolState,
};
use countersign_core::{ApprovalId, Event, Execution, ExecutionId, ExecutionStatus, ProjectId};
use countersign_gate::{Gate, LiveEvent, LiveUpdate, LogEntry, StoreError};
use jiff::Timestamp;

use crate::call_context::ContextLookup;

/// Returns what an entry of a project's log says; none for what the stream does not tell.
pub(crate) async fn from_entry(
    gate: &Gate,
    project: &ProjectId,
    entry: LogEntry,
) -> Result<Option<StreamEvent>, StoreError> {
    let at = EventContext {
        timestamp: entry.at,
        session_id: entry.session.map(|session| session.to_string()),
        run_id: entry.run.map(|run| run.to_string()),
    };
    match StreamEvent::from_event(entry.event, at) {
        Ok(event) => Ok(Some(event)),
        Err(unknown) => {
            let (event, at) = *unknown;
            look_up_event(gate, project, event, at).await
        }
    }
}

/// Returns what an event says of a call as it now is; none where that is nothing any more.
async fn look_up_event(
    gate: &Gate,
    project: &ProjectId,
    event: Event,
    at: EventContext,
) -> Result<Option<StreamEvent>, StoreError> {
    match event {
        Event::ToolState { execution, tool_name, status, executor, .. } => {
            let waiting_for = WaitingFor::for_status(status, executor);
            let state = (execution, tool_name, status, waiting_for);
            tool_state_event(gate, project, state, at).await.map(Some)
        }
        Event::ClientLookWanted { execution, .. } => {
            // Whoever comes later finds that nobody waits for it any more.
            let call = gate.store().find_requested_look(execution).await?;
            Ok(call.map(|call| {
                StreamEvent::PreviewRequest(PreviewRequested {
                    tool_id: execution.to_string(),
                    tool_name: call.tool_name,
                    tool_params: call.input,
                    at,
                })
            }))
        }
        Event::ApprovalRequested { approval } => {
            let asked = load_approval_asked(gate, approval, at.timestamp).await?;
            Ok(asked.map(|asked| StreamEvent::ApprovalRequest(Box::new(asked))))
        }
        Event::Rehearsed { approval } => {
            let asked = load_approval_asked(gate, approval, at.timestamp).await?;
            Ok(asked.map(|asked| StreamEvent::Rehearsed(Box::new(asked))))
        }
        Event::ApprovalResolved { approval, status, by, feedback, .. } => {
            approval_decided_event(gate, approval, (status, by, feedback), at).await
        }
        Event::ExecutionSignal { approval, holder, .. } => {
            let call = gate.store().approval(approval).await?;
            let theirs = call.filter(|it| it.lease().is_some_and(|it| it.holder == holder));
            Ok(theirs.and_then(|it| StreamEvent::execution_signal(&it, gate.clock().now())))
        }
        _ => Ok(None),
    }
}

/// Returns what is happening at this moment.
pub(crate) fn from_live(live: LiveUpdate, now: Timestamp) -> StreamEvent {
    let at = EventContext {
        timestamp: now,
        session_id: Some(live.session.to_string()),
        run_id: live.run.map(|run| run.to_string()),
    };
    match live.news {
        LiveEvent::ToolOutput { execution, text } => {
            StreamEvent::Output(ToolOutput { tool_id: execution.to_string(), text, at })
        }
        LiveEvent::TextDelta(text) => StreamEvent::Delta(ChatDelta { text, at }),
        LiveEvent::Retry { attempt, wait_ms, reason } => {
            StreamEvent::Retry(ChatRetry { attempt, wait_ms, reason, at })
        }
    }
}

async fn load_approval_asked(
    gate: &Gate,
    id: ApprovalId,
    timestamp: Timestamp,
) -> Result<Option<ApprovalAsked>, StoreError> {
    let Some(approval) = gate.store().approval(id).await? else { return Ok(None) };
    let timeout_seconds = seconds_to_decide(gate, &approval).await?;
    let description = approval.summary().to_owned();
    let context = ContextLookup::new(gate.store()).find(&approval).await?;
    let approval = ApprovalView::new(&approval, context);
    Ok(Some(ApprovalAsked { approval, timeout_seconds, description, timestamp }))
}

/// How long people have. Once it is settled that is no longer kept: then it is what they have today.
async fn seconds_to_decide(gate: &Gate, approval: &Execution) -> Result<u64, StoreError> {
    if let Some(deadline) = approval.deadline() {
        let given = deadline.duration_since(approval.created_at());
        // Both moments are rounded, each in its way.
        return Ok(u64::try_from((given.as_millis() + 500) / 1000).unwrap_or_default());
    }
    let timeouts = gate.timeouts(&approval.call().project).await?;
    Ok(timeouts.for_risk(approval.risk()).as_secs())
}

async fn approval_decided_event(
    gate: &Gate,
    id: ApprovalId,
    (status, decided_by, feedback): (ExecutionStatus, Option<String>, Option<String>),
    at: EventContext,
) -> Result<Option<StreamEvent>, StoreError> {
    let Some(approval) = gate.store().approval(id).await? else { return Ok(None) };
    Ok(Some(StreamEvent::ApprovalDecided(ApprovalDecided {
        approval_id: id.to_string(),
        tool_id: approval.call().id.to_string(),
        waiting_for: WaitingFor::for_status(status, approval.call().executor),
        tool_name: approval.call().tool_name.clone(),
        status: status.into(),
        decided_by,
        feedback,
        at,
    })))
}

async fn tool_state_event(
    gate: &Gate,
    project: &ProjectId,
    (id, tool_name, status, waiting_for): (
        ExecutionId,
        String,
        ExecutionStatus,
        Option<WaitingFor>,
    ),
    at: EventContext,
) -> Result<StreamEvent, StoreError> {
    let client_connected = match waiting_for {
        Some(WaitingFor::Client) => Some(gate.store().connected_client(project).await?.is_some()),
        Some(WaitingFor::Caller) | None => None,
    };
    let failure = match status {
        ExecutionStatus::Failed => gate.store().execution(project, id).await?,
        _ => None,
    };
    let failure = failure.map(|call| CallOutcome::from_execution(&call)).unwrap_or_default();
    Ok(StreamEvent::ToolState(ToolState {
        tool_id: id.to_string(),
        tool_name,
        status: status.into(),
        waiting_for,
        client_connected,
        error_type: failure.error_type,
        error: failure.error,
        at,
    }))
}
