//! "What would this do?": one call, judged and not run.

use axum::Json;
use axum::extract::State;
use countersign_api::approval_request::ProposalView;
use countersign_api::preview::PartView;
use countersign_api::rule_check::{CheckView, CheckedCall, ReasonView};
use countersign_core::{
    Explanation, ExplanationStyle, PartPreview, PermissionMode, ToolCall, explain,
};
use countersign_gate::{CallCheck, SubmitOptions, new_id};

use super::parse_tried_rule;
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInPerson;
use crate::error::ApiError;
use crate::error_responses::WriteErrorResponses;
use crate::path_params::PathParams;

/// `POST /my/projects/{project_id}/rules/check`: judges a call. Never runs or records anything.
#[utoipa::path(post, operation_id = "check_call", tag = "rules", path = "/my/projects/{project_id}/rules/check", params(("project_id" = String, Path)), request_body = CheckedCall, responses(
    (status = 200, body = CheckView),
    WriteErrorResponses,
))]
pub(crate) async fn check(
    _: SignedInPerson,
    State(app): State<App>,
    PathParams(project): PathParams<String>,
    JsonBody(wanted): JsonBody<CheckedCall>,
) -> Result<Json<CheckView>, ApiError> {
    let (project, workspace) = &*app.projects.get(&project).await?;
    let mode = wanted.mode.as_deref().map(mode).transpose()?;
    let own = wanted.rules.map(|rules| rules.into_iter().map(parse_tried_rule).collect());
    let own = own.transpose()?;
    let call = ToolCall {
        id: new_id(),
        project: project.id.clone(),
        session: "".into(),
        run: None,
        tool_use_id: "".into(),
        tool_name: wanted.tool_name,
        input: wanted.tool_input,
        cwd: project.root.clone().into(),
        executor: countersign_core::Executor::Local,
        agent: None,
    };
    let checked = if let Some(planner) = (app.catalogue)(workspace).planner(&call.tool_name) {
        let terms = SubmitOptions::attended().in_mode(mode);
        app.gate.check(call, planner, terms, own).await?
    } else {
        let why = format!("there is no tool called `{}`", call.tool_name);
        CallCheck::for_invalid_call(call, why)
    };
    Ok(Json(check_view(checked)))
}

fn mode(text: &str) -> Result<PermissionMode, ApiError> {
    text.parse().map_err(|why: String| ApiError::bad_request("bad_mode", why))
}

fn check_view(checked: CallCheck) -> CheckView {
    let explained = Explanation {
        call: &checked.call,
        plan: &checked.plan,
        risk: checked.risk,
        verdict: &checked.verdict,
        proposals: &checked.proposals,
    };
    let explanation = explain(&explained, ExplanationStyle::Plain);
    let CallCheck { plan, risk, verdict, proposals, .. } = checked;
    let commands = PartPreview::for_commands(&plan.commands, &verdict);
    CheckView {
        success: true,
        verdict: verdict.outcome.into(),
        risk_level: risk.into(),
        summary: plan.summary,
        commands: commands.into_iter().map(PartView::from).collect(),
        reasons: verdict.reasons.into_iter().map(ReasonView::from).collect(),
        effects: plan.effects,
        proposals: proposals.into_iter().map(ProposalView::from).collect(),
        explanation,
    }
}
