//! Requests for approval over REST: listed, looked at, decided.

use axum::Json;
use axum::extract::State;
use countersign_api::approval::{
    ApprovalList, ApprovalView, ApproveBody, DecisionView, OneApproval, RejectBody,
};
use countersign_api::call_status::CallStatus;
use countersign_api::decision_record::DecisionRecord;
use countersign_core::{Execution, ExecutionStatus, ProjectId};
use countersign_gate::ExecutionFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::body::OptionalJsonBody;
use crate::call_context::ContextLookup;
use crate::caller::SignedInPerson;
use crate::decide::{DecisionInput, DecisionOutcome, DecisionService};
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses};
use crate::path_params::{PathParams, approval_id};
use crate::query::{PageQuery, QueryParams};
use crate::runs;

/// Which requests.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalListQuery {
    /// Where they stand; `pending` means `awaiting_approval`. All unless said.
    #[param(inline)]
    status: Option<CallStatus>,
}

/// `GET /my/projects/{project_id}/approvals`: what people were asked, the latest first.
#[utoipa::path(get, operation_id = "list_approvals", tag = "approvals", path = "/my/projects/{project_id}/approvals", params(("project_id" = String, Path), ApprovalListQuery, PageQuery), responses(
    (status = 200, body = ApprovalList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    QueryParams(filter): QueryParams<ApprovalListQuery>,
    QueryParams(page): QueryParams<PageQuery>,
) -> Result<Json<ApprovalList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    list_in(&app, vec![project.id.clone()], filter, page).await
}

/// `GET /my/approvals`: what people were asked in all projects of this server, the latest first.
#[utoipa::path(get, operation_id = "list_all_approvals", tag = "approvals", path = "/my/approvals", params(ApprovalListQuery, PageQuery), responses(
    (status = 200, body = ApprovalList),
    ReadErrorResponses,
))]
pub(crate) async fn list_all(
    _: SignedInPerson,
    State(app): State<App>,
    QueryParams(filter): QueryParams<ApprovalListQuery>,
    QueryParams(page): QueryParams<PageQuery>,
) -> Result<Json<ApprovalList>, ApiError> {
    // One may have been made at another server since.
    app.projects.load().await?;
    list_in(&app, app.projects.ids(), filter, page).await
}

async fn list_in(
    app: &App,
    projects: Vec<ProjectId>,
    filter: ApprovalListQuery,
    page: PageQuery,
) -> Result<Json<ApprovalList>, ApiError> {
    let filter = ExecutionFilter {
        statuses: filter.status.map(ExecutionStatus::from).into_iter().collect(),
        asked: Some(true),
        ..ExecutionFilter::default()
    };
    let store = app.gate.store();
    let calls = store.executions_in(projects, filter, page.before()?, page.limit()).await?;
    let next_cursor = page.next(&calls);
    let mut contexts = ContextLookup::new(store);
    let mut approvals = Vec::with_capacity(calls.len());
    for call in calls {
        let context = contexts.find(&call).await?;
        approvals.push(ApprovalView::new(&call, context));
    }
    Ok(Json(ApprovalList { success: true, approvals, next_cursor }))
}

/// `GET /my/projects/{project_id}/approvals/{approval_id}`: one request, with what it would do.
#[utoipa::path(get, operation_id = "get_approval", tag = "approvals", path = "/my/projects/{project_id}/approvals/{approval_id}", params(("project_id" = String, Path), ("approval_id" = String, Path)), responses(
    (status = 200, body = OneApproval),
    ReadErrorResponses,
))]
pub(crate) async fn get(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams((project, approval)): PathParams<(String, String)>,
) -> Result<Json<OneApproval>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let speaker = DecisionService { app: &app, project: &project.id, person: &person };
    let approval = speaker.find_request(approval_id(&approval)?).await?;
    let context = ContextLookup::new(app.gate.store()).find(&approval).await?;
    let approval = ApprovalView::new(&approval, context);
    Ok(Json(OneApproval { success: true, approval }))
}

/// `POST /my/projects/{project_id}/approvals/{approval_id}/approve`: a person says yes. Saying it
/// again is fine; saying it to what was rejected, or too late, is 409 with what stands.
#[utoipa::path(post, operation_id = "approve", tag = "approvals", path = "/my/projects/{project_id}/approvals/{approval_id}/approve", params(("project_id" = String, Path), ("approval_id" = String, Path)), request_body = ApproveBody, responses(
    (status = 200, body = DecisionView),
    ConflictErrorResponses,
))]
pub(crate) async fn approve(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams((project, approval)): PathParams<(String, String)>,
    OptionalJsonBody(body): OptionalJsonBody<ApproveBody>,
) -> Result<Json<DecisionView>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let said = DecisionInput {
        approved: true,
        digest: body.digest,
        edited_input: body.edited_input,
        scope: body.scope,
        rule: body.rule,
        feedback: body.message,
    };
    let id = approval_id(&approval)?;
    let speaker = DecisionService { app: &app, project: &project.id, person: &person };
    match speaker.decide(id, said).await? {
        DecisionOutcome::Decided(stands) => Ok(decision_response(&stands, CallStatus::Approved)),
        DecisionOutcome::AskedAgain(next) => {
            let asked = speaker.find_request(id).await?;
            let Json(view) = decision_response(&asked, CallStatus::AwaitingApproval);
            Ok(Json(DecisionView { replaced_by: Some(next.id().to_string()), ..view }))
        }
    }
}

/// `POST /my/projects/{project_id}/approvals/{approval_id}/reject`: a person says no. Saying it again
/// is fine; saying it to what was approved, or too late, is 409 with what stands.
#[utoipa::path(post, operation_id = "reject", tag = "approvals", path = "/my/projects/{project_id}/approvals/{approval_id}/reject", params(("project_id" = String, Path), ("approval_id" = String, Path)), request_body = RejectBody, responses(
    (status = 200, body = DecisionView),
    ConflictErrorResponses,
))]
pub(crate) async fn reject(
    SignedInPerson(person): SignedInPerson,
    State(app): State<App>,
    PathParams((project, approval)): PathParams<(String, String)>,
    OptionalJsonBody(body): OptionalJsonBody<RejectBody>,
) -> Result<Json<DecisionView>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let said =
        DecisionInput { feedback: body.reason, digest: body.digest, ..DecisionInput::default() };
    let speaker = DecisionService { app: &app, project: &project.id, person: &person };
    let (DecisionOutcome::Decided(stands) | DecisionOutcome::AskedAgain(stands)) =
        speaker.decide(approval_id(&approval)?, said).await?;
    if body.interrupt {
        runs::cancel(&app, &project.id, &stands.call().session).await?;
    }
    Ok(decision_response(&stands, CallStatus::Rejected))
}

fn decision_response(stands: &Execution, status: CallStatus) -> Json<DecisionView> {
    Json(DecisionView {
        success: true,
        approval_id: stands.id().to_string(),
        status,
        tool_id: stands.call().id.to_string(),
        tool_status: stands.status().into(),
        decided: DecisionRecord::from_execution(stands),
        replaced_by: stands.replaced_by().map(|id| id.to_string()),
    })
}
