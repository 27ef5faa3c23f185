//! Conversations of a project, as lists.

use axum::Json;
use axum::extract::{Path, Query, State};
use countersign_core::SessionId;
use countersign_gate::SessionRow;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::error::{ApiError, ErrorBody};
use crate::sign_in::SignedIn;

/// How many rows a page of a list has at the most.
const MOST: usize = 200;

/// Which page of a list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// Where the page before it ended.
    cursor: Option<String>,
    /// How many, 50 unless said.
    limit: Option<usize>,
}

/// A page of conversations, the latest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionList {
    success: bool,
    sessions: Vec<SessionView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionView {
    session_id: String,
    /// Its first words.
    title: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    /// Whether a run is going on.
    active: bool,
}

/// `GET /my/projects/{project_id}/sessions`: conversations, the latest first.
#[utoipa::path(get, operation_id = "list_sessions", path = "/my/projects/{project_id}/sessions", params(("project_id" = String, Path), Page), responses(
    (status = 200, body = SessionList),
    (status = 400, body = ErrorBody),
    (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody),
))]
pub(crate) async fn list(
    _: SignedIn,
    State(app): State<App>,
    Path(project): Path<String>,
    Query(page): Query<Page>,
) -> Result<Json<SessionList>, ApiError> {
    let (project, _) = app.projects.get(&project)?;
    let before = page.cursor.as_deref().map(place).transpose()?;
    let limit = page.limit.unwrap_or(50).clamp(1, MOST);
    let rows = app.gate.store().sessions(&project.id, before, limit).await?;
    let next_cursor = rows.last().filter(|_| rows.len() == limit).map(cursor);
    let sessions = rows.into_iter().map(SessionView::from).collect();
    Ok(Json(SessionList { success: true, sessions, next_cursor }))
}

impl From<SessionRow> for SessionView {
    fn from(row: SessionRow) -> Self {
        let SessionRow { id, title, created_at, updated_at, active } = row;
        Self { session_id: id.to_string(), title, created_at, updated_at, active }
    }
}

fn cursor(row: &SessionRow) -> String {
    format!("{}_{}", row.updated_at.as_millisecond(), row.id)
}

fn place(cursor: &str) -> Result<(Timestamp, SessionId), ApiError> {
    let place = || {
        let (at, id) = cursor.split_once('_')?;
        Some((Timestamp::from_millisecond(at.parse().ok()?).ok()?, SessionId::from(id)))
    };
    place().ok_or_else(ApiError::bad_cursor)
}
