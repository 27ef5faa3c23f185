//! What a session that runs can be told.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::control::{
    ContextUsage, ControlRequest, ControlSession, InterruptReceipt, McpServerStatus,
    McpServersChange, RewindFilesResult, SharedSession, TaskOutput,
};
use crate::error::ControlError;
use crate::mcp::McpServerConfig;
use crate::options::Options;
use crate::permission::PermissionMode;

/// What a session that runs can be told. It does not keep the session open.
#[derive(Clone)]
pub struct SessionControls {
    shared: Arc<SharedSession>,
    /// Whether a permission callback is set.
    guarded: bool,
}

impl std::fmt::Debug for SessionControls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionControls").finish_non_exhaustive()
    }
}

impl SessionControls {
    pub(crate) fn new(session: &ControlSession, options: &Options) -> Self {
        let guarded = options.can_use_tool.is_some();
        Self { shared: session.shared().clone(), guarded }
    }

    /// Stops what the model does. Prompts that wait go on after it; their uuids are in the receipt.
    ///
    /// The turn that is stopped still gets its result.
    pub async fn interrupt(&self) -> Result<InterruptReceipt, ControlError> {
        self.ask(ControlRequest::Interrupt { cancel_queued: None }).await
    }

    /// Stops what the model does and takes back the prompts that wait.
    pub async fn interrupt_all(&self) -> Result<InterruptReceipt, ControlError> {
        self.ask(ControlRequest::Interrupt { cancel_queued: Some(true) }).await
    }

    /// Changes the permission mode. With a permission callback, `bypassPermissions` is an error.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), ControlError> {
        if self.guarded && mode == PermissionMode::BypassPermissions {
            return Err(ControlError::CallbackWithBypass);
        }
        self.control(ControlRequest::SetPermissionMode { mode }).await.map(drop)
    }

    /// Changes the model; `None` is the default one.
    pub async fn set_model(&self, model: Option<&str>) -> Result<(), ControlError> {
        self.control(ControlRequest::SetModel { model: model.map(str::to_owned) }).await.map(drop)
    }

    /// Changes the budget for thinking; `None` lifts it.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u32>) -> Result<(), ControlError> {
        let request = ControlRequest::SetMaxThinkingTokens {
            max_thinking_tokens: tokens,
            thinking_display: None,
        };
        self.control(request).await.map(drop)
    }

    /// Puts files back as they were when a prompt was sent, and returns what that changed.
    ///
    /// Needs [`file_checkpointing`](Options::file_checkpointing), and changes only what the file
    /// tools did: what a shell command wrote stays.
    pub async fn rewind_files(&self, prompt: &str) -> Result<RewindFilesResult, ControlError> {
        // The CLI tells what changes only when asked what would.
        let planned = self.plan_rewind(prompt).await?;
        let request =
            ControlRequest::RewindFiles { user_message_id: prompt.to_owned(), dry_run: false };
        let done: RewindFilesResult = self.ask(request).await?;
        let RewindFilesResult { can_rewind, error, .. } = done;
        Ok(RewindFilesResult { can_rewind, error, ..planned })
    }

    /// Returns what a rewind would change.
    pub async fn plan_rewind(&self, prompt: &str) -> Result<RewindFilesResult, ControlError> {
        let request =
            ControlRequest::RewindFiles { user_message_id: prompt.to_owned(), dry_run: true };
        self.ask(request).await
    }

    /// Returns how the MCP servers are.
    pub async fn mcp_status(&self) -> Result<Vec<McpServerStatus>, ControlError> {
        #[derive(serde::Deserialize)]
        struct McpStatusResponse {
            #[serde(rename = "mcpServers", default)]
            servers: Vec<McpServerStatus>,
        }
        Ok(self.ask::<McpStatusResponse>(ControlRequest::McpStatus {}).await?.servers)
    }

    /// Connects an MCP server again.
    pub async fn mcp_reconnect(&self, server: &str) -> Result<(), ControlError> {
        let server_name = server.to_owned();
        self.control(ControlRequest::McpReconnect { server_name }).await.map(drop)
    }

    /// Switches an MCP server on or off.
    pub async fn mcp_toggle(&self, server: &str, enabled: bool) -> Result<(), ControlError> {
        let server_name = server.to_owned();
        self.control(ControlRequest::McpToggle { server_name, enabled }).await.map(drop)
    }

    /// Replaces the MCP servers that were set by the options or in this way. In-process ones go
    /// too, unless they are named again as `{"type": "sdk", "name": ...}`.
    pub async fn mcp_set_servers(
        &self,
        servers: BTreeMap<String, McpServerConfig>,
    ) -> Result<McpServersChange, ControlError> {
        self.ask(ControlRequest::McpSetServers { servers }).await
    }

    /// Returns what fills the context.
    pub async fn context_usage(&self) -> Result<ContextUsage, ControlError> {
        self.ask(ControlRequest::GetContextUsage { detail: None }).await
    }

    /// Stops a task in the background.
    pub async fn stop_task(&self, task: &str) -> Result<(), ControlError> {
        self.control(ControlRequest::StopTask { task_id: task.to_owned() }).await.map(drop)
    }

    /// Returns what a task in the background has written.
    pub async fn task_output(&self, task: &str) -> Result<TaskOutput, ControlError> {
        self.ask(ControlRequest::GetTaskOutput { task_id: task.to_owned() }).await
    }

    /// Takes a prompt back that waits; returns whether that was still possible.
    pub async fn cancel_prompt(&self, prompt: &str) -> Result<bool, ControlError> {
        #[derive(serde::Deserialize)]
        struct CancelPromptResponse {
            #[serde(default)]
            cancelled: bool,
        }
        let request = ControlRequest::CancelAsyncMessage { message_uuid: prompt.to_owned() };
        Ok(self.ask::<CancelPromptResponse>(request).await?.cancelled)
    }

    /// Sends any request this crate has a name for.
    pub async fn control(&self, request: ControlRequest) -> Result<Value, ControlError> {
        let (subtype, fields) = request
            .into_parts()
            .map_err(|reason| ControlError::Unreadable { subtype: "request".to_owned(), reason })?;
        self.control_raw(&subtype, fields).await
    }

    /// Sends any request at all.
    pub async fn control_raw(
        &self,
        subtype: &str,
        fields: Map<String, Value>,
    ) -> Result<Value, ControlError> {
        self.shared.request_with_default_timeout(subtype, fields).await
    }

    async fn ask<T: DeserializeOwned>(&self, request: ControlRequest) -> Result<T, ControlError> {
        let (subtype, fields) = request
            .into_parts()
            .map_err(|reason| ControlError::Unreadable { subtype: "request".to_owned(), reason })?;
        let answer = match self.control_raw(&subtype, fields).await? {
            Value::Null => Value::Object(Map::new()),
            answer => answer,
        };
        serde_json::from_value(answer)
            .map_err(|error| ControlError::Unreadable { subtype, reason: error.to_string() })
    }
}
