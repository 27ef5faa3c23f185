//! What other rules would have made of the calls that were recorded.

use axum::Json;
use axum::extract::State;
use countersign_api::rule_simulation::{
    ChangeView, DecidedView, SimulatedRules, SimulationView, TallyView,
};
use countersign_gate::{PastDecision, PolicySimulation, SimulatedChange, VerdictTally};

use super::parse_tried_rule;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::WriteErrorResponses;
use crate::path_params::PathParams;

/// How many calls are replayed unless said, and at the most.
const USUAL: usize = 500;
const MOST: usize = 1000;

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
    let rules = wanted.rules.into_iter().map(parse_tried_rule).collect::<Result<_, _>>()?;
    let limit = wanted.limit.unwrap_or(USUAL).clamp(1, MOST);
    let simulation = app.gate.simulate(&project.id, rules, limit).await?;
    Ok(Json(simulation_view(simulation)))
}

fn simulation_view(simulation: PolicySimulation) -> SimulationView {
    let PolicySimulation { replayed, before, after, changed } = simulation;
    let (before, after) = (tally_view(before), tally_view(after));
    let changed = changed.into_iter().map(change_view).collect();
    SimulationView { success: true, replayed, before, after, changed }
}

fn tally_view(VerdictTally { allow, ask, deny }: VerdictTally) -> TallyView {
    TallyView { allow, ask, deny }
}

fn change_view(change: SimulatedChange) -> ChangeView {
    ChangeView {
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
