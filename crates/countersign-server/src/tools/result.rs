//! `POST …/tools/{tool_id}/result`: whoever ran a call elsewhere says what came of it.

use axum::Json;
use axum::extract::State;
use countersign_api::lease::LeaseShown;
use countersign_api::tool_result::{FILE_CHANGED, ResultBody, ResultTaken};
use countersign_core::{ExecutionReport, ReportedOutcome};

use super::lease::check_is_own;
use super::{call_backups, find_execution};
use crate::app::App;
use crate::body::{JsonBody, RESULT_LIMIT};
use crate::caller::AuthenticatedCaller;
use crate::error::ApiError;
use crate::error_responses::ConflictErrorResponses;
use crate::path_params::PathParams;
use crate::with_deadline::with_deadline;

/// `POST /my/projects/{project_id}/tools/{tool_id}/result`: what came of a call that ran elsewhere.
/// The same again is fine. What is late, foreign or otherwise settled is recorded, and refused with
/// what stands.
#[utoipa::path(post, operation_id = "report_result", tag = "tools", path = "/my/projects/{project_id}/tools/{tool_id}/result", params(("project_id" = String, Path), ("tool_id" = String, Path)), request_body = ResultBody, responses(
    (status = 200, body = ResultTaken),
    ConflictErrorResponses,
))]
pub(crate) async fn report(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    PathParams((project, tool)): PathParams<(String, String)>,
    JsonBody(body): JsonBody<ResultBody, RESULT_LIMIT>,
) -> Result<Json<ResultTaken>, ApiError> {
    let place = app.projects.get(&project).await?;
    let call = find_execution(&app, &place, &tool).await?;
    let (reported, lease) = reported_outcome(body)?;
    check_is_own(&caller, &call, lease.is_some())?;
    let hidden = !caller.may_see(&call);
    let token = lease.map(LeaseShown::token);
    let (gate, id) = (app.gate.clone(), call.id());
    let reporting = with_deadline(async move { gate.report(id, token, reported).await }).await;
    let stands =
        reporting.map_err(|error| if hidden { error.without_execution() } else { error })?;
    call_backups::record_after_run(&app, &stands).await;
    Ok(Json(ResultTaken {
        success: true,
        tool_id: stands.call().id.to_string(),
        status: stands.status().into(),
        message: "Tool result processed".to_owned(),
    }))
}

fn reported_outcome(body: ResultBody) -> Result<(ReportedOutcome, Option<LeaseShown>), ApiError> {
    match body {
        ResultBody::Completed { result, lease } => {
            let report = ExecutionReport::from_json(&result);
            let report =
                report.map_err(|why| ApiError::bad_request("bad_result", why.to_string()))?;
            Ok((ReportedOutcome::Done(report), lease))
        }
        ResultBody::Failed { error, error_type, lease } => {
            let drifted = error_type.as_deref() == Some(FILE_CHANGED);
            let reported = if drifted {
                ReportedOutcome::Drifted(error)
            } else {
                ReportedOutcome::Failed(error)
            };
            Ok((reported, lease))
        }
    }
}
