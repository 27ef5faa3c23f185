//! Options as the CLI's command line.

use std::ffi::{OsStr, OsString};

use serde_json::{Map, Value, json};

use super::{
    Options, SettingsOverride, SkillSelection, SystemPrompt, ThinkingConfig, ThinkingDisplay,
    ToolSet,
};
use crate::permission::PermissionMode;

/// A command line that grows; every value is bound to its flag by `=`.
struct CliFlags(Vec<OsString>);

impl CliFlags {
    fn bare(&mut self, flag: &str) {
        self.0.push(flag.into());
    }

    fn bare_if(&mut self, flag: &str, wanted: bool) {
        if wanted {
            self.bare(flag);
        }
    }

    fn set(&mut self, flag: &str, value: impl AsRef<OsStr>) {
        let mut bound = OsString::from(flag);
        bound.push("=");
        bound.push(value);
        self.0.push(bound);
    }

    fn set_if(&mut self, flag: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            self.set(flag, value);
        }
    }

    fn list_if(&mut self, flag: &str, values: &[String]) {
        if !values.is_empty() {
            self.set(flag, values.join(","));
        }
    }
}

impl Options {
    /// Returns the command line without the program.
    pub(crate) fn flags(&self) -> Vec<OsString> {
        let mut flags = CliFlags(Vec::new());
        flags.set("--output-format", "stream-json");
        flags.bare("--verbose");
        flags.set("--input-format", "stream-json");
        self.tool_flags(&mut flags);
        self.permission_flags(&mut flags);
        self.model_flags(&mut flags);
        self.conversation_flags(&mut flags);
        self.process_flags(&mut flags);
        for (flag, value) in &self.extra_args {
            match value {
                Some(value) => flags.set(&format!("--{flag}"), value),
                None => flags.bare(&format!("--{flag}")),
            }
        }
        flags.0
    }

    fn tool_flags(&self, flags: &mut CliFlags) {
        match &self.tools {
            Some(ToolSet::Default) => flags.set("--tools", "default"),
            Some(ToolSet::Only(tools)) => flags.set("--tools", tools.join(",")),
            None => {}
        }
        flags.list_if("--allowedTools", &self.all_allowed_tools());
        flags.list_if("--disallowedTools", &self.disallowed_tools);
        if !self.mcp_servers.is_empty() {
            flags.set("--mcp-config", json!({ "mcpServers": self.mcp_servers }).to_string());
        }
        flags.set_if("--mcp-config", self.mcp_config_file.as_ref());
        flags.bare_if("--strict-mcp-config", self.strict_mcp_config);
        for plugin in &self.plugins {
            let flag = if plugin.without_mcp { "--plugin-dir-no-mcp" } else { "--plugin-dir" };
            flags.set(flag, &plugin.path);
        }
    }

    /// Returns the allowed tools with what the skills add to them.
    pub(super) fn all_allowed_tools(&self) -> Vec<String> {
        let mut allowed = self.allowed_tools.clone();
        match &self.skills {
            Some(SkillSelection::All) => allowed.push("Skill".to_owned()),
            Some(SkillSelection::Only(names)) => {
                allowed.extend(names.iter().map(|name| format!("Skill({name})")));
            }
            None => {}
        }
        allowed
    }

    fn permission_flags(&self, flags: &mut CliFlags) {
        // Without a mode the CLI takes one from the settings, or one in which a model decides.
        let asks = self.can_use_tool.as_ref().map(|_| &PermissionMode::Default);
        let mode = self.permission_mode.as_ref().or(asks);
        flags.set_if("--permission-mode", mode.map(PermissionMode::as_str));
        flags.bare_if("--allow-dangerously-skip-permissions", self.allow_bypass);
        flags.set_if("--permission-prompt-tool", self.can_use_tool.as_ref().map(|_| "stdio"));
        flags.set_if("--permission-prompt-tool", self.permission_prompt_tool.as_ref());
        flags.set_if("--permission-prompts", self.never_prompt.then_some("none"));
    }

    fn model_flags(&self, flags: &mut CliFlags) {
        flags.set_if("--model", self.model.as_ref());
        flags.list_if("--fallback-model", &self.fallback_models);
        flags.list_if("--betas", &self.betas);
        flags.set_if("--effort", self.effort.as_ref().map(super::EffortLevel::as_str));
        match self.thinking {
            Some(ThinkingConfig::Adaptive) => flags.set("--thinking", "adaptive"),
            Some(ThinkingConfig::Enabled { budget_tokens: 1.. }) | None => {}
            Some(ThinkingConfig::Disabled | ThinkingConfig::Enabled { budget_tokens: 0 }) => {
                flags.set("--thinking", "disabled");
            }
        }
        if let Some(ThinkingConfig::Enabled { budget_tokens: tokens @ 1.. }) = self.thinking {
            flags.set("--max-thinking-tokens", tokens.to_string());
        }
        flags.set_if(
            "--thinking-display",
            self.thinking_display.map(|display| match display {
                ThinkingDisplay::Summarized => "summarized",
                ThinkingDisplay::Omitted => "omitted",
            }),
        );
        flags.set_if("--max-turns", self.max_turns.map(|it| it.to_string()));
        flags.set_if("--max-budget-usd", self.max_budget_usd.map(|it| it.to_string()));
        flags.set_if("--task-budget", self.task_budget.map(|it| it.to_string()));
        if let SystemPrompt::File(path) = &self.system_prompt {
            flags.set("--system-prompt-file", path);
        }
        flags.set_if("--agent", self.agent.as_ref());
    }

    fn conversation_flags(&self, flags: &mut CliFlags) {
        flags.bare_if("--continue", self.continue_last);
        flags.set_if("--resume", self.resume.as_ref());
        flags.set_if("--session-id", self.session_id.as_ref());
        flags.bare_if("--fork-session", self.fork_session);
        flags.set_if("--resume-session-at", self.resume_at.as_ref());
        flags.set_if("--resume-drops-turn", self.resume_drops_turn.as_ref());
        flags.bare_if("--no-session-persistence", self.no_persistence);
        flags.bare_if("--session-mirror", self.store.is_some());
        flags.bare_if("--include-partial-messages", self.partial_messages);
        flags.bare_if("--include-hook-events", self.hook_events);
    }

    fn process_flags(&self, flags: &mut CliFlags) {
        match (&self.settings, self.sandbox_settings()) {
            (Some(SettingsOverride::File(path)), _) => flags.set("--settings", path),
            (Some(SettingsOverride::Json(settings)), sandbox) => {
                let mut settings = settings.clone();
                if let Some(sandbox) = sandbox {
                    merge(&mut settings, Map::from_iter([("sandbox".to_owned(), sandbox)]));
                }
                flags.set("--settings", Value::Object(settings).to_string());
            }
            (None, Some(sandbox)) => {
                flags.set("--settings", json!({ "sandbox": sandbox }).to_string());
            }
            (None, None) => {}
        }
        flags.set_if("--managed-settings", self.managed_settings.as_ref().map(Value::to_string));
        if let Some(sources) = &self.setting_sources {
            let names: Vec<_> = sources.iter().map(super::SettingSource::as_str).collect();
            flags.set("--setting-sources", names.join(","));
        }
        for folder in &self.add_dirs {
            flags.set("--add-dir", folder);
        }
        flags.set_if("--project-config-root", self.project_config_root.as_ref());
        match self.debug.as_deref() {
            Some("") => flags.bare("--debug"),
            filter => flags.set_if("--debug", filter),
        }
        flags.set_if("--debug-file", self.debug_file.as_ref());
    }

    /// Returns the sandbox, made to fail rather than to be left out.
    fn sandbox_settings(&self) -> Option<Value> {
        let mut sandbox = self.sandbox.clone()?;
        if sandbox.get("enabled") == Some(&Value::Bool(true)) {
            sandbox.entry("failIfUnavailable").or_insert(Value::Bool(true));
        }
        Some(Value::Object(sandbox))
    }
}

/// Puts `over` on top of `under`, object by object.
fn merge(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}
