//! The rules of a project as clients see them, and as they change them.

use countersign_core::rule::RuleSource;
use countersign_core::{PermissionMode, VerdictAction};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Everything that holds in a project.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleList {
    pub success: bool,
    /// What tells this state of the rules from every other.
    pub version: String,
    /// What becomes of calls that would ask, in runs that name no mode.
    #[schema(value_type = String)]
    pub mode: PermissionMode,
    pub rules: Vec<RuleView>,
    pub files: Vec<RuleFileView>,
    /// There is one page.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

/// Who a rule comes from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleSourceView {
    User,
    Workspace,
    Project,
    Session,
}

/// A rule.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleView {
    /// What it is revoked by; none for rules that stand in a file.
    #[schema(required)]
    pub id: Option<String>,
    pub effect: RuleEffect,
    pub rule: String,
    #[schema(required)]
    pub why: Option<String>,
    pub source: RuleSourceView,
    /// The conversation it holds in, where it holds in one only.
    #[schema(required)]
    pub session_id: Option<String>,
    pub origin: RuleOriginView,
    #[schema(required)]
    pub created_by: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub created_at: Option<Timestamp>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// How many calls ran because of it.
    pub uses: u64,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Timestamp>,
    /// Whether it counts now: not while it waits for trust, nor once it has expired.
    pub holds: bool,
    /// What its author should know about it.
    pub warnings: Vec<String>,
}

/// How a rule came to be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleOriginView {
    pub kind: OriginKind,
    /// The request to which somebody said "always".
    #[schema(required)]
    pub approval_id: Option<String>,
    /// The file it stands in.
    #[schema(required)]
    pub path: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    Page,
    Approval,
    File,
}

/// A file of rules.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleFileView {
    pub source: RuleSourceView,
    pub path: String,
    pub present: bool,
    /// Whether what it allows counts.
    pub trusted: bool,
    /// What to trust it by.
    #[schema(required)]
    pub digest: Option<String>,
    /// Why it could not be read: everything asks until it can be.
    #[schema(required)]
    pub broken: Option<String>,
    pub problems: Vec<RuleProblem>,
}

/// A rule that could not be followed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RuleProblem {
    pub rule: String,
    pub why: String,
    /// What it was meant to do.
    pub outcome: RuleEffect,
}

impl From<VerdictAction> for RuleEffect {
    fn from(outcome: VerdictAction) -> Self {
        match outcome {
            VerdictAction::Allow => Self::Allow,
            VerdictAction::Ask => Self::Ask,
            VerdictAction::Deny => Self::Deny,
        }
    }
}

impl From<RuleEffect> for VerdictAction {
    fn from(effect: RuleEffect) -> Self {
        match effect {
            RuleEffect::Allow => Self::Allow,
            RuleEffect::Ask => Self::Ask,
            RuleEffect::Deny => Self::Deny,
        }
    }
}

impl From<RuleSource> for RuleSourceView {
    fn from(source: RuleSource) -> Self {
        match source {
            RuleSource::User => Self::User,
            RuleSource::Workspace => Self::Workspace,
            RuleSource::Project => Self::Project,
            RuleSource::Session => Self::Session,
        }
    }
}

/// The rules that a project is to have.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRules {
    /// The version they were made from; where it is given it must be what stands.
    pub version: Option<String>,
    pub rules: Vec<NewRule>,
}

/// A rule that a project is to have.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRule {
    /// Which rule of the project it stands for; none for a new one.
    pub id: Option<String>,
    pub effect: RuleEffect,
    /// In Claude Code's syntax.
    pub rule: String,
    pub why: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
}

/// A rule to try out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TriedRule {
    pub effect: RuleEffect,
    /// In Claude Code's syntax.
    pub rule: String,
}

/// What a person has looked at and trusts.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustedContent {
    /// The digest of the workspace's file, as `files` gave it.
    pub digest: String,
}
