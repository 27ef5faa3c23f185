//! `POST …/tools/{tool_id}/lease`: whoever runs a call elsewhere takes it, and says that it is there.

use countersign_api::lease::{LeaseBody, LeaseGiven, LeaseView};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use countersign_core::{Execution, Executor, ReportRejection};
use countersign_gate::ReportError;

use super::{call_backups, find_execution};
use crate::app::App;
use crate::body::OptionalJsonBody;
use crate::caller::AuthenticatedCaller;
use crate::client_streams::SHORT_LEASE;
use crate::error::ApiError;
use crate::error_responses::ConflictErrorResponses;
use crate::path_params::{PathParams, unknown_execution};
use crate::with_deadline::with_deadline;

/// How long one holds that whoever made the call took.
const CALLERS_LEASE: Duration = Duration::from_mins(1);

/// `POST /my/projects/{project_id}/tools/{tool_id}/lease`: with a lease, says that whoever has the
/// call is still there (30 seconds more for a client, 60 for a caller). Without one, takes an approved
/// call that was handed in at `tools/calls`: of all who try, one gets it.
#[utoipa::path(post, operation_id = "lease", tag = "tools", path = "/my/projects/{project_id}/tools/{tool_id}/lease", params(("project_id" = String, Path), ("tool_id" = String, Path)), request_body = LeaseBody, responses(
    (status = 200, body = LeaseGiven),
    ConflictErrorResponses,
))]
pub(crate) async fn hold(
    caller: AuthenticatedCaller,
    State(app): State<App>,
    PathParams((project, tool)): PathParams<(String, String)>,
    OptionalJsonBody(body): OptionalJsonBody<LeaseBody>,
) -> Result<Json<LeaseGiven>, ApiError> {
    let place = app.projects.get(&project).await?;
    let call = find_execution(&app, &place, &tool).await?;
    let is_shown = body.lease.is_some();
    check_is_own(&caller, &call, is_shown)?;
    let hidden = !caller.may_see(&call);
    let held = renew_or_take(&app, caller, call, body).await;
    held.map(Json).map_err(|error| if hidden { error.without_execution() } else { error })
}

async fn renew_or_take(
    app: &App,
    caller: AuthenticatedCaller,
    call: Execution,
    body: LeaseBody,
) -> Result<LeaseGiven, ApiError> {
    let (gate, id) = (app.gate.clone(), call.id());
    let stands = if let Some(lease) = body.lease {
        let period = match call.call().executor {
            Executor::Caller => CALLERS_LEASE,
            Executor::Local | Executor::Client | Executor::ClaudeCli => SHORT_LEASE,
        };
        with_deadline(async move { gate.renew(id, &lease.token(), period).await }).await?
    } else if call.call().executor == Executor::ClaudeCli {
        let why = "Claude Code runs its own calls";
        return Err(ApiError::conflict("not_yours", why).with_execution(call));
    } else {
        call_backups::back_up_before_run(app, &call).await;
        let lent = with_deadline(async move { gate.lend(id, &caller.name, CALLERS_LEASE).await });
        lent.await?.map_err(|refused| {
            let why = refused.to_string();
            ApiError::conflict("not_yours", why).with_execution(*refused.0)
        })?
    };
    if let Some(output) = body.output.filter(|output| !output.is_empty()) {
        app.gate.show_output(&stands, output);
    }
    Ok(LeaseGiven {
        success: true,
        tool_id: stands.call().id.to_string(),
        status: stands.status().into(),
        lease: LeaseView::from_execution(&stands),
    })
}

/// Checks that a call is an agent's own: handed in by it, or lent to it, which the lease proves.
pub(super) fn check_is_own(
    caller: &AuthenticatedCaller,
    call: &Execution,
    shows_lease: bool,
) -> Result<(), ApiError> {
    let is_lent = call.call().executor == Executor::Client && shows_lease;
    if caller.may_see(call) || is_lent {
        Ok(())
    } else {
        Err(unknown_execution(&call.call().id.to_string()))
    }
}

impl From<ReportError> for ApiError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::Unknown(_) => Self::not_found(error.to_string()),
            ReportError::Store(error) => error.into(),
            ReportError::NotTaken(refused) => {
                let code = match refused {
                    ReportRejection::Settled(_) => "already_settled",
                    ReportRejection::NotStarted(_) => "not_started",
                    ReportRejection::Foreign(_) => "foreign_lease",
                    ReportRejection::NotElsewhere(_) => "not_elsewhere",
                };
                Self::conflict(code, refused.to_string())
                    .with_execution(refused.execution().clone())
            }
        }
    }
}
