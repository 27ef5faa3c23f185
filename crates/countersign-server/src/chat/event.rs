//! Events of the stream, in S2's words: made from entries of the log and from what is live.

mod data;

use countersign_core::{Approval, ApprovalId, Event, ExecutionId, ProjectId, Status};
use countersign_gate::{Entry, Gate, Live, News, StoreError};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::data::Gap;
use self::data::{
    ApprovalAsked, ApprovalDecided, At, ChatDelta, ChatMessage, ChatNotice, ChatRetry,
    ExecutionSignal, Received, ResultAck, ResultRefused, Role, RunDone, RunError, RunResumed,
    RunStarted, ToolOutput, ToolResult, ToolState, ToolUndone, ToolWanted,
};
use crate::approvals::view::ApprovalView;
use crate::call_context::ContextLookup;
use crate::socket::message::mending_in_words;
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
    ToolUse(ToolWanted),
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
    Gap(Gap),
}

impl StreamEvent {
    /// Returns the name, and the data as JSON.
    pub(crate) fn written(&self) -> serde_json::Result<(&'static str, String)> {
        use serde_json::to_string as json;
        Ok(match self {
            Self::ApprovalRequest(data) => ("tool.approval_request", json(data)?),
            Self::Rehearsed(data) => ("tool.rehearsed", json(data)?),
            Self::ApprovalDecided(data) => ("tool.approval_decided", json(data)?),
            Self::ToolState(data) => ("tool.state", json(data)?),
            Self::Signal(data) => ("tool.execution_signal", json(data)?),
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
    pub(crate) async fn of_entry(
        gate: &Gate,
        project: &ProjectId,
        entry: Entry,
    ) -> Result<Option<Self>, StoreError> {
        let at = At {
            timestamp: entry.at,
            session_id: entry.session.map(|session| session.to_string()),
            run_id: entry.run.map(|run| run.to_string()),
        };
        Ok(Some(match entry.event {
            Event::RunStarted { model, tools } => Self::RunStarted(RunStarted { model, tools, at }),
            Event::RunResumed => Self::RunResumed(RunResumed { at }),
            Event::ConversationMended { removed, added } => {
                Self::Notice(ChatNotice { message: mending_in_words(removed, added), at })
            }
            Event::Prompt { text } => {
                Self::Message(ChatMessage { role: Role::User, content: text, at })
            }
            Event::Text { text } => {
                Self::Message(ChatMessage { role: Role::Assistant, content: text, at })
            }
            Event::ToolUse { id, name, input, agent } => Self::ToolUse(ToolWanted {
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
            | Event::ExecutionSignal { .. }) => return Self::of_approval(gate, event, at).await,
            Event::ToolState { execution, tool_name, status, executor, .. } => {
                let waiting_for = WaitingFor::of(status, executor);
                state(gate, project, (execution, tool_name, status, waiting_for), at).await?
            }
            Event::ResultReceived { execution } => Self::ResultAck(ResultAck {
                tool_id: execution.to_string(),
                status: Received::Received,
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
    async fn of_approval(gate: &Gate, event: Event, at: At) -> Result<Option<Self>, StoreError> {
        match event {
            Event::ApprovalRequested { approval } => {
                let asked = asked(gate, approval, at.timestamp).await?;
                Ok(asked.map(|asked| Self::ApprovalRequest(Box::new(asked))))
            }
            Event::Rehearsed { approval } => {
                let asked = asked(gate, approval, at.timestamp).await?;
                Ok(asked.map(|asked| Self::Rehearsed(Box::new(asked))))
            }
            Event::ApprovalResolved { approval, status, by, feedback, .. } => {
                decided(gate, approval, (status, by, feedback), at).await
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
    pub(crate) fn signal(call: Approval, now: Timestamp) -> Option<Self> {
        let lease = LeaseView::of(&call)?;
        let at = At {
            timestamp: now,
            session_id: Some(call.call.session.to_string()),
            run_id: call.call.run.map(|run| run.to_string()),
        };
        Some(Self::Signal(ExecutionSignal {
            tool_id: call.call.id.to_string(),
            tool_name: call.call.tool_name,
            tool_params: call.call.input,
            approval_id: call.id.to_string(),
            lease,
            at,
        }))
    }

    /// Returns what is happening at this moment.
    pub(crate) fn of_live(live: Live, now: Timestamp) -> Self {
        let at = At {
            timestamp: now,
            session_id: Some(live.session.to_string()),
            run_id: live.run.map(|run| run.to_string()),
        };
        match live.news {
            News::ToolOutput { execution, text } => {
                Self::Output(ToolOutput { tool_id: execution.to_string(), text, at })
            }
            News::TextDelta(text) => Self::Delta(ChatDelta { text, at }),
            News::Retry { attempt, wait_ms, reason } => {
                Self::Retry(ChatRetry { attempt, wait_ms, reason, at })
            }
        }
    }
}

async fn asked(
    gate: &Gate,
    id: ApprovalId,
    timestamp: Timestamp,
) -> Result<Option<ApprovalAsked>, StoreError> {
    let Some(approval) = gate.store().approval(id).await? else { return Ok(None) };
    let timeout_seconds = seconds_given(gate, &approval).await?;
    let description = approval.summary.clone();
    let context = ContextLookup::new(gate.store()).find(&approval).await?;
    let approval = ApprovalView::new(approval, context);
    Ok(Some(ApprovalAsked { approval, timeout_seconds, description, timestamp }))
}

/// How long people have. Once it is settled that is no longer kept: then it is what they have today.
async fn seconds_given(gate: &Gate, approval: &Approval) -> Result<u64, StoreError> {
    if let Some(deadline) = approval.deadline() {
        let given = deadline.duration_since(approval.created_at);
        // Both moments are rounded, each in its way.
        return Ok(u64::try_from((given.as_millis() + 500) / 1000).unwrap_or_default());
    }
    let timeouts = gate.timeouts(&approval.call.project).await?;
    Ok(timeouts.of(approval.risk).as_secs())
}

async fn decided(
    gate: &Gate,
    id: ApprovalId,
    (status, decided_by, feedback): (Status, Option<String>, Option<String>),
    at: At,
) -> Result<Option<StreamEvent>, StoreError> {
    let Some(approval) = gate.store().approval(id).await? else { return Ok(None) };
    Ok(Some(StreamEvent::ApprovalDecided(ApprovalDecided {
        approval_id: id.to_string(),
        tool_id: approval.call.id.to_string(),
        waiting_for: WaitingFor::of(status, approval.call.executor),
        tool_name: approval.call.tool_name,
        status: status.into(),
        decided_by,
        feedback,
        at,
    })))
}

async fn state(
    gate: &Gate,
    project: &ProjectId,
    (id, tool_name, status, waiting_for): (ExecutionId, String, Status, Option<WaitingFor>),
    at: At,
) -> Result<StreamEvent, StoreError> {
    let client_connected = match waiting_for {
        Some(WaitingFor::Client) => Some(gate.store().client_of(project).await?.is_some()),
        Some(WaitingFor::Caller) | None => None,
    };
    let failure = match status {
        Status::Failed => gate.store().execution(project, id).await?,
        _ => None,
    };
    let failure = failure.map(|call| CallOutcome::of(&call)).unwrap_or_default();
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
