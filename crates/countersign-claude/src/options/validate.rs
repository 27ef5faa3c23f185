//! Options that contradict each other, and those that do less than they seem to.

use super::{Options, SettingsOverride, SkillSelection};
use crate::permission::PermissionMode;

/// Why a session is not started: its options cannot all be meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// In bypass mode the CLI never asks, so the callback would guard nothing.
    #[error(
        "a permission callback and `bypassPermissions` exclude each other: nothing would be asked"
    )]
    CallbackWithBypass,
    /// Both would answer the same question.
    #[error("a permission callback cannot be combined with `{0}`, which would decide in its place")]
    CallbackWith(&'static str),
    /// Bypass has to be said twice.
    #[error("`bypassPermissions` needs `allow_dangerously_skip_permissions`")]
    BypassNotAllowed,
    /// Falling back on what failed is no fallback.
    #[error("the fallback model `{0}` is the same as the model")]
    FallbackIsModel(String),
    /// A resumed session has an id already.
    #[error("a session id with `resume` or `continue_last` needs `fork_session`")]
    SessionIdOfResumed,
    /// The CLI takes only UUIDs.
    #[error("the session id `{0}` is not a UUID")]
    SessionId(String),
    /// The name would be read as a rule of its own.
    #[error("`{0}` is not a valid skill name")]
    SkillName(String),
    /// The file cannot be merged with the sandbox.
    #[error("a sandbox cannot be merged into a settings file: give the settings as JSON")]
    SandboxWithFile,
    /// The store would lack what the other option needs, or the reverse.
    #[error("a transcript store cannot be combined with `{0}`")]
    StoreWith(&'static str),
    /// There is one `--mcp-config`.
    #[error("MCP servers come from a file or from `mcp_server`, not both")]
    TwoMcpConfigs,
    /// A name stands for one server.
    #[error("two MCP servers are called `{0}`")]
    TwoServers(String),
    /// A character that no program can be given.
    #[error("a value of the command line or the environment holds a NUL byte")]
    Nul,
}

impl Options {
    /// Checks that the options can all be meant.
    pub fn check(&self) -> Result<(), OptionsError> {
        self.check_permissions()?;
        self.check_session()?;
        if let Some(model) = self.model.as_ref().filter(|it| self.fallback_models.contains(it)) {
            return Err(OptionsError::FallbackIsModel(model.clone()));
        }
        if let Some(SkillSelection::Only(names)) = &self.skills
            && let Some(bad) = names.iter().find(|name| !is_skill_name(name))
        {
            return Err(OptionsError::SkillName(bad.clone()));
        }
        if self.sandbox.is_some() && matches!(self.settings, Some(SettingsOverride::File(_))) {
            return Err(OptionsError::SandboxWithFile);
        }
        if self.mcp_config_file.is_some() && !self.mcp_servers.is_empty() {
            return Err(OptionsError::TwoMcpConfigs);
        }
        if let Some(name) = self.sdk_servers.keys().find(|it| self.mcp_servers.contains_key(*it)) {
            return Err(OptionsError::TwoServers(name.clone()));
        }
        let nul = |text: &std::ffi::OsStr| text.as_encoded_bytes().contains(&0);
        if self.flags().iter().any(|flag| nul(flag))
            || self.env.iter().any(|(name, value)| nul(name.as_ref()) || nul(value.as_ref()))
        {
            return Err(OptionsError::Nul);
        }
        Ok(())
    }

    fn check_permissions(&self) -> Result<(), OptionsError> {
        let bypass = self.permission_mode == Some(PermissionMode::BypassPermissions)
            || self.extra_args.contains_key("dangerously-skip-permissions")
            || self.extra_args.get("permission-mode").is_some_and(|mode| {
                mode.as_deref() == Some(PermissionMode::BypassPermissions.as_str())
            });
        if self.can_use_tool.is_some() {
            if bypass || self.allow_bypass {
                return Err(OptionsError::CallbackWithBypass);
            }
            if self.permission_prompt_tool.is_some() {
                return Err(OptionsError::CallbackWith("permission_prompt_tool"));
            }
            if self.never_prompt {
                return Err(OptionsError::CallbackWith("never_prompt"));
            }
        }
        if bypass && !self.allow_bypass {
            return Err(OptionsError::BypassNotAllowed);
        }
        Ok(())
    }

    fn check_session(&self) -> Result<(), OptionsError> {
        if let Some(id) = &self.session_id {
            if uuid::Uuid::try_parse(id).is_err() {
                return Err(OptionsError::SessionId(id.clone()));
            }
            if (self.resume.is_some() || self.continue_last) && !self.fork_session {
                return Err(OptionsError::SessionIdOfResumed);
            }
        }
        if self.store.is_some() {
            if self.no_persistence {
                return Err(OptionsError::StoreWith("no_session_persistence"));
            }
            if self.file_checkpointing {
                return Err(OptionsError::StoreWith("file_checkpointing"));
            }
        }
        Ok(())
    }

    /// Returns the tools whose calls never reach the permission callback, though one is set:
    /// they are allowed as a whole. A session that starts with such options logs a warning.
    pub fn shadowed_tools(&self) -> Vec<String> {
        if self.can_use_tool.is_none() {
            return Vec::new();
        }
        let whole = |rule: String| {
            let name = rule.trim().trim_end_matches("()").trim_end_matches("(*)").to_owned();
            (!name.is_empty() && !name.contains('(')).then_some(name)
        };
        self.all_allowed_tools().into_iter().filter_map(whole).collect()
    }
}

/// Whether a skill's name stays one name inside a rule.
fn is_skill_name(name: &str) -> bool {
    let forbidden = |c: char| "(),\u{feff}".contains(c) || c.is_control();
    !name.is_empty()
        && name.trim() == name
        && name != "*"
        && !name.ends_with(":*")
        && !name.starts_with('/')
        && !name.starts_with("\\\\")
        && !name.ends_with('\\')
        && !name.contains(forbidden)
}
