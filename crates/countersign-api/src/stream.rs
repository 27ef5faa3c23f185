//! Events of the stream, in S2's words.

mod data;

use countersign_core::{Event, Execution, Preview};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::data::{
    ApprovalAsked, ApprovalDecided, ChatDelta, ChatMessage, ChatNotice, ChatRetry, ChatRole,
    EventContext, ExecutionSignal, ExecutorRoleEvent, ExecutorRoleName, LogGap, PreimageView,
    PreviewRequested, ResultAck, ResultAckStatus, ResultRefused, RunDone, RunError, RunResumed,
    RunStarted, ToolOutput, ToolResult, ToolState, ToolUndone, ToolUseEvent,
};
use crate::lease::LeaseView;
use crate::socket::message::describe_mending;

/// What the stream says: the name stands in the line `event:`, the data in the line `data:`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", content = "data")]
pub enum StreamEvent {
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
    pub fn encode(&self) -> serde_json::Result<(&'static str, String)> {
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

    /// Returns what an event says that the log has in full; the others come back as they are: what they
    /// say has to be looked up.
    pub fn from_event(event: Event, at: EventContext) -> Result<Self, Box<(Event, EventContext)>> {
        Ok(match event {
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
            event @ (Event::ApprovalRequested { .. }
            | Event::Rehearsed { .. }
            | Event::ApprovalResolved { .. }
            | Event::ExecutionSignal { .. }
            | Event::ToolState { .. }
            | Event::ClientLookWanted { .. }
            | Event::SettingsChanged) => return Err(Box::new((event, at))),
        })
    }

    /// Returns what a client is told that has a call; none if it no longer has.
    pub fn execution_signal(call: &Execution, now: Timestamp) -> Option<Self> {
        let lease = LeaseView::from_execution(call)?;
        let at = EventContext {
            timestamp: now,
            session_id: Some(call.call().session.to_string()),
            run_id: call.call().run.map(|run| run.to_string()),
        };
        // What nobody was asked about runs in the form in which it was judged.
        let tool_params = call.input_to_run().into_owned();
        let preimages = call.preview().map(Preview::preimages).unwrap_or_default();
        let preimages = preimages.iter().map(PreimageView::from_preimage).collect();
        Some(Self::Signal(ExecutionSignal {
            tool_id: call.call().id.to_string(),
            tool_name: call.call().tool_name.clone(),
            tool_params,
            approval_id: call.id().to_string(),
            preimages,
            lease,
            at,
        }))
    }
}
