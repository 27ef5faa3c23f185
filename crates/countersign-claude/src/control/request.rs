//! What we can ask the CLI while it works.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::mcp::McpServerConfig;
use crate::permission::PermissionMode;

/// A request to the CLI.
///
/// The common ones have a method of their own on [`SessionControls`](crate::SessionControls), with a typed
/// answer; all can be sent with [`SessionControls::control`](crate::SessionControls::control).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case", rename_all_fields = "snake_case")]
#[non_exhaustive]
pub enum ControlRequest {
    /// Stops what the model does.
    Interrupt {
        /// Whether prompts that wait are taken back too.
        #[serde(skip_serializing_if = "Option::is_none")]
        cancel_queued: Option<bool>,
    },
    /// Changes the permission mode.
    SetPermissionMode {
        /// The mode.
        mode: PermissionMode,
    },
    /// Changes the mode for one MCP server; `None` takes that back.
    SetMcpPermissionModeOverride {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
        /// `default` or `auto`.
        mode: Option<PermissionMode>,
    },
    /// Changes the model; `None` is the default one.
    SetModel {
        /// The model.
        model: Option<String>,
    },
    /// Changes the budget for thinking.
    SetMaxThinkingTokens {
        /// The budget.
        max_thinking_tokens: Option<u32>,
        /// How much of it is shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking_display: Option<String>,
    },
    /// Puts files back as they were at a prompt.
    RewindFiles {
        /// The prompt, by its uuid.
        user_message_id: String,
        /// Whether it is only asked what would change.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dry_run: bool,
    },
    /// How the MCP servers are.
    McpStatus {},
    /// Connects an MCP server again.
    McpReconnect {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
    },
    /// Switches an MCP server on or off.
    McpToggle {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
        /// Whether it is to be on.
        enabled: bool,
    },
    /// Replaces the MCP servers that were set by this request.
    McpSetServers {
        /// The servers.
        servers: BTreeMap<String, McpServerConfig>,
    },
    /// Calls a tool of an MCP server past the model.
    McpCall {
        /// The tool, by its whole name.
        tool: String,
        /// What it runs with.
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
        /// How long it may take.
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// Whether it needs its permission.
        #[serde(skip_serializing_if = "Option::is_none")]
        check_permissions: Option<bool>,
    },
    /// Reads a `ui://` resource of an MCP server.
    McpReadResource {
        /// The server.
        #[serde(rename = "serverName")]
        server_name: String,
        /// The resource.
        uri: String,
    },
    /// Sends a message of an in-process MCP server to the CLI.
    McpMessage {
        /// The server.
        server_name: String,
        /// The JSON-RPC message.
        message: Value,
    },
    /// What fills the context.
    GetContextUsage {
        /// `summary` or `full`.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// Costs and rate limits.
    GetUsage {},
    /// The costs in words.
    GetSessionCost {},
    /// The settings that hold.
    GetSettings {},
    /// Changes a settings file.
    UpdateSettings {
        /// Which.
        source: String,
        /// What is put over it.
        settings: Value,
    },
    /// Changes settings for this session.
    ApplyFlagSettings {
        /// What is put over them.
        settings: Value,
    },
    /// The hooks there are.
    GetHooksListing {},
    /// The permission rules there are.
    ListPermissionRules {},
    /// The models there are.
    ListModels {},
    /// The CLI's version.
    GetBinaryVersion {},
    /// Stops a task.
    StopTask {
        /// The task.
        task_id: String,
    },
    /// Sends tool calls that run to the background.
    BackgroundTasks {
        /// Which; all if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
    },
    /// What a task has written.
    GetTaskOutput {
        /// The task.
        task_id: String,
    },
    /// Takes a prompt back that waits.
    CancelAsyncMessage {
        /// The prompt.
        message_uuid: String,
    },
    /// Reads a file as the session sees it.
    ReadFile {
        /// The file.
        path: String,
        /// How much of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_bytes: Option<u64>,
        /// In which form.
        #[serde(skip_serializing_if = "Option::is_none")]
        encoding: Option<String>,
    },
    /// Files that fit what the user types.
    FileSuggestions {
        /// What is typed.
        query: String,
    },
    /// Says that the model knows a file.
    SeedReadState {
        /// The file.
        path: String,
        /// When it was last changed.
        mtime: f64,
    },
    /// Loads plugins anew.
    ReloadPlugins {
        /// Whether it is refused while a turn runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        refuse_if_busy: Option<bool>,
    },
    /// Loads skills anew.
    ReloadSkills {},
    /// Loads output styles anew.
    ReloadOutputStyles {},
    /// Names the root of a repository.
    RegisterRepoRoot {
        /// The folder.
        directory: String,
    },
    /// Gives the session a title.
    RenameSession {
        /// The title.
        title: String,
    },
    /// Says whether anyone looks at the session.
    SetHasSubscribers {
        /// Whether.
        has_subscribers: bool,
    },
}

impl ControlRequest {
    /// Returns its subtype and its fields.
    pub(crate) fn into_parts(self) -> Result<(String, Map<String, Value>), String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        let Value::Object(mut fields) = value else { return Err("it has no fields".to_owned()) };
        let subtype = fields.remove("subtype");
        let subtype = subtype.as_ref().and_then(Value::as_str).map(str::to_owned);
        Ok((subtype.unwrap_or_default(), fields))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_keep_the_mixed_spelling_of_the_wire() {
        check(ControlRequest::Interrupt { cancel_queued: None }, "interrupt", json!({}));
        check(
            ControlRequest::McpToggle { server_name: "a".into(), enabled: false },
            "mcp_toggle",
            json!({ "serverName": "a", "enabled": false }),
        );
        check(
            ControlRequest::McpMessage { server_name: "a".into(), message: json!(1) },
            "mcp_message",
            json!({ "server_name": "a", "message": 1 }),
        );
        check(ControlRequest::SetModel { model: None }, "set_model", json!({ "model": null }));
        check(
            ControlRequest::RewindFiles { user_message_id: "u".into(), dry_run: true },
            "rewind_files",
            json!({ "user_message_id": "u", "dry_run": true }),
        );
        check(ControlRequest::GetUsage {}, "get_usage", json!({}));
    }

    #[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
    fn check(request: ControlRequest, subtype: &str, fields: Value) {
        let fields = fields.as_object().cloned().unwrap();
        assert_eq!(request.into_parts(), Ok((subtype.to_owned(), fields)));
    }
}
