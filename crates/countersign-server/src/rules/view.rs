//! The rules of a project as clients see them.

use axum::Json;
use countersign_core::rule::{RuleFileProblem, RuleLayer, RuleSource, lint};
use countersign_core::{PermissionMode, ProjectId, Rule, VerdictAction};
use countersign_gate::{RuleFileState, Rulebook, StoredRule, StoredRuleOrigin};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::run_blocking;
use crate::app::App;
use crate::error::ApiError;

/// Everything that holds in a project.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleList {
    success: bool,
    /// What tells this state of the rules from every other.
    version: String,
    /// What becomes of calls that would ask, in runs that name no mode.
    #[schema(value_type = String)]
    mode: PermissionMode,
    rules: Vec<RuleView>,
    files: Vec<RuleFileView>,
    /// There is one page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RuleEffect {
    Allow,
    Ask,
    Deny,
}

/// Who a rule comes from.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RuleSourceView {
    User,
    Workspace,
    Project,
    Session,
}

/// A rule.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleView {
    /// What it is revoked by; none for rules that stand in a file.
    #[schema(required)]
    id: Option<String>,
    effect: RuleEffect,
    rule: String,
    #[schema(required)]
    why: Option<String>,
    source: RuleSourceView,
    /// The conversation it holds in, where it holds in one only.
    #[schema(required)]
    session_id: Option<String>,
    origin: RuleOriginView,
    #[schema(required)]
    created_by: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    created_at: Option<Timestamp>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// How many calls ran because of it.
    uses: u64,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    /// Whether it counts now: not while it waits for trust, nor once it has expired.
    holds: bool,
    /// What its author should know about it.
    warnings: Vec<String>,
}

/// How a rule came to be.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleOriginView {
    kind: OriginKind,
    /// The request to which somebody said "always".
    #[schema(required)]
    approval_id: Option<String>,
    /// The file it stands in.
    #[schema(required)]
    path: Option<String>,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OriginKind {
    Page,
    Approval,
    File,
}

/// A file of rules.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleFileView {
    source: RuleSourceView,
    path: String,
    present: bool,
    /// Whether what it allows counts.
    trusted: bool,
    /// What to trust it by.
    #[schema(required)]
    digest: Option<String>,
    /// Why it could not be read: everything asks until it can be.
    #[schema(required)]
    broken: Option<String>,
    problems: Vec<RuleProblem>,
}

/// A rule that could not be followed.
#[derive(Serialize, ToSchema)]
pub(crate) struct RuleProblem {
    rule: String,
    why: String,
    /// What it was meant to do.
    outcome: RuleEffect,
}

/// Returns everything that holds in a project.
pub(super) async fn rules(app: &App, project: &ProjectId) -> Result<Json<RuleList>, ApiError> {
    let set = app.gate.rules(project, None).await?;
    let stored = app.gate.store().rules(project).await?;
    let files = run_blocking(app, project, Rulebook::files).await?;
    let now = app.gate.clock().now();
    let kept = stored.into_iter().map(|rule| RuleView::from_stored(rule, now));
    let in_files = set.layers().iter().flat_map(|layer| {
        let file = files.iter().find(|file| file.source == layer.source);
        let path = file.map(|file| file.path.display().to_string());
        let in_file = matches!(layer.source, RuleSource::User | RuleSource::Workspace);
        let rules = layer.rules.iter().filter(move |_| in_file);
        rules.map(move |rule| RuleView::from_file_rule(rule, layer, path.clone(), now))
    });
    let rules = kept.chain(in_files).collect();
    Ok(Json(RuleList {
        success: true,
        version: set.version().to_string(),
        mode: set.mode(),
        rules,
        files: files.into_iter().map(RuleFileView::from).collect(),
        next_cursor: None,
    }))
}

impl RuleView {
    fn from_stored(stored: StoredRule, now: Timestamp) -> Self {
        let source = stored.source().into();
        let read = Rule::parse(stored.effect, &stored.rule);
        let (understood, warnings) = match &read {
            Ok(rule) => (true, lint(rule)),
            Err(why) => (false, vec![format!("this rule is no longer understood: {why}")]),
        };
        let in_time = stored.expires_at.is_none_or(|at| now < at);
        let (kind, approval_id) = match stored.origin {
            StoredRuleOrigin::Page => (OriginKind::Page, None),
            StoredRuleOrigin::Approval(id) => (OriginKind::Approval, Some(id.to_string())),
        };
        Self {
            id: Some(stored.id.to_string()),
            effect: stored.effect.into(),
            rule: stored.rule,
            why: stored.why,
            source,
            session_id: stored.session.map(|session| session.to_string()),
            origin: RuleOriginView { kind, approval_id, path: None },
            created_by: Some(stored.created_by),
            created_at: Some(stored.created_at),
            expires_at: stored.expires_at,
            uses: stored.uses,
            last_used_at: stored.last_used_at,
            holds: understood && in_time,
            warnings,
        }
    }

    fn from_file_rule(
        rule: &Rule,
        layer: &RuleLayer,
        path: Option<String>,
        now: Timestamp,
    ) -> Self {
        let waits = rule.outcome == VerdictAction::Allow && !layer.trusted;
        Self {
            id: None,
            effect: rule.outcome.into(),
            rule: rule.text.clone(),
            why: rule.why.clone(),
            source: layer.source.into(),
            session_id: None,
            origin: RuleOriginView { kind: OriginKind::File, approval_id: None, path },
            created_by: None,
            created_at: None,
            expires_at: rule.expires,
            uses: 0,
            last_used_at: None,
            holds: !waits && rule.holds_at(now),
            warnings: lint(rule),
        }
    }
}

impl From<RuleFileState> for RuleFileView {
    fn from(file: RuleFileState) -> Self {
        let problems = file.problems.into_iter().map(|problem| {
            let RuleFileProblem { rule, why, outcome } = problem;
            RuleProblem { rule, why, outcome: outcome.into() }
        });
        Self {
            source: file.source.into(),
            path: file.path.display().to_string(),
            present: file.present,
            trusted: file.trusted,
            digest: file.digest.map(|digest| digest.to_string()),
            broken: file.broken,
            problems: problems.collect(),
        }
    }
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
