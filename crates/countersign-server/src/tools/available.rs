//! `GET …/tools/available`: the tools, as S2 describes them.

use axum::Json;
use axum::extract::State;
use countersign_core::{Executor, Risk};
use countersign_gate::DecisionTimeouts;
use countersign_tools::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::error::ApiError;
use crate::error_responses::ReadErrorResponses;
use crate::path_params::PathParams;
use crate::query::QueryParams;
use crate::sign_in::SignedInPerson;
use crate::socket::request::RiskLevel;

/// Whose tools.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ToolListQuery {
    /// Who runs them; the client unless said.
    #[param(inline)]
    executor: Option<ToolRunner>,
}

/// Who runs tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolRunner {
    /// The client: `read_file`, `write_file`, `list_directory`, `execute_command`.
    #[default]
    Client,
    /// The server.
    Local,
}

/// The tools of an executor.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolList {
    success: bool,
    tools: Vec<ToolView>,
    total_count: usize,
}

/// One tool.
#[derive(Serialize, ToSchema)]
pub(crate) struct ToolView {
    name: String,
    description: String,
    /// The fields of its input, each with its JSON schema.
    #[schema(value_type = Object)]
    parameters: Value,
    /// The fields that have to be there.
    required: Vec<String>,
    /// Whether a call asks unless a rule says otherwise.
    requires_approval: bool,
    /// The usual risk; each call is rated by what it would do.
    risk_level: RiskLevel,
    /// How long people have to decide, in seconds; 0 where nobody is asked.
    timeout_seconds: u64,
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
    for tool in super::toolbox(&app, &place, executor).iter() {
        tools.push(ToolView::from_tool(tool.as_ref(), timeouts).await);
    }
    Ok(Json(ToolList { success: true, total_count: tools.len(), tools }))
}

impl ToolView {
    async fn from_tool(tool: &dyn Tool, timeouts: DecisionTimeouts) -> Self {
        let schema = tool.input_schema();
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let requires_approval = tool.needs_approval(&json!({})).await;
        let risk = if requires_approval { Risk::Medium } else { Risk::Low };
        let seconds = if requires_approval { timeouts.for_risk(risk).as_secs() } else { 0 };
        Self {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            required: required.map(str::to_owned).collect(),
            parameters: schema.get("properties").cloned().unwrap_or_else(|| json!({})),
            requires_approval,
            risk_level: risk.into(),
            timeout_seconds: seconds,
        }
    }
}
