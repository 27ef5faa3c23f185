//! "What would this do?": one call, judged and not run.

use axum::Json;
use axum::extract::State;
use countersign_core::rule::Spoken;
use countersign_core::{
    Effect, Explained, Look, Mode, PartPreview, Reason, Stance, ToolCall, explain,
};
use countersign_gate::{Checked, Terms, new_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::TriedRule;
use super::view::{RuleEffect, RuleSource};
use crate::app::App;
use crate::body::Body;
use crate::error::ApiError;
use crate::refusals::Changing;
use crate::segments::Segments;
use crate::sign_in::SignedIn;
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
    rule: Option<SpokenView>,
    /// What would change it.
    #[schema(required)]
    remedy: Option<String>,
}

/// A rule that spoke.
#[derive(Serialize, ToSchema)]
pub(crate) struct SpokenView {
    rule: String,
    source: RuleSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// `POST /my/projects/{project_id}/rules/check`: judges a call. Never runs or records anything.
#[utoipa::path(post, operation_id = "check_call", tag = "rules", path = "/my/projects/{project_id}/rules/check", params(("project_id" = String, Path)), request_body = CheckedCall, responses(
    (status = 200, body = CheckView),
    Changing,
))]
pub(crate) async fn check(
    _: SignedIn,
    State(app): State<App>,
    Segments(project): Segments<String>,
    Body(wanted): Body<CheckedCall>,
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
        let terms = Terms { mode, ..Stance::Attended { auto_approve_read: true }.into() };
        app.gate.check(call, planner, terms, own).await?
    } else {
        let why = format!("there is no tool called `{}`", call.tool_name);
        Checked::refused(call, why)
    };
    Ok(Json(checked.into()))
}

fn mode(text: &str) -> Result<Mode, ApiError> {
    text.parse().map_err(|why: String| ApiError::bad_request("bad_mode", why))
}

impl From<Checked> for CheckView {
    fn from(checked: Checked) -> Self {
        let explained = Explained {
            call: &checked.call,
            plan: &checked.plan,
            risk: checked.risk,
            verdict: &checked.verdict,
            proposals: &checked.proposals,
        };
        let explanation = explain(&explained, Look::Plain);
        let Checked { plan, risk, verdict, proposals, .. } = checked;
        let commands = PartPreview::of(&plan.commands, &verdict);
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

impl From<Reason> for ReasonView {
    fn from(reason: Reason) -> Self {
        let Reason { outcome, text, part, rule, remedy } = reason;
        Self { outcome: outcome.into(), text, part, rule: rule.map(SpokenView::from), remedy }
    }
}

impl From<Spoken> for SpokenView {
    fn from(spoken: Spoken) -> Self {
        let Spoken { rule, source, id, why } = spoken;
        Self { rule, source: source.into(), id, why }
    }
}
