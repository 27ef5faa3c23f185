//! What a hook is told, event by event.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::permission::PermissionUpdate;

/// What a hook is told about its event. Fields without a name here are in
/// [`HookInput::raw`](super::HookInput::raw).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum HookDetails {
    /// A tool is about to run.
    PreToolUse {
        /// The tool.
        tool_name: String,
        /// What it runs with.
        #[serde(default)]
        tool_input: Map<String, Value>,
        /// The id of the call.
        #[serde(default)]
        tool_use_id: Option<String>,
        /// The MCP server it belongs to.
        #[serde(default)]
        mcp_server: Option<Value>,
    },
    /// A tool has run.
    PostToolUse {
        /// The tool.
        tool_name: String,
        /// What it ran with.
        #[serde(default)]
        tool_input: Map<String, Value>,
        /// The id of the call.
        #[serde(default)]
        tool_use_id: Option<String>,
        /// What it returned.
        #[serde(default)]
        tool_response: Value,
        /// How long it took.
        #[serde(default)]
        duration_ms: Option<f64>,
    },
    /// A tool has failed.
    PostToolUseFailure {
        /// The tool.
        tool_name: String,
        /// What it ran with.
        #[serde(default)]
        tool_input: Map<String, Value>,
        /// The id of the call.
        #[serde(default)]
        tool_use_id: Option<String>,
        /// Why it failed.
        error: String,
        /// Whether it was interrupted.
        #[serde(default)]
        is_interrupt: Option<bool>,
        /// How long it took.
        #[serde(default)]
        duration_ms: Option<f64>,
    },
    /// All tools of one answer have run.
    PostToolBatch {
        /// The calls.
        #[serde(default, deserialize_with = "or_default")]
        tool_calls: Vec<ToolCallSummary>,
    },
    /// A prompt was given.
    UserPromptSubmit {
        /// The prompt.
        prompt: String,
        /// Who gave it.
        #[serde(default)]
        source: Option<String>,
        /// The session's title.
        #[serde(default)]
        session_title: Option<String>,
    },
    /// A slash command was expanded into a prompt.
    UserPromptExpansion {
        /// What was expanded.
        expansion_type: String,
        /// The command.
        command_name: String,
        /// What followed it.
        command_args: String,
        /// Where the command is from.
        #[serde(default)]
        command_source: Option<String>,
        /// What it became.
        prompt: String,
    },
    /// A session starts, or starts again.
    SessionStart {
        /// `startup`, `resume`, `clear`, `compact` or `fork`.
        source: String,
        /// The model.
        #[serde(default)]
        model: Option<String>,
        /// The session's title.
        #[serde(default)]
        session_title: Option<String>,
        /// How full the context is.
        #[serde(default)]
        context_tokens: Option<u64>,
    },
    /// A session ends.
    SessionEnd {
        /// Why.
        reason: String,
    },
    /// The CLI sets itself up.
    Setup {
        /// `init` or `maintenance`.
        trigger: String,
    },
    /// The model is done.
    Stop {
        /// Whether a stop hook made it go on before: blocking again may never end.
        #[serde(default, deserialize_with = "or_default")]
        stop_hook_active: bool,
        /// The last answer.
        #[serde(default)]
        last_assistant_message: Option<String>,
        /// What still runs.
        #[serde(default, deserialize_with = "or_default")]
        background_tasks: Vec<Value>,
        /// What runs by the clock.
        #[serde(default, deserialize_with = "or_default")]
        session_crons: Vec<Value>,
    },
    /// A subagent is done.
    SubagentStop {
        /// Whether a stop hook made it go on before.
        #[serde(default, deserialize_with = "or_default")]
        stop_hook_active: bool,
        /// The last answer.
        #[serde(default)]
        last_assistant_message: Option<String>,
        /// The subagent.
        #[serde(default)]
        agent_id: Option<String>,
        /// Its kind.
        #[serde(default)]
        agent_type: Option<String>,
        /// Where its transcript is.
        #[serde(default)]
        agent_transcript_path: Option<String>,
        /// What still runs.
        #[serde(default, deserialize_with = "or_default")]
        background_tasks: Vec<Value>,
    },
    /// A turn ended with an error of the API.
    StopFailure {
        /// The error.
        #[serde(default)]
        error: Value,
        /// More on it.
        #[serde(default)]
        error_details: Option<Value>,
        /// The last answer.
        #[serde(default)]
        last_assistant_message: Option<String>,
    },
    /// A subagent starts.
    SubagentStart {
        /// The subagent.
        #[serde(default)]
        agent_id: Option<String>,
        /// Its kind.
        #[serde(default)]
        agent_type: Option<String>,
    },
    /// The conversation is about to be compacted.
    PreCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// What the user asked to keep.
        #[serde(default)]
        custom_instructions: Option<String>,
    },
    /// The conversation was compacted.
    PostCompact {
        /// `manual` or `auto`.
        trigger: String,
        /// What is left.
        #[serde(default)]
        compact_summary: Option<String>,
    },
    /// The model is about to change.
    PreModelSwitch {
        /// The old model.
        #[serde(default)]
        from_model: Option<String>,
        /// The new model.
        #[serde(default)]
        to_model: Option<String>,
        /// What was asked for.
        #[serde(default)]
        requested_model: Option<String>,
        /// Who asked.
        #[serde(default)]
        source: Option<String>,
        /// How full the context is.
        #[serde(default)]
        context_tokens: Option<u64>,
    },
    /// The model has changed.
    PostModelSwitch {
        /// The old model.
        #[serde(default)]
        from_model: Option<String>,
        /// The new model.
        #[serde(default)]
        to_model: Option<String>,
        /// What was asked for.
        #[serde(default)]
        requested_model: Option<String>,
        /// Who asked.
        #[serde(default)]
        source: Option<String>,
        /// How full the context is.
        #[serde(default)]
        context_tokens: Option<u64>,
    },
    /// A permission is about to be asked for.
    PermissionRequest {
        /// The tool.
        tool_name: String,
        /// What it would run with.
        #[serde(default)]
        tool_input: Map<String, Value>,
        /// Changes to the rules the CLI offers.
        #[serde(default, deserialize_with = "or_default")]
        permission_suggestions: Vec<PermissionUpdate>,
        /// The MCP server it belongs to.
        #[serde(default)]
        mcp_server: Option<Value>,
    },
    /// A permission was denied.
    PermissionDenied {
        /// The tool.
        tool_name: String,
        /// What it would have run with.
        #[serde(default)]
        tool_input: Map<String, Value>,
        /// The id of the call.
        #[serde(default)]
        tool_use_id: Option<String>,
        /// Why.
        #[serde(default)]
        reason: Option<String>,
    },
    /// The CLI has something to say to the user.
    Notification {
        /// What it says.
        message: String,
        /// Its headline.
        #[serde(default)]
        title: Option<String>,
        /// Its kind.
        #[serde(default)]
        notification_type: Option<String>,
    },
    /// An MCP server asks the user something.
    Elicitation {
        /// The server.
        mcp_server_name: String,
        /// What it asks.
        message: String,
        /// `form` or `url`.
        #[serde(default)]
        mode: Option<String>,
        /// Where the user is to go.
        #[serde(default)]
        url: Option<String>,
        /// What the answer has to look like.
        #[serde(default)]
        requested_schema: Option<Value>,
    },
    /// The user has answered an MCP server.
    ElicitationResult {
        /// The server.
        mcp_server_name: String,
        /// `accept`, `decline` or `cancel`.
        action: String,
        /// What was filled in.
        #[serde(default)]
        content: Option<Value>,
    },
    /// A task was made.
    TaskCreated {
        /// The task.
        task_id: String,
        /// What it is about.
        #[serde(default)]
        task_subject: Option<String>,
        /// More on it.
        #[serde(default)]
        task_description: Option<String>,
        /// Whose it is.
        #[serde(default)]
        teammate_name: Option<String>,
    },
    /// A task is done.
    TaskCompleted {
        /// The task.
        task_id: String,
        /// What it was about.
        #[serde(default)]
        task_subject: Option<String>,
        /// More on it.
        #[serde(default)]
        task_description: Option<String>,
        /// Whose it was.
        #[serde(default)]
        teammate_name: Option<String>,
    },
    /// A teammate has nothing to do.
    TeammateIdle {
        /// The teammate.
        #[serde(default)]
        teammate_name: Option<String>,
    },
    /// A settings file has changed.
    ConfigChange {
        /// Which settings.
        source: String,
        /// The file.
        #[serde(default)]
        file_path: Option<String>,
    },
    /// A file of instructions was read.
    InstructionsLoaded {
        /// The file.
        file_path: String,
        /// Whose instructions they are.
        #[serde(default)]
        memory_type: Option<String>,
        /// Why it was read.
        #[serde(default)]
        load_reason: Option<String>,
        /// What they apply to.
        #[serde(default, deserialize_with = "or_default")]
        globs: Vec<String>,
    },
    /// A folder was added to the session.
    DirectoryAdded {
        /// The folder.
        directory: String,
        /// Who added it.
        #[serde(default)]
        source: Option<String>,
    },
    /// The working directory has changed.
    CwdChanged {
        /// The old one.
        old_cwd: String,
        /// The new one.
        new_cwd: String,
    },
    /// A watched file has changed.
    FileChanged {
        /// The file.
        file_path: String,
        /// `change`, `add` or `unlink`.
        event: String,
    },
    /// A worktree is to be made.
    WorktreeCreate {
        /// Its name.
        name: String,
    },
    /// A worktree is to be removed.
    WorktreeRemove {
        /// Where it is.
        worktree_path: String,
    },
    /// A piece of an answer is about to be shown.
    MessageDisplay {
        /// The turn.
        #[serde(default)]
        turn_id: Option<String>,
        /// The message.
        #[serde(default)]
        message_id: Option<String>,
        /// Which piece.
        #[serde(default)]
        index: Option<u64>,
        /// Whether it is the last piece.
        #[serde(rename = "final", default)]
        is_final: Option<bool>,
        /// The piece.
        #[serde(default)]
        delta: Option<String>,
    },
    /// An event this crate has no name for, or whose fields it did not expect.
    #[serde(skip)]
    Other,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ToolCallSummary {
    /// The tool.
    pub tool_name: String,
    /// What it ran with.
    #[serde(default)]
    pub tool_input: Map<String, Value>,
    /// The id of the call.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// What it returned.
    #[serde(default)]
    pub tool_response: Option<Value>,
}

fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
