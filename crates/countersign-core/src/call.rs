//! A tool call, as an agent made it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ExecutionId, Executor, ProjectId, RunId, SessionId, ToolUseId};

/// What an agent wants done, and on whose behalf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Our id of this execution.
    pub id: ExecutionId,
    /// The project whose policy applies.
    pub project: ProjectId,
    /// The conversation it came up in.
    pub session: SessionId,
    /// The run that waits for it; none when another program asks.
    pub run: Option<RunId>,
    /// The model's id of the call, to answer it by.
    pub tool_use_id: ToolUseId,
    /// The tool's name as the model wrote it.
    pub tool_name: String,
    /// The tool's input as the model wrote it. Nothing in it is trusted.
    pub input: Value,
    /// The folder relative paths start from.
    pub cwd: PathBuf,
    /// Who runs it.
    #[serde(default)]
    pub executor: Executor,
    /// The subagent that wants it; none for the main conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}
