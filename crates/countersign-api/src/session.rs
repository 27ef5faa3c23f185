//! Conversations of a project, and what was said in them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::run_mode::RunPermissionMode;

/// A page of conversations, the latest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    pub success: bool,
    pub sessions: Vec<SessionView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A conversation.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    pub session_id: String,
    /// Its first words.
    pub title: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// Whether a run is going on.
    pub active: bool,
    /// The mode it was last run in; null where it has not been run.
    #[schema(required)]
    pub permission_mode: Option<RunPermissionMode>,
}

/// A run that is being stopped.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunStopped {
    pub success: bool,
    pub session_id: String,
    /// Whether something was going on: else the answer is 409.
    pub interrupted: bool,
}

/// A page of messages, the oldest first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MessageList {
    pub success: bool,
    pub session_id: String,
    pub messages: Vec<MessageView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// One message.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct MessageView {
    pub message_id: String,
    pub run_id: String,
    /// `user` or `assistant`. What tools gave back stands in messages of the user, as in the API.
    pub role: String,
    /// Blocks as the Messages API has them, or a text; secrets masked.
    #[schema(value_type = Value)]
    pub content: Value,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}
