//! A message of a person over REST, which starts a run.

use countersign_core::Executor;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::run_mode::RunPermissionMode;

/// A message of a person, and how to run it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"content": "Run the tests and fix what fails", "executor": "client"}))]
pub struct NewMessage {
    /// What the person asks.
    #[schema(min_length = 1, example = "Run the tests and fix what fails")]
    pub content: String,
    /// The conversation: one that is there goes on, another one begins under this id.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]+$")]
    pub session_id: Option<String>,
    /// Who runs the tools; as in the conversation's last run unless said, else `client`.
    pub executor: Option<ExecutorName>,
    /// How calls are decided; as the project's settings and the conversation's last run say unless
    /// given, `sdk` where they say nothing.
    pub permission_mode: Option<RunPermissionMode>,
    /// The model to ask.
    pub model: Option<String>,
    /// Added to the system prompt of the server's own loop; what the server was started with if left out.
    pub system_prompt: Option<String>,
    /// How long one answer of the model may be, in the server's own loop.
    #[schema(minimum = 1)]
    pub max_tokens: Option<u32>,
}

/// Who runs the tools of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorName {
    /// The server.
    Local,
    /// The client that listens to the project's stream.
    Client,
    /// The Claude Code CLI.
    ClaudeCli,
}

/// A run that began.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MessageTaken {
    pub success: bool,
    pub session_id: String,
    pub run_id: String,
    pub message_id: String,
}

impl From<ExecutorName> for Executor {
    fn from(name: ExecutorName) -> Self {
        match name {
            ExecutorName::Local => Self::Local,
            ExecutorName::Client => Self::Client,
            ExecutorName::ClaudeCli => Self::ClaudeCli,
        }
    }
}
