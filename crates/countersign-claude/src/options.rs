//! What a session is started with: the builder, and how it becomes flags, environment and the
//! `initialize` request.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::hook::HookMatcher;
use crate::mcp::{McpServer, McpServerConfig};
use crate::mirror::TranscriptStore;
use crate::permission::{DialogHandler, ElicitationHandler, PermissionHandler, PermissionMode};

mod agent;
mod conversation;
mod environment;
mod flags;
mod initialize;
mod limits;
mod model;
mod permissions;
mod process;
#[cfg(test)]
mod tests;
mod tools;
mod validate;

pub use agent::{AgentDefinition, AgentMcpServerSpec, AgentMemory};
pub use environment::EnvironmentVariables;
pub(crate) use limits::SessionLimits;
pub use limits::{BACKLOG_LIMIT, LINE_LIMIT};
pub use model::{EffortLevel, SystemPrompt, ThinkingConfig, ThinkingDisplay};
pub use process::{SettingSource, SettingsOverride, StderrCallback};
pub use tools::{SdkPluginConfig, SkillSelection, ToolSet};
pub use validate::OptionsError;

/// What a session is started with.
///
/// ```
/// use countersign_claude::{Options, PermissionMode};
///
/// let options = Options::new()
///     .model("claude-sonnet-4-5")
///     .allowed_tools(["Read", "Glob", "Grep"])
///     .permission_mode(PermissionMode::AcceptEdits)
///     .cwd("/path/to/project");
/// ```
///
/// Every value goes to the CLI as `--flag=value`, so that one which starts with a dash is never
/// taken for a flag. Long texts (prompts, schemas, agents) travel in the `initialize` request
/// instead, where no command line limit cuts them.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the CLI")]
#[must_use = "options do nothing until a session is started with them"]
pub struct Options {
    pub(crate) tools: Option<ToolSet>,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) disallowed_tools: Vec<String>,
    pub(crate) skills: Option<SkillSelection>,
    pub(crate) plugins: Vec<SdkPluginConfig>,
    pub(crate) mcp_servers: BTreeMap<String, McpServerConfig>,
    pub(crate) mcp_config_file: Option<PathBuf>,
    pub(crate) strict_mcp_config: bool,
    pub(crate) sdk_servers: BTreeMap<String, McpServer>,
    pub(crate) tool_aliases: BTreeMap<String, String>,

    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) allow_bypass: bool,
    pub(crate) can_use_tool: Option<Arc<dyn PermissionHandler>>,
    pub(crate) permission_deadline: Option<Duration>,
    pub(crate) permission_prompt_tool: Option<String>,
    pub(crate) never_prompt: bool,
    pub(crate) hooks: Vec<HookMatcher>,
    pub(crate) elicitation: Option<Arc<dyn ElicitationHandler>>,
    pub(crate) dialogs: Option<(Vec<String>, Arc<dyn DialogHandler>)>,

    pub(crate) model: Option<String>,
    pub(crate) fallback_models: Vec<String>,
    pub(crate) betas: Vec<String>,
    pub(crate) effort: Option<EffortLevel>,
    pub(crate) thinking: Option<ThinkingConfig>,
    pub(crate) thinking_display: Option<ThinkingDisplay>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) max_budget_usd: Option<f64>,
    pub(crate) task_budget: Option<u64>,
    pub(crate) output_schema: Option<Value>,
    pub(crate) system_prompt: SystemPrompt,
    pub(crate) system_prompt_snapshot: Option<bool>,
    pub(crate) plan_mode_instructions: Option<String>,
    pub(crate) agents: BTreeMap<String, AgentDefinition>,
    pub(crate) agent: Option<String>,

    pub(crate) continue_last: bool,
    pub(crate) resume: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) fork_session: bool,
    pub(crate) resume_at: Option<String>,
    pub(crate) resume_drops_turn: Option<String>,
    pub(crate) no_persistence: bool,
    pub(crate) title: Option<String>,
    pub(crate) store: Option<Arc<dyn TranscriptStore>>,
    pub(crate) file_checkpointing: bool,
    pub(crate) partial_messages: bool,
    pub(crate) hook_events: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) verbatim_prompts: bool,
    pub(crate) prompt_suggestions: bool,
    pub(crate) agent_progress_summaries: bool,
    pub(crate) per_task_stop: bool,

    pub(crate) settings: Option<SettingsOverride>,
    pub(crate) sandbox: Option<Map<String, Value>>,
    pub(crate) managed_settings: Option<Value>,
    pub(crate) setting_sources: Option<Vec<SettingSource>>,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) project_config_root: Option<PathBuf>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) cli_path: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) clean_env: bool,
    pub(crate) client_app: Option<String>,
    pub(crate) question_preview: Option<String>,
    pub(crate) run_as: Option<(u32, u32)>,
    pub(crate) extra_args: BTreeMap<String, Option<String>>,
    pub(crate) debug: Option<String>,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) stderr: Option<StderrCallback>,
    pub(crate) limits: SessionLimits,
}

impl Options {
    /// Returns options that say nothing: the CLI's own defaults, with an empty system prompt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the CLI may ask us something while it works, so that its input has to stay open.
    pub(crate) fn needs_open_input(&self) -> bool {
        self.can_use_tool.is_some()
            || !self.hooks.is_empty()
            || !self.sdk_servers.is_empty()
            || self.elicitation.is_some()
            || self.dialogs.is_some()
    }
}

/// The command line only: values of the environment and prompts may be private.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("flags", &self.flags()).finish_non_exhaustive()
    }
}
