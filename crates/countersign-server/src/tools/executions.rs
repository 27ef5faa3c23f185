//! `GET …/tools/executions`: what was called, and what came of it.

use axum::Json;
use axum::extract::State;
use countersign_core::{Risk, SessionId, Status};
use countersign_gate::ExecutionFilter;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::ExecutionView;
use crate::app::App;
use crate::call_context::ContextLookup;
use crate::error::ApiError;
use crate::query::{Page, Query};
use crate::refusals::Looking;
use crate::segments::Segments;
use crate::sign_in::SignedIn;
use crate::socket::request::RiskLevel;
use crate::status::CallStatus;

/// Which calls; what is left out does not matter.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Filter {
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

/// A page of calls, the latest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExecutionList {
    success: bool,
    executions: Vec<ExecutionView>,
    /// Where the next page begins; none after the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// `GET /my/projects/{project_id}/tools/executions`: the history of calls, the latest first. Long
/// results are cut here; the execution itself has them whole.
#[utoipa::path(get, operation_id = "list_executions", tag = "tools", path = "/my/projects/{project_id}/tools/executions", params(("project_id" = String, Path), Filter, Page), responses(
    (status = 200, body = ExecutionList),
    Looking,
))]
pub(crate) async fn list(
    _: SignedIn,
    State(app): State<App>,
    Segments(project): Segments<String>,
    Query(filter): Query<Filter>,
    Query(page): Query<Page>,
) -> Result<Json<ExecutionList>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let filter = ExecutionFilter {
        statuses: filter.status.map(Status::from).into_iter().collect(),
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
        executions.push(ExecutionView::new(call, context).in_short());
    }
    Ok(Json(ExecutionList { success: true, executions, next_cursor }))
}
