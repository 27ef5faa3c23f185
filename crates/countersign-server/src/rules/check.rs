//! "What would this do?": one call, judged and not run.

use axum::Json;
use axum::extract::State;
use countersign_core::rule::RuleCitation;
use countersign_core::{
    Effect, Explanation, ExplanationStyle, PartPreview, PermissionMode, Supervision, ToolCall,
    VerdictReason, explain,
};
use countersign_gate::{CallCheck, SubmitOptions, new_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::TriedRule;
use super::view::{RuleEffect, RuleSourceView};
use crate::app::App;
use crate::body::JsonBody;
use crate::error::ApiError;
use crate::error_responses::WriteErrorResponses;
use crate::path_params::PathParams;
use crate::sign_in::SignedInPerson;
use crate::socket::request::{PartView, ProposalView, RiskLevel};

/// A call to judge.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckedCall {
    tool_name: String,
    tool_input: Value,
    /// What becomes of calls that would ask; as the rules say where it is not given.
    mode: Option<String>,
    /// These instead of the project's own rules.
    rules: Option<Vec<TriedRule>>,
}

/// What the gate would say of a call.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckView {
    success: bool,
    verdict: RuleEffect,
    risk_level: RiskLevel,
    /// What it would do, in one sentence.
    summary: String,
    reasons: Vec<ReasonView>,
    /// What it would do, one by one.
    #[schema(value_type = Vec<Object>)]
    effects: Vec<Effect>,
    /// The commands it would run, one by one.
    commands: Vec<PartView>,
    /// What "always" could mean, narrowest first.
    proposals: Vec<ProposalView>,
    /// All of it as text for people.
    explanation: String,
}

/// Why something was said of a call.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReasonView {
    outcome: RuleEffect,
    text: String,
    /// Which of `commands` it is about, where it is about one.
    #[schema(required)]
    part: Option<usize>,
    /// The rule that spoke, where one did.
    #[schema(required)]
    rule: Option<RuleCitationView>,
    /// What would change it.
    #[schema(required)]
    remedy: Option<String>,
}

/// A rule that spoke.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleCitationView {
    rule: String,
    source: RuleSourceView,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

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
    let own = wanted.rules.map(|rules| rules.into_iter().map(TriedRule::parse).collect());
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
        let terms =
            SubmitOptions { mode, ..Supervision::Attended { auto_approve_read: true }.into() };
        app.gate.check(call, planner, terms, own).await?
    } else {
        let why = format!("there is no tool called `{}`", call.tool_name);
        CallCheck::for_invalid_call(call, why)
    };
    Ok(Json(checked.into()))
}

fn mode(text: &str) -> Result<PermissionMode, ApiError> {
    text.parse().map_err(|why: String| ApiError::bad_request("bad_mode", why))
}

impl From<CallCheck> for CheckView {
    fn from(checked: CallCheck) -> Self {
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
        Self {
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
}

impl From<VerdictReason> for ReasonView {
    fn from(reason: VerdictReason) -> Self {
        let VerdictReason { outcome, text, part, rule, remedy } = reason;
        Self { outcome: outcome.into(), text, part, rule: rule.map(RuleCitationView::from), remedy }
    }
}

impl From<RuleCitation> for RuleCitationView {
    fn from(spoken: RuleCitation) -> Self {
        let RuleCitation { rule, source, id, why } = spoken;
        Self { rule, source: source.into(), id, why }
    }
}
