//! What a hook is told, event by event.

use serde::{Deserialize, Deserializer};

mod agent;
mod environment;
mod session;
mod tool;

pub use agent::{
    ElicitationHookInput, ElicitationResultHookInput, SubagentStartHookInput,
    SubagentStopHookInput, TeamTaskHookInput, TeammateIdleHookInput,
};
pub use environment::{
    ConfigChangeHookInput, CwdChangedHookInput, DirectoryAddedHookInput, FileChangedHookInput,
    InstructionsLoadedHookInput, WorktreeCreateHookInput, WorktreeRemoveHookInput,
};
pub use session::{
    MessageDisplayHookInput, ModelSwitchHookInput, NotificationHookInput, PostCompactHookInput,
    PreCompactHookInput, SessionEndHookInput, SessionStartHookInput, SetupHookInput,
    StopFailureHookInput, StopHookInput, UserPromptExpansionHookInput, UserPromptSubmitHookInput,
};
pub use tool::{
    PermissionDeniedHookInput, PermissionRequestHookInput, PostToolBatchHookInput,
    PostToolUseFailureHookInput, PostToolUseHookInput, PreToolUseHookInput, ToolCallSummary,
};

/// What a hook is told about its event. Fields without a name here are in
/// [`HookInput::raw`](super::HookInput::raw).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum HookDetails {
    /// A tool is about to run.
    PreToolUse(PreToolUseHookInput),
    /// A tool has run.
    PostToolUse(PostToolUseHookInput),
    /// A tool has failed.
    PostToolUseFailure(PostToolUseFailureHookInput),
    /// All tools of one answer have run.
    PostToolBatch(PostToolBatchHookInput),
    /// A prompt was given.
    UserPromptSubmit(UserPromptSubmitHookInput),
    /// A slash command was expanded into a prompt.
    UserPromptExpansion(UserPromptExpansionHookInput),
    /// A session starts, or starts again.
    SessionStart(SessionStartHookInput),
    /// A session ends.
    SessionEnd(SessionEndHookInput),
    /// The CLI sets itself up.
    Setup(SetupHookInput),
    /// The model is done.
    Stop(StopHookInput),
    /// A subagent is done.
    SubagentStop(SubagentStopHookInput),
    /// A turn ended with an error of the API.
    StopFailure(StopFailureHookInput),
    /// A subagent starts.
    SubagentStart(SubagentStartHookInput),
    /// The conversation is about to be compacted.
    PreCompact(PreCompactHookInput),
    /// The conversation was compacted.
    PostCompact(PostCompactHookInput),
    /// The model is about to change.
    PreModelSwitch(ModelSwitchHookInput),
    /// The model has changed.
    PostModelSwitch(ModelSwitchHookInput),
    /// A permission is about to be asked for.
    PermissionRequest(PermissionRequestHookInput),
    /// A permission was denied.
    PermissionDenied(PermissionDeniedHookInput),
    /// The CLI has something to say to the user.
    Notification(NotificationHookInput),
    /// An MCP server asks the user something.
    Elicitation(ElicitationHookInput),
    /// The user has answered an MCP server.
    ElicitationResult(ElicitationResultHookInput),
    /// A task was made.
    TaskCreated(TeamTaskHookInput),
    /// A task is done.
    TaskCompleted(TeamTaskHookInput),
    /// A teammate has nothing to do.
    TeammateIdle(TeammateIdleHookInput),
    /// A settings file has changed.
    ConfigChange(ConfigChangeHookInput),
    /// A file of instructions was read.
    InstructionsLoaded(InstructionsLoadedHookInput),
    /// A folder was added to the session.
    DirectoryAdded(DirectoryAddedHookInput),
    /// The working directory has changed.
    CwdChanged(CwdChangedHookInput),
    /// A watched file has changed.
    FileChanged(FileChangedHookInput),
    /// A worktree is to be made.
    WorktreeCreate(WorktreeCreateHookInput),
    /// A worktree is to be removed.
    WorktreeRemove(WorktreeRemoveHookInput),
    /// A piece of an answer is about to be shown.
    MessageDisplay(MessageDisplayHookInput),
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
