//! Tasks: subagents, shells in the background, workflows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A task began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskStartedMessage {
    /// The task.
    pub task_id: String,
    /// What it is to do.
    #[serde(default)]
    pub description: String,
    /// What runs it: `local_agent`, `local_bash`, `local_workflow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The call that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// What kind of subagent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Whether the conversation goes on meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
    /// How deep in other tasks it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn_depth: Option<u64>,
    /// The task that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<String>,
    /// This run of it: a task can be taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The workflow's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow_name: Option<String>,
    /// What the subagent was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Whether it belongs to the surroundings and nobody waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambient: Option<bool>,
}

/// A task goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskProgressMessage {
    /// The task.
    pub task_id: String,
    /// This run of it: a task can be taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What it does now.
    #[serde(default)]
    pub description: String,
    /// The call that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// What kind of subagent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// What it took so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TaskUsage>,
    /// The tool it called last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_tool_name: Option<String>,
    /// What it did, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// What a task took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskUsage {
    /// Tokens, read and written.
    pub total_tokens: u64,
    /// Calls of tools.
    pub tool_uses: u64,
    /// Milliseconds.
    pub duration_ms: u64,
}

/// A task changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskUpdatedMessage {
    /// The task.
    pub task_id: String,
    /// This run of it: a task can be taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What is new.
    #[serde(default)]
    pub patch: TaskPatch,
}

/// What is new about a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskPatch {
    /// How it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// What it is to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<u64>,
    /// For how long it was paused, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_paused_ms: Option<u64>,
    /// What failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the conversation goes on meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_backgrounded: Option<bool>,
}

/// How a task is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskStatus {
    /// It has not begun.
    Pending,
    /// It runs.
    Running,
    /// It waits.
    Paused,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was ended.
    Killed,
    /// It was ended.
    Stopped,
    /// Another word.
    #[serde(untagged)]
    Other(String),
}

impl TaskStatus {
    /// Whether nothing more comes from it.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Killed | Self::Stopped)
    }
}

/// A task came to its end.
///
/// Some tasks end with a [`TaskUpdatedMessage`] only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskNotificationMessage {
    /// The task.
    pub task_id: String,
    /// This run of it: a task can be taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The call that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// How it ended.
    pub status: TaskStatus,
    /// The file with what it wrote.
    #[serde(default)]
    pub output_file: String,
    /// What it did, in a sentence.
    #[serde(default)]
    pub summary: String,
    /// What it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TaskUsage>,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_links: Option<Value>,
}

/// All tasks in the background there now are: the new list takes the place of the old.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackgroundTasksChangedMessage {
    /// The tasks.
    pub tasks: Vec<Value>,
}
