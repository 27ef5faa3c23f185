//! Rules as they were compiled last: from files, from the project, from the conversation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::rule::{PatternAnchors, RuleFile, RuleLayer, RuleSource};
use countersign_core::{ProjectId, Rule, RuleSet, SessionId, VerdictAction};
use serde_json::json;

use crate::rulebook::Rulebook;
use crate::store::StoredRule;

/// How many compiled sets are kept; beyond that all are made anew.
const MOST_SETS: usize = 128;

/// The gate's side of rules: the files, and what was compiled.
pub(crate) struct RuleCache {
    pub(crate) book: Arc<Rulebook>,
    sets: Mutex<HashMap<(ProjectId, Option<SessionId>), CompiledRuleSet>>,
}

/// A set, and what it was made of.
struct CompiledRuleSet {
    files: Arc<[RuleLayer]>,
    stored: Vec<StoredRule>,
    set: Arc<RuleSet>,
}

impl RuleCache {
    pub(crate) fn new(book: Arc<Rulebook>) -> Self {
        Self { book, sets: Mutex::default() }
    }

    /// Returns the set made of these, compiled only if it is not the one that was made last.
    pub(crate) fn compile_cached(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
        files: Arc<[RuleLayer]>,
        mut stored: Vec<StoredRule>,
    ) -> Arc<RuleSet> {
        // How often a rule was used makes no difference to what it says.
        for rule in &mut stored {
            (rule.uses, rule.last_used_at) = (0, None);
        }
        let key = (project.clone(), session.cloned());
        let kept = |it: &CompiledRuleSet| Arc::ptr_eq(&it.files, &files) && it.stored == stored;
        if let Some(found) = self.lock().get(&key).filter(|it| kept(it)) {
            return found.set.clone();
        }
        let set = Arc::new(compile_rules(&files, &stored, self.book.anchors(project)));
        let mut sets = self.lock();
        if sets.len() >= MOST_SETS {
            sets.clear();
        }
        sets.insert(key, CompiledRuleSet { files, stored, set: set.clone() });
        set
    }

    /// Returns what the project's own rules were when they could last be read.
    pub(crate) fn last_known(&self, project: &ProjectId) -> Vec<Rule> {
        let sets = self.lock();
        let of_project = sets.iter().filter(|((of, _), _)| of == project);
        let layers = of_project.flat_map(|(_, compiled)| compiled.set.layers());
        let own = layers
            .filter(|layer| matches!(layer.source, RuleSource::Project | RuleSource::Session));
        own.flat_map(|layer| layer.rules.iter().cloned()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(ProjectId, Option<SessionId>), CompiledRuleSet>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the rules of files and of rows as one set.
pub(crate) fn compile_rules(
    files: &[RuleLayer],
    stored: &[StoredRule],
    anchors: PatternAnchors,
) -> RuleSet {
    let mut layers = files.to_vec();
    for source in [RuleSource::Project, RuleSource::Session] {
        let of_source = stored.iter().filter(|rule| rule.source() == source);
        let rules: Vec<_> =
            of_source.filter_map(|rule| parse_stored_rule(rule, &anchors)).collect();
        if !rules.is_empty() {
            layers.push(RuleLayer::from_rules(source, rules));
        }
    }
    RuleSet::new(layers, anchors)
}

/// Reads a kept rule. One that is no longer understood makes its tool ask, unless it allowed.
fn parse_stored_rule(stored: &StoredRule, anchors: &PatternAnchors) -> Option<Rule> {
    let rule = if let Ok(rule) = Rule::parse(stored.effect, &stored.rule) {
        Rule { why: stored.why.clone(), ..rule }
    } else {
        let lists = match stored.effect {
            VerdictAction::Allow => json!({"allow": [stored.rule]}),
            VerdictAction::Ask => json!({"ask": [stored.rule]}),
            VerdictAction::Deny => json!({"deny": [stored.rule]}),
        };
        RuleFile::from_lists(&lists, anchors).ok()?.rules.pop()?
    };
    Some(Rule { id: Some(stored.id.to_string()), expires: stored.expires_at, ..rule })
}
