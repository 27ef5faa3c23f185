//! `GET …/tools/available`: the tools, as S2 describes them.

use axum::Json;
use axum::extract::State;
use countersign_api::tool::{ToolList, ToolRunner, ToolView};
use countersign_core::{Executor, Risk};
use countersign_gate::DecisionTimeouts;
use countersign_tools::Tool;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::app::App;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::QueryParams;
use crate::run_tools;

/// Whose tools.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ToolListQuery {
    /// Who runs them; the client unless said.
    #[param(inline)]
    executor: Option<ToolRunner>,
}

/// `GET /my/projects/{project_id}/tools/available`: the tools a run can use.
#[utoipa::path(get, operation_id = "list_tools", tag = "tools", path = "/my/projects/{project_id}/tools/available", params(("project_id" = String, Path), ToolListQuery), responses(
    (status = 200, body = ToolList),
    ReadErrorResponses,
))]
pub(crate) async fn list(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    QueryParams(whose): QueryParams<ToolListQuery>,
) -> Result<Json<ToolList>, ApiError> {
    let place = app.projects.get(&project).await?;
    let timeouts = app.gate.timeouts(&place.0.id).await?;
    let mut tools = Vec::new();
    let executor = match whose.executor.unwrap_or_default() {
        ToolRunner::Client => Executor::Client,
        ToolRunner::Local => Executor::Local,
    };
    for tool in run_tools::toolbox(&app, &place, executor).iter() {
        tools.push(tool_view(tool.as_ref(), timeouts).await);
    }
    Ok(Json(ToolList { success: true, total_count: tools.len(), tools }))
}

async fn tool_view(tool: &dyn Tool, timeouts: DecisionTimeouts) -> ToolView {
    let schema = tool.input_schema();
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let requires_approval = tool.needs_approval(&json!({})).await;
    let risk = if requires_approval { Risk::Medium } else { Risk::Low };
    let seconds = if requires_approval { timeouts.for_risk(risk).as_secs() } else { 0 };
    ToolView {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        required: required.map(str::to_owned).collect(),
        parameters: schema.get("properties").cloned().unwrap_or_else(|| json!({})),
        requires_approval,
        risk_level: risk.into(),
        timeout_seconds: seconds,
    }
}
