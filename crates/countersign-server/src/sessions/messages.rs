//! What was said in a conversation, in the words of the model's API.

use axum::Json;
use axum::extract::State;
use countersign_api::session::{MessageList, MessageView};
use countersign_core::{RunId, mask_input};
use countersign_gate::MessageRow;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::{QueryParams, limit};

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
    let messages = rows.into_iter().map(message_view).collect();
    Ok(Json(MessageList { success: true, session_id: session.to_string(), messages, next_cursor }))
}

/// Returns the id of a message: that of its run, and its place in the conversation.
pub(crate) fn message_id(run: RunId, position: u64) -> String {
    format!("{run}.{position}")
}

fn message_view(row: MessageRow) -> MessageView {
    let MessageRow { position, run, body, created_at } = row;
    let role = body.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    let content = body.get("content").map(mask_input).unwrap_or_default();
    MessageView {
        message_id: message_id(run, position),
        run_id: run.to_string(),
        role,
        content,
        created_at,
    }
}
