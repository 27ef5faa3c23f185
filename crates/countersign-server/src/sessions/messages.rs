//! What was said in a conversation, in the words of the model's API.

use axum::Json;
use axum::extract::State;
use countersign_core::{RunId, mask_input};
use countersign_gate::MessageRow;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::{QueryParams, limit};
use crate::sign_in::SignedInPerson;

/// Which messages.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct MessageListQuery {
    /// Where the page before it ended: its `next_cursor`.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many, 100 unless said; a page has 1,000 at the most.
    #[serde(default, deserialize_with = "limit")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// A page of messages, the oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageList {
    success: bool,
    session_id: String,
    messages: Vec<MessageView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// One message.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageView {
    message_id: String,
    run_id: String,
    /// `user` or `assistant`. What tools gave back stands in messages of the user, as in the API.
    role: String,
    /// Blocks as the Messages API has them, or a text; secrets masked.
    #[schema(value_type = Value)]
    content: Value,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// `GET /my/projects/{project_id}/sessions/{session_id}/messages`: a conversation, the oldest first.
#[utoipa::path(get, operation_id = "list_messages", tag = "chat", path = "/my/projects/{project_id}/sessions/{session_id}/messages", params(("project_id" = String, Path), ("session_id" = String, Path), MessageListQuery), responses(
    (status = 200, body = MessageList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams((project, session)): PathParams<(String, String)>,
    QueryParams(page): QueryParams<MessageListQuery>,
) -> Result<Json<MessageList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let session = super::require_session(&app, &project.id, &session).await?;
    let after = match page.cursor.as_deref() {
        Some(cursor) => cursor.parse().map_err(|_| ApiError::bad_cursor())?,
        None => 0,
    };
    let limit = page.limit.unwrap_or(100).min(1000);
    let rows = app.gate.store().messages_after(&project.id, &session, after, limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit);
    let next_cursor = last.map(|last| last.position.to_string());
    let messages = rows.into_iter().map(MessageView::from).collect();
    Ok(Json(MessageList { success: true, session_id: session.to_string(), messages, next_cursor }))
}

/// Returns the id of a message: that of its run, and its place in the conversation.
pub(crate) fn message_id(run: RunId, position: u64) -> String {
    format!("{run}.{position}")
}

impl From<MessageRow> for MessageView {
    fn from(row: MessageRow) -> Self {
        let MessageRow { position, run, body, created_at } = row;
        let role = body.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
        let content = body.get("content").map(mask_input).unwrap_or_default();
        Self {
            message_id: message_id(run, position),
            run_id: run.to_string(),
            role,
            content,
            created_at,
        }
    }
}
