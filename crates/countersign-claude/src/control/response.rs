//! What the CLI answers, where the answer has a form of its own.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// The answer to the first request: what the CLI offers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InitializeResponse {
    /// Slash commands.
    pub commands: Vec<Value>,
    /// Subagents.
    pub agents: Vec<Value>,
    /// Models.
    pub models: Vec<Value>,
    /// Who pays.
    pub account: Option<Value>,
    /// How answers are styled.
    pub output_style: Option<String>,
    /// The CLI's version; older ones say it only in their first message.
    pub claude_code_version: Option<String>,
    /// Whether hooks were taken.
    pub hooks_applied: Option<bool>,
    /// Whether a hook that fails can block.
    pub hook_on_failure_supported: Option<bool>,
    /// The rest.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What an interrupt did. Older CLIs say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InterruptReceipt {
    /// Prompts that still wait, by their uuids.
    pub still_queued: Vec<String>,
    /// Prompts that were taken back.
    pub cancelled: Vec<String>,
}

/// What a rewind changed, or would.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct RewindFilesResult {
    /// Whether it can be done.
    pub can_rewind: bool,
    /// Why not.
    pub error: Option<String>,
    /// The files.
    pub files_changed: Vec<String>,
    /// Lines put back in.
    pub insertions: u64,
    /// Lines taken out.
    pub deletions: u64,
}

/// What became of a new set of MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct McpServersChange {
    /// New ones.
    pub added: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
    /// Those that failed, and why.
    pub errors: BTreeMap<String, String>,
}

/// How an MCP server is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct McpServerStatus {
    /// The server.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Its tools.
    pub tools: Vec<Value>,
    /// The rest.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What fills the context.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextUsage {
    /// What takes how much.
    pub categories: Vec<Value>,
    /// How much is taken.
    pub total_tokens: u64,
    /// How much there is.
    pub max_tokens: u64,
    /// The share that is taken, in percent.
    pub percentage: f64,
    /// The model.
    pub model: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What a task has written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TaskOutput {
    /// The end of it.
    pub output: String,
    /// How much it is in all.
    pub total_bytes: u64,
    /// Whether something is missing.
    pub truncated: bool,
}
