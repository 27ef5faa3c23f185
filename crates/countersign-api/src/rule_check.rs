//! "What would this do?": one call, judged and not run.

use countersign_core::rule::RuleCitation;
use countersign_core::{Effect, VerdictReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::approval_request::ProposalView;
use crate::preview::PartView;
use crate::risk_level::RiskLevel;
use crate::rule::{RuleEffect, RuleSourceView, TriedRule};

/// A call to judge.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckedCall {
    pub tool_name: String,
    pub tool_input: Value,
    /// What becomes of calls that would ask; as the rules say where it is not given.
    pub mode: Option<String>,
    /// These instead of the project's own rules.
    pub rules: Option<Vec<TriedRule>>,
}

/// What the gate would say of a call.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckView {
    pub success: bool,
    pub verdict: RuleEffect,
    pub risk_level: RiskLevel,
    /// What it would do, in one sentence.
    pub summary: String,
    pub reasons: Vec<ReasonView>,
    /// What it would do, one by one.
    #[schema(value_type = Vec<Object>)]
    pub effects: Vec<Effect>,
    /// The commands it would run, one by one.
    pub commands: Vec<PartView>,
    /// What "always" could mean, narrowest first.
    pub proposals: Vec<ProposalView>,
    /// All of it as text for people.
    pub explanation: String,
}

/// Why something was said of a call.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReasonView {
    pub outcome: RuleEffect,
    pub text: String,
    /// Which of `commands` it is about, where it is about one.
    #[schema(required)]
    pub part: Option<usize>,
    /// The rule that spoke, where one did.
    #[schema(required)]
    pub rule: Option<RuleCitationView>,
    /// What would change it.
    #[schema(required)]
    pub remedy: Option<String>,
}

/// A rule that spoke.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleCitationView {
    pub rule: String,
    pub source: RuleSourceView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
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
