//! What other rules would have made of the calls that were recorded.

use axum::Json;
use axum::extract::State;
use countersign_gate::{PastDecision, PolicySimulation, SimulatedChange, VerdictTally};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::TriedRule;
use super::view::RuleEffect;
use crate::app::App;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::error_responses::WriteErrorResponses;
use crate::path_params::PathParams;
use crate::sign_in::SignedInPerson;

/// How many calls are replayed unless said, and at the most.
const USUAL: usize = 500;
const MOST: usize = 1000;

/// Rules to try on what was recorded.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulatedRules {
    /// These instead of the project's own rules.
    rules: Vec<TriedRule>,
    /// How many calls, 500 unless said and 1000 at the most.
    #[schema(maximum = 1000)]
    limit: Option<usize>,
}

/// What the rules would have made of the recorded calls.
#[derive(Serialize, ToSchema)]
pub(crate) struct SimulationView {
    success: bool,
    /// How many calls were looked at.
    replayed: usize,
    before: TallyView,
    after: TallyView,
    /// What would be otherwise, newest first.
    changed: Vec<ChangeView>,
}

/// How many calls had which verdict.
#[derive(Serialize, ToSchema)]
pub(crate) struct TallyView {
    allow: usize,
    ask: usize,
    deny: usize,
}

/// What a person made of a request.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecidedView {
    Approved,
    Rejected,
    Timeout,
    Cancelled,
}

/// A call that the rules would have treated otherwise.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChangeView {
    tool_id: String,
    tool_name: String,
    summary: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    before: RuleEffect,
    after: RuleEffect,
    /// What a person said then; none where nobody was asked.
    #[schema(required)]
    decided: Option<DecidedView>,
    /// Whether it would run although a person rejected it, or be denied although one approved it.
    contradicts: bool,
    /// The rules that make the difference.
    rules: Vec<String>,
}

/// `POST /my/projects/{project_id}/rules/simulate`: replays recorded calls under other rules.
#[utoipa::path(post, operation_id = "simulate_rules", tag = "rules", path = "/my/projects/{project_id}/rules/simulate", params(("project_id" = String, Path)), request_body = SimulatedRules, responses(
    (status = 200, body = SimulationView),
    WriteErrorResponses,
))]
pub(crate) async fn simulate(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    JsonBody(wanted): JsonBody<SimulatedRules>,
) -> Result<Json<SimulationView>, ApiError> {
    let (project, _) = &*app.projects.get(&project).await?;
    let rules = wanted.rules.into_iter().map(TriedRule::parse).collect::<Result<_, _>>()?;
    let limit = wanted.limit.unwrap_or(USUAL).clamp(1, MOST);
    let simulation = app.gate.simulate(&project.id, rules, limit).await?;
    Ok(Json(simulation.into()))
}

impl From<PolicySimulation> for SimulationView {
    fn from(simulation: PolicySimulation) -> Self {
        let PolicySimulation { replayed, before, after, changed } = simulation;
        let changed = changed.into_iter().map(ChangeView::from).collect();
        Self { success: true, replayed, before: before.into(), after: after.into(), changed }
    }
}

impl From<VerdictTally> for TallyView {
    fn from(VerdictTally { allow, ask, deny }: VerdictTally) -> Self {
        Self { allow, ask, deny }
    }
}

impl From<SimulatedChange> for ChangeView {
    fn from(change: SimulatedChange) -> Self {
        Self {
            tool_id: change.execution.to_string(),
            tool_name: change.tool_name,
            summary: change.summary,
            created_at: change.created_at,
            before: change.before.into(),
            after: change.after.into(),
            decided: change.decided.map(|decided| match decided {
                PastDecision::Approved => DecidedView::Approved,
                PastDecision::Rejected => DecidedView::Rejected,
                PastDecision::Timeout => DecidedView::Timeout,
                PastDecision::Cancelled => DecidedView::Cancelled,
            }),
            contradicts: change.contradicts,
            rules: change.rules,
        }
    }
}
