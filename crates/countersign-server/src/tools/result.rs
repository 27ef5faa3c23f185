//! `POST …/tools/{tool_id}/result`: whoever ran a call elsewhere says what came of it.

use axum::Json;
use axum::extract::State;
use countersign_core::{ExecutionReport, ReportedOutcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::lease::{LeaseShown, check_is_own};
use super::{call_backups, find_execution};
use crate::access::AuthenticatedCaller;
use crate::app::App;
use crate::body::{JsonBody, RESULT_LIMIT};
use crate::error::ApiError;
use crate::error_responses::ConflictErrorResponses;
use crate::path_params::PathParams;
use crate::status::CallStatus;
use crate::with_deadline::with_deadline;

/// What came of a call, and the lease it was run under.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
#[schema(example = json!({"status": "completed", "result": {"success": true, "stdout": "ok", "stderr": null, "exit_code": 0}}))]
pub(crate) enum ResultBody {
    /// It ran.
    Completed {
        /// What it gave back.
        #[schema(value_type = ReportedResult)]
        result: Value,
        /// The lease it was run under, as it was given. Without it the result is taken while the call
        /// runs, and of a call that was handed in here also before.
        lease: Option<LeaseShown>,
    },
    /// It could not run, or broke off.
    Failed {
        /// Why.
        error: String,
        /// `file_changed` where the call was not run because what is there is not what was shown.
        #[schema(value_type = Option<String>)]
        error_type: Option<String>,
        /// The lease it was run under, as it was given.
        lease: Option<LeaseShown>,
    },
}

/// What a call gave back. Other fields are kept, too.
#[derive(ToSchema)]
#[expect(dead_code, reason = "for the description; it is read by `Report`")]
pub(crate) struct ReportedResult {
    #[schema(nullable = false)]
    success: Option<bool>,
    stdout: Option<String>,
    stderr: Option<String>,
    exit_code: Option<i64>,
}

/// The result was taken.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResultTaken {
    success: bool,
    tool_id: String,
    status: CallStatus,
    message: &'static str,
}

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
    let (reported, lease) = body.into_reported_outcome()?;
    check_is_own(&caller, &call, lease.is_some())?;
    let hidden = !caller.may_see(&call);
    let token = lease.map(LeaseShown::token);
    let (gate, id) = (app.gate.clone(), call.id);
    let reporting = with_deadline(async move { gate.report(id, token, reported).await }).await;
    let stands =
        reporting.map_err(|error| if hidden { error.without_execution() } else { error })?;
    call_backups::record_after_run(&app, &stands).await;
    Ok(Json(ResultTaken {
        success: true,
        tool_id: stands.call.id.to_string(),
        status: stands.status().into(),
        message: "Tool result processed",
    }))
}

impl ResultBody {
    fn into_reported_outcome(self) -> Result<(ReportedOutcome, Option<LeaseShown>), ApiError> {
        match self {
            Self::Completed { result, lease } => {
                let report = ExecutionReport::from_json(&result);
                let report =
                    report.map_err(|why| ApiError::bad_request("bad_result", why.to_string()))?;
                Ok((ReportedOutcome::Done(report), lease))
            }
            Self::Failed { error, error_type, lease } => {
                let drifted = error_type.as_deref() == Some("file_changed");
                let reported = if drifted {
                    ReportedOutcome::Drifted(error)
                } else {
                    ReportedOutcome::Failed(error)
                };
                Ok((reported, lease))
            }
        }
    }
}
