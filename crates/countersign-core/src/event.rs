//! Events: what the log tells of, in the order it happened.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalId, ExecutionId, ExecutionStatus, Executor, ToolUseId, mask_input, mask_text};

/// How many tokens something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Read by the model, from the cache or not.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
}

/// One thing that happened. The log numbers it; readers see it exactly once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// A run began.
    RunStarted {
        /// The model that answers.
        model: String,
        /// The names of the tools it may call.
        tools: Vec<String>,
    },
    /// A run goes on after whoever drove it was gone. What was shown of an answer that is not in the
    /// log is void: it is asked for again.
    RunResumed,
    /// A person said something.
    Prompt {
        /// What.
        text: String,
    },
    /// The model said something.
    Text {
        /// What.
        text: String,
    },
    /// The model wants to use a tool.
    ToolUse {
        /// Its id of the call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// The input.
        input: Value,
        /// The subagent that wants it; none for the main conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A call waits for a person. What they need to see is kept with the approval.
    ApprovalRequested {
        /// Which.
        approval: ApprovalId,
    },
    /// The rehearsal of a call that waits came a step further; it is kept with the approval.
    Rehearsed {
        /// Which.
        approval: ApprovalId,
    },
    /// A call that waited is decided.
    ApprovalResolved {
        /// Which.
        approval: ApprovalId,
        /// What became of it.
        status: ExecutionStatus,
        /// Who decided, where somebody did.
        by: Option<String>,
        /// What they said.
        feedback: Option<String>,
        /// The input as it may run, where they changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited_input: Option<Value>,
    },
    /// An execution came into another state than by a person's decision.
    ToolState {
        /// Which.
        execution: ExecutionId,
        /// The model's id of the call; none in logs of before it was told.
        #[serde(default)]
        tool_use_id: Option<ToolUseId>,
        /// The tool.
        tool_name: String,
        /// The state.
        status: ExecutionStatus,
        /// Who runs it.
        #[serde(default)]
        executor: Executor,
    },
    /// The client that would run a call is asked what is there; what it is asked is kept apart, and not
    /// for long.
    ClientLookWanted {
        /// The call.
        execution: ExecutionId,
        /// The client.
        holder: String,
    },
    /// A client was told to run a call.
    ExecutionSignal {
        /// Which.
        execution: ExecutionId,
        /// The approval, with which the input and the lease are kept.
        approval: ApprovalId,
        /// The client.
        holder: String,
    },
    /// What came of a call that ran elsewhere was taken in.
    ResultReceived {
        /// Which.
        execution: ExecutionId,
    },
    /// What somebody said came of a call was not taken: it was late, or not theirs.
    ResultRefused {
        /// Which.
        execution: ExecutionId,
        /// Why.
        reason: String,
    },
    /// A tool answered, or did not get to.
    ToolResult {
        /// The model's id of the call.
        tool_use_id: ToolUseId,
        /// What the model is told.
        content: String,
        /// Whether that tells of a failure.
        is_error: bool,
    },
    /// What calls had done to files was undone.
    Undone {
        /// Which calls.
        executions: Vec<ExecutionId>,
        /// Who undid it.
        by: String,
        /// How many files are as they were before.
        files: u64,
    },
    /// A run came to its end.
    RunDone {
        /// What it took.
        usage: TokenUsage,
        /// What it cost, as people read it, where somebody has told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<String>,
    },
    /// A conversation that the model's API would have refused was mended, so that it can go on.
    ConversationMended {
        /// How many results of calls were removed: they came twice, or to no call.
        removed: u64,
        /// How many results were added, to calls that had none.
        added: u64,
    },
    /// What the project has settled for itself was changed. Whoever wants to know looks at what holds.
    SettingsChanged,
    /// A run broke off.
    RunFailed {
        /// A stable word for programs.
        code: String,
        /// A sentence for people.
        message: String,
        /// What can be done about it.
        hint: Option<String>,
    },
}

impl Event {
    /// Returns the event as it is kept and shown: without secrets.
    #[must_use]
    pub fn mask_secrets(self) -> Self {
        match self {
            Self::Prompt { text } => Self::Prompt { text: mask_text(&text) },
            Self::Text { text } => Self::Text { text: mask_text(&text) },
            Self::ToolUse { id, name, input, agent } => {
                Self::ToolUse { id, name, input: mask_input(&input), agent }
            }
            Self::ToolResult { tool_use_id, content, is_error } => {
                Self::ToolResult { tool_use_id, content: mask_text(&content), is_error }
            }
            Self::ApprovalResolved { approval, status, by, feedback, edited_input } => {
                let feedback = feedback.map(|text| mask_text(&text));
                let edited_input = edited_input.map(|input| mask_input(&input));
                Self::ApprovalResolved { approval, status, by, feedback, edited_input }
            }
            Self::RunFailed { code, message, hint } => {
                Self::RunFailed { code, message: mask_text(&message), hint }
            }
            other @ (Self::RunStarted { .. }
            | Self::RunResumed
            | Self::ApprovalRequested { .. }
            | Self::Rehearsed { .. }
            | Self::ToolState { .. }
            | Self::ClientLookWanted { .. }
            | Self::ExecutionSignal { .. }
            | Self::ResultReceived { .. }
            | Self::ResultRefused { .. }
            | Self::Undone { .. }
            | Self::ConversationMended { .. }
            | Self::SettingsChanged
            | Self::RunDone { .. }) => other,
        }
    }
}
