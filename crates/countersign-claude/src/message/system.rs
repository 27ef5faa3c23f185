//! What the CLI tells about the session.

mod hook;
mod init;
mod task;
mod turn;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use hook::{HookProgressMessage, HookResponseMessage, HookStartedMessage};
pub use init::{InitMcpServer, InitMessage, PluginInfo};
pub use task::{
    BackgroundTasksChangedMessage, TaskNotificationMessage, TaskPatch, TaskProgressMessage,
    TaskStartedMessage, TaskStatus, TaskUpdatedMessage, TaskUsage,
};
pub use turn::{
    ApiRetryMessage, CompactBoundaryMessage, CompactMetadata, ModelRefusalMessage,
    PermissionDeniedMessage, SessionState, SessionStateChangedMessage, SessionTitleChangedMessage,
    StatusMessage, ThinkingTokensMessage,
};

use super::frame::{MessageFrame, MessageLine, UnknownMessage};

/// Something about the session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemMessage {
    /// A turn begins; says what the session has. Sent with every turn, not just the first.
    Init(Box<InitMessage>),
    /// The session began or ceased to work.
    SessionStateChanged(SessionStateChangedMessage),
    /// The session has another title.
    SessionTitleChanged(SessionTitleChangedMessage),
    /// What the CLI is busy with.
    Status(StatusMessage),
    /// The conversation was replaced by a summary up to here.
    CompactBoundary(CompactBoundaryMessage),
    /// A task began.
    TaskStarted(TaskStartedMessage),
    /// A task goes on.
    TaskProgress(TaskProgressMessage),
    /// A task changed.
    TaskUpdated(TaskUpdatedMessage),
    /// A task came to its end.
    TaskNotification(TaskNotificationMessage),
    /// All tasks in the background there now are.
    BackgroundTasksChanged(BackgroundTasksChangedMessage),
    /// A hook began; only with hook events on.
    HookStarted(HookStartedMessage),
    /// A hook wrote something.
    HookProgress(HookProgressMessage),
    /// A hook is done.
    HookResponse(HookResponseMessage),
    /// A call was not allowed, and nobody was asked.
    PermissionDenied(PermissionDeniedMessage),
    /// A request to the API failed and is tried again.
    ApiRetry(ApiRetryMessage),
    /// The model refused and another one answers.
    ModelRefusalFallback(ModelRefusalMessage),
    /// The model refused and no other one answers.
    ModelRefusalNoFallback(ModelRefusalMessage),
    /// How much the model has thought by now.
    ThinkingTokens(ThinkingTokensMessage),
    /// Anything else: [`Message::subtype`](super::Message::subtype) names it, the frame has it.
    Unknown,
}

/// Reads a message by its subtype.
pub(super) fn read(line: MessageLine) -> Result<MessageFrame<SystemMessage>, UnknownMessage> {
    use SystemMessage as S;
    let subtype = line.head().subtype.clone();
    match subtype.as_deref() {
        Some("init") => body(line, S::Init),
        Some("session_state_changed") => body(line, S::SessionStateChanged),
        Some("session_title_changed") => body(line, S::SessionTitleChanged),
        Some("status") => body(line, S::Status),
        Some("compact_boundary") => body(line, S::CompactBoundary),
        Some("task_started") => body(line, S::TaskStarted),
        Some("task_progress") => body(line, S::TaskProgress),
        Some("task_updated") => body(line, S::TaskUpdated),
        Some("task_notification") => body(line, S::TaskNotification),
        Some("background_tasks_changed") => body(line, S::BackgroundTasksChanged),
        Some("hook_started") => body(line, S::HookStarted),
        Some("hook_progress") => body(line, S::HookProgress),
        Some("hook_response") => body(line, S::HookResponse),
        Some("permission_denied") => body(line, S::PermissionDenied),
        Some("api_retry") => body(line, S::ApiRetry),
        Some("model_refusal_fallback") => body(line, S::ModelRefusalFallback),
        Some("model_refusal_no_fallback") => body(line, S::ModelRefusalNoFallback),
        Some("thinking_tokens") => body(line, S::ThinkingTokens),
        _ => Ok(MessageFrame::with_body(line, S::Unknown)),
    }
}

fn body<T: DeserializeOwned>(
    line: MessageLine,
    variant: impl FnOnce(T) -> SystemMessage,
) -> Result<MessageFrame<SystemMessage>, UnknownMessage> {
    Ok(MessageFrame::<T>::read(line)?.map(variant))
}
