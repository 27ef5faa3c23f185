//! Events of the stream, in S2's words: made from entries of the log and from what is live.

mod data;

use countersign_core::{
    ApprovalId, Event, Execution, ExecutionId, ExecutionStatus, Preview, ProjectId,
};
use countersign_gate::{Gate, LiveEvent, LiveUpdate, LogEntry, StoreError};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use self::data::{
    ApprovalAsked, ApprovalDecided, ChatDelta, ChatMessage, ChatNotice, ChatRetry, ChatRole,
    EventContext, ExecutionSignal, PreimageView, PreviewRequested, ResultAck, ResultAckStatus,
    ResultRefused, RunDone, RunError, RunResumed, RunStarted, ToolOutput, ToolResult, ToolState,
    ToolUndone, ToolUseEvent,
};
pub(crate) use self::data::{ExecutorRoleEvent, LogGap};
use crate::approvals::view::ApprovalView;
use crate::call_context::ContextLookup;
use crate::socket::message::describe_mending;
use crate::tools::lease::LeaseView;
use crate::tools::view::{CallOutcome, WaitingFor};

/// What the stream says: the name stands in the line `event:`, the data in the line `data:`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "event", content = "data")]
pub(crate) enum StreamEvent {
    /// A call waits for a person, or did when this was new: `status` tells.
    #[serde(rename = "tool.approval_request")]
    ApprovalRequest(Box<ApprovalAsked>),
    /// A call that waited is decided.
    #[serde(rename = "tool.approval_decided")]
    ApprovalDecided(ApprovalDecided),
    /// The rehearsal of a call that waits came a step further: the request as it now is.
    #[serde(rename = "tool.rehearsed")]
    Rehearsed(Box<ApprovalAsked>),
    /// A call came into another state than by a person's decision.
    #[serde(rename = "tool.state")]
    ToolState(ToolState),
    /// This client is to run a call, now and once. Only the client that has it hears this.
    #[serde(rename = "tool.execution_signal")]
    Signal(ExecutionSignal),
    /// Somebody is about to be asked about a call that this client would run: what is there? Answered
    /// with `POST …/tools/{tool_id}/preimage`, within 3 seconds. Only a client that said `preimages=true`
    /// hears this.
    #[serde(rename = "tool.preview_request")]
    PreviewRequest(PreviewRequested),
    /// This client stands by because another one runs the project's calls, or now runs them itself. Not
    /// in the log.
    #[serde(rename = "executor.role")]
    ExecutorRole(ExecutorRoleEvent),
    /// What came of a call that ran elsewhere was taken in.
    #[serde(rename = "tool.result_ack")]
    ResultAck(ResultAck),
    /// What somebody said came of a call was not taken: it was late, or not theirs.
    #[serde(rename = "tool.result_refused")]
    ResultRefused(ResultRefused),
    /// What calls had done to files was undone.
    #[serde(rename = "tool.undone")]
    Undone(ToolUndone),
    /// A call that runs elsewhere has written some more. Not in the log: all of it comes with the
    /// result.
    #[serde(rename = "tool.output")]
    Output(ToolOutput),
    /// The model wants to use a tool.
    #[serde(rename = "tool.use")]
    ToolUse(ToolUseEvent),
    /// A tool answered, or did not get to.
    #[serde(rename = "tool.result")]
    ToolResult(ToolResult),
    /// Somebody said something: the person, or the model.
    #[serde(rename = "chat.message")]
    Message(ChatMessage),
    /// The model has written some more. Not in the log: the whole text follows as `chat.message`.
    #[serde(rename = "chat.delta")]
    Delta(ChatDelta),
    /// The model's answer broke off and is asked for again: the deltas since the last message are
    /// void. Not in the log.
    #[serde(rename = "chat.retry")]
    Retry(ChatRetry),
    /// Something about the conversation that its person should know.
    #[serde(rename = "chat.notice")]
    Notice(ChatNotice),
    /// A run began.
    #[serde(rename = "run.started")]
    RunStarted(RunStarted),
    /// A run goes on after the server was restarted, or at another one.
    #[serde(rename = "run.resumed")]
    RunResumed(RunResumed),
    /// A run came to its end.
    #[serde(rename = "run.done")]
    RunDone(RunDone),
    /// A run broke off.
    #[serde(rename = "run.error")]
    RunError(RunError),
    /// The numbers from one to another are forgotten; what follows comes after them.
    #[serde(rename = "stream.gap")]
    Gap(LogGap),
}

impl StreamEvent {
    /// Returns the name, and the data as JSON.
    pub(crate) fn encode(&self) -> serde_json::Result<(&'static str, String)> {
        use serde_json::to_string as json;
        Ok(match self {
            Self::ApprovalRequest(data) => ("tool.approval_request", json(data)?),
            Self::Rehearsed(data) => ("tool.rehearsed", json(data)?),
            Self::ApprovalDecided(data) => ("tool.approval_decided", json(data)?),
            Self::ToolState(data) => ("tool.state", json(data)?),
            Self::Signal(data) => ("tool.execution_signal", json(data)?),
            Self::PreviewRequest(data) => ("tool.preview_request", json(data)?),
            Self::ExecutorRole(data) => ("executor.role", json(data)?),
            Self::ResultAck(data) => ("tool.result_ack", json(data)?),
            Self::ResultRefused(data) => ("tool.result_refused", json(data)?),
            Self::Undone(data) => ("tool.undone", json(data)?),
            Self::Output(data) => ("tool.output", json(data)?),
            Self::ToolUse(data) => ("tool.use", json(data)?),
            Self::ToolResult(data) => ("tool.result", json(data)?),
            Self::Message(data) => ("chat.message", json(data)?),
            Self::Delta(data) => ("chat.delta", json(data)?),
            Self::Retry(data) => ("chat.retry", json(data)?),
            Self::Notice(data) => ("chat.notice", json(data)?),
            Self::RunStarted(data) => ("run.started", json(data)?),
            Self::RunResumed(data) => ("run.resumed", json(data)?),
            Self::RunDone(data) => ("run.done", json(data)?),
            Self::RunError(data) => ("run.error", json(data)?),
            Self::Gap(data) => ("stream.gap", json(data)?),
        })
    }

    /// Returns what an entry of a project's log says; none for what the stream does not tell.
    pub(crate) async fn from_entry(
        gate: &Gate,
        project: &ProjectId,
        entry: LogEntry,
    ) -> Result<Option<Self>, StoreError> {
        let at = EventContext {
            timestamp: entry.at,
            session_id: entry.session.map(|session| session.to_string()),
            run_id: entry.run.map(|run| run.to_string()),
        };
        Ok(Some(match entry.event {
            Event::RunStarted { model, tools } => Self::RunStarted(RunStarted { model, tools, at }),
            Event::RunResumed => Self::RunResumed(RunResumed { at }),
            Event::ConversationMended { removed, added } => {
                Self::Notice(ChatNotice { message: describe_mending(removed, added), at })
            }
            Event::Prompt { text } => {
                Self::Message(ChatMessage { role: ChatRole::User, content: text, at })
            }
            Event::Text { text } => {
                Self::Message(ChatMessage { role: ChatRole::Assistant, content: text, at })
            }
            Event::ToolUse { id, name, input, agent } => Self::ToolUse(ToolUseEvent {
                tool_use_id: id.to_string(),
                tool_name: name,
                tool_input: input,
                agent,
                at,
            }),
            Event::ToolResult { tool_use_id, content, is_error } => {
                let tool_use_id = tool_use_id.to_string();
                Self::ToolResult(ToolResult { tool_use_id, content, is_error, at })
            }
            Event::RunDone { usage, cost } => {
                Self::RunDone(RunDone { usage: usage.into(), cost, at })
            }
            Event::RunFailed { code, message, hint } => {
                Self::RunError(RunError { code, message, hint, at })
            }
            event @ (Event::ApprovalRequested { .. }
            | Event::Rehearsed { .. }
            | Event::ApprovalResolved { .. }
            | Event::ExecutionSignal { .. }) => {
                return Self::from_execution_event(gate, event, at).await;
            }
            Event::ToolState { execution, tool_name, status, executor, .. } => {
                let waiting_for = WaitingFor::for_status(status, executor);
                tool_state_event(gate, project, (execution, tool_name, status, waiting_for), at)
                    .await?
            }
            Event::ClientLookWanted { execution, .. } => {
                // Whoever comes later finds that nobody waits for it any more.
                let call = gate.store().find_requested_look(execution).await?;
                return Ok(call.map(|call| {
                    Self::PreviewRequest(PreviewRequested {
                        tool_id: execution.to_string(),
                        tool_name: call.tool_name,
                        tool_params: call.input,
                        at,
                    })
                }));
            }
            Event::ResultReceived { execution } => Self::ResultAck(ResultAck {
                tool_id: execution.to_string(),
                status: ResultAckStatus::Received,
                at,
            }),
            Event::ResultRefused { execution, reason } => {
                Self::ResultRefused(ResultRefused { tool_id: execution.to_string(), reason, at })
            }
            Event::Undone { executions, by, files } => {
                let tool_ids = executions.iter().map(ToString::to_string).collect();
                Self::Undone(ToolUndone { tool_ids, undone_by: by, files, at })
            }
            // Nothing that a client of tools would do otherwise.
            Event::SettingsChanged => return Ok(None),
        }))
    }

    /// Returns what an event says that needs a look at the approval.
    async fn from_execution_event(
        gate: &Gate,
        event: Event,
        at: EventContext,
    ) -> Result<Option<Self>, StoreError> {
        match event {
            Event::ApprovalRequested { approval } => {
                let asked = load_approval_asked(gate, approval, at.timestamp).await?;
                Ok(asked.map(|asked| Self::ApprovalRequest(Box::new(asked))))
            }
            Event::Rehearsed { approval } => {
                let asked = load_approval_asked(gate, approval, at.timestamp).await?;
                Ok(asked.map(|asked| Self::Rehearsed(Box::new(asked))))
            }
            Event::ApprovalResolved { approval, status, by, feedback, .. } => {
                approval_decided_event(gate, approval, (status, by, feedback), at).await
            }
            Event::ExecutionSignal { approval, holder, .. } => {
                let call = gate.store().approval(approval).await?;
                let theirs = call.filter(|it| it.lease().is_some_and(|it| it.holder == holder));
                Ok(theirs.and_then(|it| Self::signal(it, gate.clock().now())))
            }
            _ => Ok(None),
        }
    }

    /// Returns what a client is told that has a call; none if it no longer has.
    pub(crate) fn signal(call: Execution, now: Timestamp) -> Option<Self> {
        let lease = LeaseView::from_execution(&call)?;
        let at = EventContext {
            timestamp: now,
            session_id: Some(call.call.session.to_string()),
            run_id: call.call.run.map(|run| run.to_string()),
        };
        // What nobody was asked about runs in the form in which it was judged.
        let tool_params = call.input_to_run().into_owned();
        let preimages = call.preview.as_ref().map(Preview::preimages).unwrap_or_default();
        let preimages = preimages.iter().map(PreimageView::from_preimage).collect();
        Some(Self::Signal(ExecutionSignal {
            tool_id: call.call.id.to_string(),
            tool_name: call.call.tool_name,
            tool_params,
            approval_id: call.id.to_string(),
            preimages,
            lease,
            at,
        }))
    }

    /// Returns what is happening at this moment.
    pub(crate) fn from_live(live: LiveUpdate, now: Timestamp) -> Self {
        let at = EventContext {
            timestamp: now,
            session_id: Some(live.session.to_string()),
            run_id: live.run.map(|run| run.to_string()),
        };
        match live.news {
            LiveEvent::ToolOutput { execution, text } => {
                Self::Output(ToolOutput { tool_id: execution.to_string(), text, at })
            }
            LiveEvent::TextDelta(text) => Self::Delta(ChatDelta { text, at }),
            LiveEvent::Retry { attempt, wait_ms, reason } => {
                Self::Retry(ChatRetry { attempt, wait_ms, reason, at })
            }
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
    let description = approval.summary.clone();
    let context = ContextLookup::new(gate.store()).find(&approval).await?;
    let approval = ApprovalView::new(approval, context);
    Ok(Some(ApprovalAsked { approval, timeout_seconds, description, timestamp }))
}

/// How long people have. Once it is settled that is no longer kept: then it is what they have today.
async fn seconds_to_decide(gate: &Gate, approval: &Execution) -> Result<u64, StoreError> {
    if let Some(deadline) = approval.deadline() {
        let given = deadline.duration_since(approval.created_at);
        // Both moments are rounded, each in its way.
        return Ok(u64::try_from((given.as_millis() + 500) / 1000).unwrap_or_default());
    }
    let timeouts = gate.timeouts(&approval.call.project).await?;
    Ok(timeouts.for_risk(approval.risk).as_secs())
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
        tool_id: approval.call.id.to_string(),
        waiting_for: WaitingFor::for_status(status, approval.call.executor),
        tool_name: approval.call.tool_name,
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
