//! `GET …/tools/executions`: what was called, and what came of it.

use axum::Json;
use axum::extract::State;
use countersign_api::call_status::CallStatus;
use countersign_api::execution::{ExecutionList, ExecutionView};
use countersign_api::risk_level::RiskLevel;
use countersign_core::{ExecutionStatus, Risk, SessionId};
use countersign_gate::ExecutionFilter;
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::call_context::ContextLookup;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::{PageQuery, QueryParams};

/// Which calls; what is left out does not matter.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExecutionListQuery {
    /// Where they stand; `pending` means `awaiting_approval`.
    #[param(inline)]
    status: Option<CallStatus>,
    /// The tool, by its name.
    tool: Option<String>,
    #[param(inline)]
    risk: Option<RiskLevel>,
    /// The conversation.
    #[serde(alias = "session_id")]
    session: Option<String>,
    /// Made at this moment or after it.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// Made before this moment.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
}

/// `GET /my/projects/{project_id}/tools/executions`: the history of calls, the latest first. Long
/// results are cut here; the execution itself has them whole.
#[utoipa::path(get, operation_id = "list_executions", tag = "tools", path = "/my/projects/{project_id}/tools/executions", params(("project_id" = String, Path), ExecutionListQuery, PageQuery), responses(
    (status = 200, body = ExecutionList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    QueryParams(filter): QueryParams<ExecutionListQuery>,
    QueryParams(page): QueryParams<PageQuery>,
) -> Result<Json<ExecutionList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let filter = ExecutionFilter {
        statuses: filter.status.map(ExecutionStatus::from).into_iter().collect(),
        tool: filter.tool,
        risk: filter.risk.map(Risk::from),
        session: filter.session.map(SessionId::from),
        from: filter.from,
        to: filter.to,
        asked: None,
    };
    let store = app.gate.store();
    let calls = store.executions(&project.id, filter, page.before()?, page.limit()).await?;
    let next_cursor = page.next(&calls);
    let mut contexts = ContextLookup::new(store);
    let mut executions = Vec::with_capacity(calls.len());
    for call in calls {
        let context = contexts.find(&call).await?;
        executions.push(ExecutionView::new(&call, context).with_short_result());
    }
    Ok(Json(ExecutionList { success: true, executions, next_cursor }))
}
