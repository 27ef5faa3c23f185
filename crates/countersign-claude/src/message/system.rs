//! What the CLI tells about the session.

mod hook;
mod init;
mod task;
mod turn;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use hook::{HookProgress, HookResponse, HookStarted};
pub use init::{Init, InitServer, Plugin};
pub use task::{
    BackgroundTasksChanged, TaskNotification, TaskPatch, TaskProgress, TaskStarted, TaskStatus,
    TaskUpdated, TaskUsage,
};
pub use turn::{
    ApiRetry, CompactBoundary, CompactMetadata, ModelRefusal, PermissionDenied, SessionState,
    SessionStateChanged, SessionTitleChanged, Status, ThinkingTokens,
};

use super::frame::{Frame, Line, Unknown};

/// Something about the session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemMessage {
    /// A turn begins; says what the session has. Sent with every turn, not just the first.
    Init(Box<Init>),
    /// The session began or ceased to work.
    SessionStateChanged(SessionStateChanged),
    /// The session has another title.
    SessionTitleChanged(SessionTitleChanged),
    /// What the CLI is busy with.
    Status(Status),
    /// The conversation was replaced by a summary up to here.
    CompactBoundary(CompactBoundary),
    /// A task began.
    TaskStarted(TaskStarted),
    /// A task goes on.
    TaskProgress(TaskProgress),
    /// A task changed.
    TaskUpdated(TaskUpdated),
    /// A task came to its end.
    TaskNotification(TaskNotification),
    /// All tasks in the background there now are.
    BackgroundTasksChanged(BackgroundTasksChanged),
    /// A hook began; only with hook events on.
    HookStarted(HookStarted),
    /// A hook wrote something.
    HookProgress(HookProgress),
    /// A hook is done.
    HookResponse(HookResponse),
    /// A call was not allowed, and nobody was asked.
    PermissionDenied(PermissionDenied),
    /// A request to the API failed and is tried again.
    ApiRetry(ApiRetry),
    /// The model refused and another one answers.
    ModelRefusalFallback(ModelRefusal),
    /// The model refused and no other one answers.
    ModelRefusalNoFallback(ModelRefusal),
    /// How much the model has thought by now.
    ThinkingTokens(ThinkingTokens),
    /// Anything else: [`Message::subtype`](super::Message::subtype) names it, the frame has it.
    Unknown,
}

/// Reads a message by its subtype.
pub(super) fn read(line: Line) -> Result<Frame<SystemMessage>, Unknown> {
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
        _ => Ok(Frame::of(line, S::Unknown)),
    }
}

fn body<T: DeserializeOwned>(
    line: Line,
    variant: impl FnOnce(T) -> SystemMessage,
) -> Result<Frame<SystemMessage>, Unknown> {
    Ok(Frame::<T>::read(line)?.map(variant))
}
