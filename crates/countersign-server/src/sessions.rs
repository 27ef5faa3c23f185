//! Conversations of a project: listed, read, interrupted.

pub(crate) mod messages;

use axum::Json;
use axum::extract::State;
use countersign_agent::RunSettings;
use countersign_api::run_mode::RunPermissionMode;
use countersign_api::session::{RunStopped, SessionList, SessionView};
use countersign_core::{ProjectId, SessionId};
use countersign_gate::SessionRow;
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses};
use crate::path_params::PathParams;
use crate::query::{QueryParams, limit};
use crate::runs;

/// How many rows a page of a list has at the most.
const MOST: usize = 200;

/// Which page of a list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionListQuery {
    /// Where the page before it ended: its `next_cursor`.
    #[param(pattern = r"^[0-9]{1,13}_[!-~]+$")]
    cursor: Option<String>,
    /// How many, 50 unless said; a page has 200 at the most.
    #[serde(default, deserialize_with = "limit")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// `GET /my/projects/{project_id}/sessions`: conversations, the latest first.
#[utoipa::path(get, operation_id = "list_sessions", tag = "chat", path = "/my/projects/{project_id}/sessions", params(("project_id" = String, Path), SessionListQuery), responses(
    (status = 200, body = SessionList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    QueryParams(page): QueryParams<SessionListQuery>,
) -> Result<Json<SessionList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let before = page.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = page.limit.unwrap_or(50).min(MOST);
    let rows = app.gate.store().sessions(&project.id, before, limit).await?;
    let next_cursor = rows.last().filter(|_| rows.len() == limit).map(cursor);
    let sessions = rows.into_iter().map(session_view).collect();
    Ok(Json(SessionList { success: true, sessions, next_cursor }))
}

/// `POST /my/projects/{project_id}/sessions/{session_id}/interrupt`: stops the run of a conversation.
/// What waits in it is taken back; `run.error` with the code `cancelled` tells when it is over.
#[utoipa::path(post, operation_id = "interrupt", tag = "chat", path = "/my/projects/{project_id}/sessions/{session_id}/interrupt", params(("project_id" = String, Path), ("session_id" = String, Path)), responses(
    (status = 200, body = RunStopped),
    ConflictErrorResponses,
))]
pub(crate) async fn interrupt(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams((project, session)): PathParams<(String, String)>,
) -> Result<Json<RunStopped>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let session = require_session(&app, &project.id, &session).await?;
    if runs::cancel(&app, &project.id, &session).await? {
        let session_id = session.to_string();
        Ok(Json(RunStopped { success: true, session_id, interrupted: true }))
    } else {
        Err(ApiError::conflict("no_run", "no run is active in this conversation"))
    }
}

/// Returns a conversation that is there.
pub(crate) async fn require_session(
    app: &App,
    project: &ProjectId,
    session: &str,
) -> Result<SessionId, ApiError> {
    let id = SessionId::from(session);
    if app.gate.store().has_session(project, &id).await? {
        Ok(id)
    } else {
        Err(ApiError::not_found(format!("no conversation has the id `{session}`")))
    }
}

fn session_view(row: SessionRow) -> SessionView {
    let SessionRow { id, title, created_at, updated_at, active, settings } = row;
    let settings = settings.and_then(|settings| RunSettings::from_json(&settings).ok());
    let permission_mode =
        settings.map(|last| RunPermissionMode::for_executor(last.executor, last.mode));
    let session_id = id.to_string();
    SessionView { session_id, title, created_at, updated_at, active, permission_mode }
}

fn cursor(row: &SessionRow) -> String {
    format!("{}_{}", row.updated_at.as_millisecond(), row.id)
}

fn parse_cursor(cursor: &str) -> Result<(Timestamp, SessionId), ApiError> {
    let place = || {
        let (at, id) = cursor.split_once('_')?;
        Some((Timestamp::from_millisecond(at.parse().ok()?).ok()?, SessionId::from(id)))
    };
    place().ok_or_else(ApiError::bad_cursor)
}
