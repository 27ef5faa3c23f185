//! Options on who decides: the mode, the callback, hooks, and what else the CLI may ask.

use std::sync::Arc;
use std::time::Duration;

use super::Options;
use crate::hook::HookMatcher;
use crate::permission::{DialogHandler, ElicitationHandler, PermissionHandler, PermissionMode};

impl Options {
    /// Sets the permission mode.
    ///
    /// With a callback and no mode, `default` is passed: the CLI might choose one that never asks.
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = Some(mode);
        self
    }

    /// Lets the session enter `bypassPermissions` at all. Excludes a permission callback.
    pub fn allow_dangerously_skip_permissions(mut self) -> Self {
        self.allow_bypass = true;
        self
    }

    /// Decides on every tool call that no rule has decided.
    ///
    /// Calls run at the same time. One that panics, or is not done by the
    /// [deadline](Self::permission_deadline), is a denial.
    ///
    /// ```
    /// use countersign_claude::{PermissionResult, Options, ToolRequest};
    ///
    /// let options = Options::new().can_use_tool(async |request: ToolRequest| {
    ///     match request.tool_name.as_str() {
    ///         "Read" | "Glob" => PermissionResult::allow(),
    ///         _ => PermissionResult::deny("only reading is allowed here"),
    ///     }
    /// });
    /// ```
    pub fn can_use_tool(mut self, handler: impl PermissionHandler) -> Self {
        self.can_use_tool = Some(Arc::new(handler));
        self
    }

    /// Denies a call the callback has not decided in this time. Without one it may take for ever.
    pub fn permission_deadline(mut self, deadline: Duration) -> Self {
        self.permission_deadline = Some(deadline);
        self
    }

    /// Lets a tool of an MCP server decide. Not together with a callback.
    pub fn permission_prompt_tool(mut self, tool: impl Into<String>) -> Self {
        self.permission_prompt_tool = Some(tool.into());
        self
    }

    /// Never asks: what would need a decision is denied at once. Not together with a callback.
    pub fn never_prompt(mut self) -> Self {
        self.never_prompt = true;
        self
    }

    /// Adds a hook.
    pub fn hook(mut self, hook: HookMatcher) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Answers questions of MCP servers to the user. Without this they are declined.
    pub fn on_elicitation(mut self, handler: impl ElicitationHandler) -> Self {
        self.elicitation = Some(Arc::new(handler));
        self
    }

    /// Shows dialogs of these kinds. The CLI asks only for kinds that are named.
    pub fn on_user_dialog<K: Into<String>>(
        mut self,
        kinds: impl IntoIterator<Item = K>,
        handler: impl DialogHandler,
    ) -> Self {
        self.dialogs = Some((kinds.into_iter().map(Into::into).collect(), Arc::new(handler)));
        self
    }
}
