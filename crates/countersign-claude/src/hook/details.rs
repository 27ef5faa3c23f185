//! What a hook is told, event by event.

use serde::{Deserialize, Deserializer};

mod agent;
mod place;
mod session;
mod tool;

pub use agent::{
    Elicitation, ElicitationResult, SubagentStart, SubagentStop, TeamTask, TeammateIdle,
};
pub use place::{
    ConfigChange, CwdChanged, DirectoryAdded, FileChanged, InstructionsLoaded, WorktreeCreate,
    WorktreeRemove,
};
pub use session::{
    MessageDisplay, ModelSwitch, Notification, PostCompact, PreCompact, SessionEnd, SessionStart,
    Setup, Stop, StopFailure, UserPromptExpansion, UserPromptSubmit,
};
pub use tool::{
    PermissionDenied, PermissionRequest, PostToolBatch, PostToolUse, PostToolUseFailure,
    PreToolUse, ToolCallSummary,
};

/// What a hook is told about its event. Fields without a name here are in
/// [`HookInput::raw`](super::HookInput::raw).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum HookDetails {
    /// A tool is about to run.
    PreToolUse(PreToolUse),
    /// A tool has run.
    PostToolUse(PostToolUse),
    /// A tool has failed.
    PostToolUseFailure(PostToolUseFailure),
    /// All tools of one answer have run.
    PostToolBatch(PostToolBatch),
    /// A prompt was given.
    UserPromptSubmit(UserPromptSubmit),
    /// A slash command was expanded into a prompt.
    UserPromptExpansion(UserPromptExpansion),
    /// A session starts, or starts again.
    SessionStart(SessionStart),
    /// A session ends.
    SessionEnd(SessionEnd),
    /// The CLI sets itself up.
    Setup(Setup),
    /// The model is done.
    Stop(Stop),
    /// A subagent is done.
    SubagentStop(SubagentStop),
    /// A turn ended with an error of the API.
    StopFailure(StopFailure),
    /// A subagent starts.
    SubagentStart(SubagentStart),
    /// The conversation is about to be compacted.
    PreCompact(PreCompact),
    /// The conversation was compacted.
    PostCompact(PostCompact),
    /// The model is about to change.
    PreModelSwitch(ModelSwitch),
    /// The model has changed.
    PostModelSwitch(ModelSwitch),
    /// A permission is about to be asked for.
    PermissionRequest(PermissionRequest),
    /// A permission was denied.
    PermissionDenied(PermissionDenied),
    /// The CLI has something to say to the user.
    Notification(Notification),
    /// An MCP server asks the user something.
    Elicitation(Elicitation),
    /// The user has answered an MCP server.
    ElicitationResult(ElicitationResult),
    /// A task was made.
    TaskCreated(TeamTask),
    /// A task is done.
    TaskCompleted(TeamTask),
    /// A teammate has nothing to do.
    TeammateIdle(TeammateIdle),
    /// A settings file has changed.
    ConfigChange(ConfigChange),
    /// A file of instructions was read.
    InstructionsLoaded(InstructionsLoaded),
    /// A folder was added to the session.
    DirectoryAdded(DirectoryAdded),
    /// The working directory has changed.
    CwdChanged(CwdChanged),
    /// A watched file has changed.
    FileChanged(FileChanged),
    /// A worktree is to be made.
    WorktreeCreate(WorktreeCreate),
    /// A worktree is to be removed.
    WorktreeRemove(WorktreeRemove),
    /// A piece of an answer is about to be shown.
    MessageDisplay(MessageDisplay),
    /// An event this crate has no name for, or whose fields it did not expect.
    #[serde(skip)]
    Other,
}

fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
