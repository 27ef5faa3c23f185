//! The rules of a project as clients see them.

use axum::Json;
use countersign_api::rule::{
    OriginKind, RuleFileView, RuleList, RuleOriginView, RuleProblem, RuleView,
};
use countersign_core::rule::{RuleFileProblem, RuleLayer, RuleSource, lint};
use countersign_core::{ProjectId, Rule, VerdictAction};
use countersign_gate::{RuleFileState, Rulebook, StoredRule, StoredRuleOrigin};
use jiff::Timestamp;

use super::run_blocking;
use crate::app::App;
use crate::error::ApiError;

/// Returns everything that holds in a project.
pub(super) async fn rules(app: &App, project: &ProjectId) -> Result<Json<RuleList>, ApiError> {
    let set = app.gate.rules(project, None).await?;
    let stored = app.gate.store().rules(project).await?;
    let files = run_blocking(app, project, Rulebook::files).await?;
    let now = app.gate.clock().now();
    let kept = stored.into_iter().map(|rule| stored_rule_view(rule, now));
    let in_files = set.layers().iter().flat_map(|layer| {
        let file = files.iter().find(|file| file.source == layer.source);
        let path = file.map(|file| file.path.display().to_string());
        let in_file = matches!(layer.source, RuleSource::User | RuleSource::Workspace);
        let rules = layer.rules.iter().filter(move |_| in_file);
        rules.map(move |rule| file_rule_view(rule, layer, path.clone(), now))
    });
    let rules = kept.chain(in_files).collect();
    Ok(Json(RuleList {
        success: true,
        version: set.version().to_string(),
        mode: set.mode(),
        rules,
        files: files.into_iter().map(rule_file_view).collect(),
        next_cursor: None,
    }))
}

fn stored_rule_view(stored: StoredRule, now: Timestamp) -> RuleView {
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
    RuleView {
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

fn file_rule_view(
    rule: &Rule,
    layer: &RuleLayer,
    path: Option<String>,
    now: Timestamp,
) -> RuleView {
    let waits = rule.outcome == VerdictAction::Allow && !layer.trusted;
    RuleView {
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

fn rule_file_view(file: RuleFileState) -> RuleFileView {
    let problems = file.problems.into_iter().map(|problem| {
        let RuleFileProblem { rule, why, outcome } = problem;
        RuleProblem { rule, why, outcome: outcome.into() }
    });
    RuleFileView {
        source: file.source.into(),
        path: file.path.display().to_string(),
        present: file.present,
        trusted: file.trusted,
        digest: file.digest.map(|digest| digest.to_string()),
        broken: file.broken,
        problems: problems.collect(),
    }
}
