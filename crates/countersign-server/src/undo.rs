//! Undo over REST: what it would do, as diffs, and then exactly that.

mod plan;
mod view;

use axum::Json;
use axum::extract::State;
use countersign_api::undo::{UndoBody, UndoView, UndoneView};
use countersign_core::RunId;
use countersign_gate::UndoTarget;

use self::plan::UndoPlan;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses};
use crate::path_params::{PathParams, execution_id};
use crate::project_registry::ProjectHandle;
use crate::with_deadline::with_deadline;

/// `GET /my/projects/{project_id}/tools/{tool_id}/undo`: what undoing a call would do, file by file.
#[utoipa::path(get, operation_id = "look_at_undo", tag = "undo", path = "/my/projects/{project_id}/tools/{tool_id}/undo", params(("project_id" = String, Path), ("tool_id" = String, Path)), responses(
    (status = 200, body = UndoView),
    ReadErrorResponses,
))]
pub(crate) async fn look_at_call(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams((project, tool)): PathParams<(String, String)>,
) -> Result<Json<UndoView>, ApiError> {
    let undo = UndoTarget::Call(execution_id(&tool)?);
    preview_undo(&app, &project, undo).await
}

/// `POST /my/projects/{project_id}/tools/{tool_id}/undo`: undoes a call as it was shown.
#[utoipa::path(post, operation_id = "undo", tag = "undo", path = "/my/projects/{project_id}/tools/{tool_id}/undo", params(("project_id" = String, Path), ("tool_id" = String, Path)), request_body = UndoBody, responses(
    (status = 200, body = UndoneView),
    ConflictErrorResponses,
))]
pub(crate) async fn undo_call(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams((project, tool)): PathParams<(String, String)>,
    JsonBody(said): JsonBody<UndoBody>,
) -> Result<Json<UndoneView>, ApiError> {
    let undo = UndoTarget::Call(execution_id(&tool)?);
    carry_out(&app, &project, undo, said, person).await
}

/// `GET /my/projects/{project_id}/runs/{run_id}/undo`: what undoing all calls of a run would do.
#[utoipa::path(get, operation_id = "look_at_undo_of_run", tag = "undo", path = "/my/projects/{project_id}/runs/{run_id}/undo", params(("project_id" = String, Path), ("run_id" = String, Path)), responses(
    (status = 200, body = UndoView),
    ReadErrorResponses,
))]
pub(crate) async fn look_at_run(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams((project, run)): PathParams<(String, String)>,
) -> Result<Json<UndoView>, ApiError> {
    let undo = UndoTarget::Run(run_id(&run)?);
    preview_undo(&app, &project, undo).await
}

/// `POST /my/projects/{project_id}/runs/{run_id}/undo`: undoes all calls of a run as it was shown.
#[utoipa::path(post, operation_id = "undo_run", tag = "undo", path = "/my/projects/{project_id}/runs/{run_id}/undo", params(("project_id" = String, Path), ("run_id" = String, Path)), request_body = UndoBody, responses(
    (status = 200, body = UndoneView),
    ConflictErrorResponses,
))]
pub(crate) async fn undo_run(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams((project, run)): PathParams<(String, String)>,
    JsonBody(said): JsonBody<UndoBody>,
) -> Result<Json<UndoneView>, ApiError> {
    let undo = UndoTarget::Run(run_id(&run)?);
    carry_out(&app, &project, undo, said, person).await
}

async fn preview_undo(
    app: &App,
    project: &str,
    undo: UndoTarget,
) -> Result<Json<UndoView>, ApiError> {
    let place = app.projects.get(project).await?;
    let plan = UndoPlan::for_undo(app, &place, undo).await?;
    Ok(Json(plan.view(&place).await?))
}

async fn carry_out(
    app: &App,
    project: &str,
    undo: UndoTarget,
    said: UndoBody,
    person: String,
) -> Result<Json<UndoneView>, ApiError> {
    let place: std::sync::Arc<ProjectHandle> = app.projects.get(project).await?;
    let app = app.clone();
    let done = with_deadline(async move {
        let plan = UndoPlan::for_undo(&app, &place, undo).await?;
        plan.check(&said.digest, said.skip_refused)?;
        plan.carry_out(&app, &place, &person).await
    });
    done.await.map(Json)
}

fn run_id(text: &str) -> Result<RunId, ApiError> {
    let unknown = || ApiError::not_found(format!("no run has the id `{text}`"));
    text.parse().map_err(|_| unknown())
}
