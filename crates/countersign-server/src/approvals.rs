//! Requests for approval over REST: listed, looked at, decided.

pub(crate) mod view;

use axum::Json;
use axum::extract::State;
use countersign_core::{Execution, ExecutionStatus, ProjectId};
use countersign_gate::ExecutionFilter;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use self::view::ApprovalView;
use crate::app::App;
use crate::body::OptionalJsonBody;
use crate::call_context::ContextLookup;
use crate::decide::{DecisionInput, DecisionOutcome, DecisionScope, DecisionService};
use crate::error::ApiError;
use crate::error_responses::{ConflictErrorResponses, ReadErrorResponses};
use crate::path_params::{PathParams, approval_id};
use crate::query::{PageQuery, QueryParams};
use crate::runs;
use crate::sign_in::SignedInPerson;
use crate::status::CallStatus;

/// Which requests.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ApprovalListQuery {
    /// Where they stand; `pending` means `awaiting_approval`. All unless said.
    #[param(inline)]
    status: Option<CallStatus>,
}

/// A page of requests, the latest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    success: bool,
    approvals: Vec<ApprovalView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// One request.
#[derive(Serialize, ToSchema)]
pub(crate) struct OneApproval {
    success: bool,
    #[serde(flatten)]
    approval: ApprovalView,
}

/// A yes. A field that is not known is refused: nobody means nothing by it.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"decision": "approved"}))]
pub(crate) struct ApproveBody {
    /// The path says it already; where it is given it has to be `approved`.
    #[expect(dead_code, reason = "that it can be read says all")]
    decision: Option<ApprovedLiteral>,
    /// The whole input as the person changed it. It is judged again: denied is 409, riskier than what
    /// was asked becomes a new request, otherwise it runs as edited and the model is told so.
    #[schema(value_type = Option<Object>)]
    edited_input: Option<Value>,
    /// How far the yes reaches; `once` unless said.
    #[serde(default)]
    #[schema(nullable = false)]
    scope: DecisionScope,
    /// The rules of the proposal that was picked, a line each; the narrowest if none. Needs a scope.
    rule: Option<String>,
    /// What the person wants to add. It is kept beside the decision; the model is not told.
    message: Option<String>,
    /// The digest of what the person saw; if the request is another by now, the answer is 409.
    digest: Option<String>,
}

/// The word for yes.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApprovedLiteral {
    Approved,
}

/// The word for no.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RejectedLiteral {
    Rejected,
}

/// A no. A field that is not known is refused.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "User declined execution"}))]
pub(crate) struct RejectBody {
    /// The path says it already; where it is given it has to be `rejected`.
    #[expect(dead_code, reason = "that it can be read says all")]
    decision: Option<RejectedLiteral>,
    /// What to do instead: the model reads `User rejected: <reason>` and goes on.
    reason: Option<String>,
    /// The digest of what the person saw; if the request is another by now, the answer is 409.
    digest: Option<String>,
    /// Whether the run is to be stopped, too.
    #[serde(default)]
    #[schema(nullable = false)]
    interrupt: bool,
}

/// The decision that stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct DecisionView {
    success: bool,
    approval_id: String,
    /// What stands: `approved` or `rejected`; `awaiting_approval` where an edited input is asked for
    /// again.
    status: CallStatus,
    tool_id: String,
    /// How far the call has come since.
    tool_status: CallStatus,
    #[serde(flatten)]
    decided: view::DecisionRecord,
    /// The request that waits in its place, where an edited input is riskier than what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    replaced_by: Option<String>,
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
        approvals.push(ApprovalView::new(call, context));
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
    let approval = ApprovalView::new(approval, context);
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
            Ok(Json(DecisionView { replaced_by: Some(next.id.to_string()), ..view }))
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
        runs::cancel(&app, &project.id, &stands.call.session).await?;
    }
    Ok(decision_response(&stands, CallStatus::Rejected))
}

fn decision_response(stands: &Execution, status: CallStatus) -> Json<DecisionView> {
    Json(DecisionView {
        success: true,
        approval_id: stands.id.to_string(),
        status,
        tool_id: stands.call.id.to_string(),
        tool_status: stands.status().into(),
        decided: view::DecisionRecord::from_execution(stands),
        replaced_by: stands.replaced_by().map(|id| id.to_string()),
    })
}
