//! The rest of a diff that is too long to go with its request.

use axum::Json;
use axum::extract::State;
use countersign_api::diff::DiffPage;
use countersign_gate::DiffLines;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::{PathParams, approval_id, unknown_approval};
use crate::query::{QueryParams, limit, number};

/// How many lines go out at once.
const MOST: usize = 5_000;

/// Which lines.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffRangeQuery {
    /// Which file of the preview, from 0.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    file: usize,
    /// How many lines to skip.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    from: usize,
    /// How many to return, 1,000 unless said and 5,000 at the most.
    #[serde(default, deserialize_with = "limit")]
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// `GET /my/projects/{project_id}/approvals/{approval_id}/diff`: any part of a long diff.
#[utoipa::path(get, operation_id = "get_diff", tag = "approvals", path = "/my/projects/{project_id}/approvals/{approval_id}/diff", params(("project_id" = String, Path), ("approval_id" = String, Path), DiffRangeQuery), responses(
    (status = 200, body = DiffPage),
    ReadErrorResponses,
))]
pub(crate) async fn get(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams((project, approval)): PathParams<(String, String)>,
    QueryParams(stretch): QueryParams<DiffRangeQuery>,
) -> Result<Json<DiffPage>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let id = approval_id(&approval)?;
    let found = app.gate.store().approval(id).await?;
    if found.is_none_or(|found| found.call().project != project.id) {
        return Err(unknown_approval(&approval));
    }
    let limit = stretch.limit.unwrap_or(1_000).min(MOST);
    let found = app.gate.store().diff_lines(id, stretch.file, stretch.from, limit).await?;
    let Some(DiffLines { lines, total }) = found else {
        return Err(ApiError::not_found("nothing was left out of this diff: it is in the request"));
    };
    let end = stretch.from.saturating_add(lines.len());
    let next = (end < total && !lines.is_empty()).then_some(end);
    Ok(Json(DiffPage { success: true, lines, total, next }))
}
