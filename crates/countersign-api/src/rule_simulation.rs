//! What other rules would have made of the calls that were recorded.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::rule::{RuleEffect, TriedRule};

/// Rules to try on what was recorded.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedRules {
    /// These instead of the project's own rules.
    pub rules: Vec<TriedRule>,
    /// How many calls, 500 unless said and 1000 at the most.
    #[schema(maximum = 1000)]
    pub limit: Option<usize>,
}

/// What the rules would have made of the recorded calls.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SimulationView {
    pub success: bool,
    /// How many calls were looked at.
    pub replayed: usize,
    pub before: TallyView,
    pub after: TallyView,
    /// What would be otherwise, newest first.
    pub changed: Vec<ChangeView>,
}

/// How many calls had which verdict.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TallyView {
    pub allow: usize,
    pub ask: usize,
    pub deny: usize,
}

/// What a person made of a request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedView {
    Approved,
    Rejected,
    Timeout,
    Cancelled,
}

/// A call that the rules would have treated otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangeView {
    pub tool_id: String,
    pub tool_name: String,
    pub summary: String,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    pub before: RuleEffect,
    pub after: RuleEffect,
    /// What a person said then; none where nobody was asked.
    #[schema(required)]
    pub decided: Option<DecidedView>,
    /// Whether it would run although a person rejected it, or be denied although one approved it.
    pub contradicts: bool,
    /// The rules that make the difference.
    pub rules: Vec<String>,
}
