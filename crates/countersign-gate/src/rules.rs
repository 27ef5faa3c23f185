//! The rules that hold for a call: from files, from the project, from the conversation.
//!
//! [`Gate::rules`] puts them together, compiled once per state of files and rows. Whatever goes wrong
//! on the way never loosens anything: the layer that is missing makes everything ask.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_core::rule::{BadRule, PatternAnchors, RuleFile, RuleLayer, RuleSource};
use countersign_core::{
    CallPlan, DecisionContext, Digest, GrantProposal, PermissionMode, Policy, ProjectId, Risk,
    Rule, RuleId, RuleSet, SessionId, Supervision, ToolCall, Verdict, VerdictAction, VerdictReason,
    propose_grants, risk,
};
use jiff::{Timestamp, TimestampRound, Unit};
use serde_json::json;

use crate::gate::{Gate, new_id};
use crate::rulebook::Rulebook;
use crate::store::{StoreError, StoredRule, StoredRuleOrigin};

/// How many compiled sets are kept; beyond that all are made anew.
const MOST_SETS: usize = 128;

/// How many rules a project may have, and how long one may be.
const MOST_RULES: usize = 1000;
const LONGEST_RULE: usize = 4096;

/// On what terms a call is handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmitOptions {
    /// Who is there to be asked, and for what.
    pub stance: Supervision,
    /// What becomes of calls that would ask; as the rules say where it is not given.
    pub mode: Option<PermissionMode>,
}

impl From<Supervision> for SubmitOptions {
    fn from(stance: Supervision) -> Self {
        Self { stance, mode: None }
    }
}

impl SubmitOptions {
    /// Returns the policy of these terms under some rules.
    pub fn into_policy(self, rules: Arc<RuleSet>) -> Policy {
        let mode = self.mode.unwrap_or_else(|| rules.mode());
        Policy { stance: self.stance, mode, rules }
    }
}

/// Whether people's rules count: where a program decides, it has its own.
fn heeds_rules(stance: Supervision) -> bool {
    match stance {
        Supervision::Attended { .. } => true,
        Supervision::ToolDecides { .. } | Supervision::Unattended => false,
    }
}

/// A rule as somebody wants it kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleDraft {
    /// Which kept rule it stands for; none for a new one.
    pub id: Option<RuleId>,
    /// What is to happen.
    pub effect: VerdictAction,
    /// In Claude Code's syntax.
    pub rule: String,
    /// Why it is there.
    pub why: Option<String>,
    /// From this moment on it no longer holds.
    pub expires_at: Option<Timestamp>,
}

impl RuleDraft {
    /// Reads it, as it would hold.
    pub fn parse(&self) -> Result<Rule, RulesError> {
        let bad = |why: String| RulesError::Bad { rule: self.rule.clone(), why };
        if self.rule.len() > LONGEST_RULE {
            return Err(bad(format!("it is longer than {LONGEST_RULE} bytes")));
        }
        let rule = Rule::parse(self.effect, &self.rule);
        let rule = rule.map_err(|why: BadRule| bad(why.to_string()))?;
        Ok(Rule { why: self.why.clone(), expires: self.expires_at, ..rule })
    }

    /// Returns a kept rule as it says.
    fn apply_to(self, kept: StoredRule) -> StoredRule {
        let Self { effect, rule, why, expires_at, .. } = self;
        let expires_at = expires_at.map(whole_milliseconds);
        StoredRule { effect, rule: rule.trim().to_owned(), why, expires_at, ..kept }
    }
}

/// Why rules were not kept.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// One of them cannot be understood.
    #[error("`{rule}` is not a rule: {why}")]
    Bad {
        /// Which.
        rule: String,
        /// What is wrong, and how to mend it.
        why: String,
    },
    /// There are too many.
    #[error("a project has at most {MOST_RULES} rules of its own")]
    TooMany,
    /// Somebody changed them meanwhile.
    #[error("the rules have changed since they were read; look at them again")]
    Changed,
    /// There is no such rule.
    #[error("the project has no rule with the id `{0}`")]
    Unknown(RuleId),
    /// They could not be written down, so nothing has changed.
    #[error("the rules could not be recorded")]
    Store(#[from] StoreError),
}

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
    fn compile_cached(
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
    fn last_known(&self, project: &ProjectId) -> Vec<Rule> {
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

impl Gate {
    /// Returns the rulebook: what stands in files.
    pub fn rulebook(&self) -> &Arc<Rulebook> {
        &self.inner().rules.book
    }

    /// Returns the rules that hold in a project, and in one of its conversations.
    pub async fn rules(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
    ) -> Result<Arc<RuleSet>, StoreError> {
        let files = self.file_layers(project).await;
        let stored = self.inner().store.rules_in(project, session).await?;
        Ok(self.inner().rules.compile_cached(project, session, files, stored))
    }

    /// Returns the same; what cannot be read makes everything ask.
    pub(crate) async fn rules_or_ask(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Arc<RuleSet> {
        match self.rules(project, Some(session)).await {
            Ok(rules) => rules,
            Err(error) => {
                {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(error, "a project's rules could not be read: everything asks");
                }
                let rules = &self.inner().rules;
                let mut layers = self.file_layers(project).await.to_vec();
                let known = rules.last_known(project);
                layers.push(RuleLayer::for_unreadable_file(
                    RuleSource::Project,
                    error.to_string(),
                    &known,
                ));
                Arc::new(RuleSet::new(layers, rules.book.anchors(project)))
            }
        }
    }

    /// Returns the rules of a project as they would be with other rules of its own.
    pub(crate) async fn rules_with(&self, project: &ProjectId, own: Vec<Rule>) -> Arc<RuleSet> {
        let mut layers = self.file_layers(project).await.to_vec();
        if !own.is_empty() {
            layers.push(RuleLayer::from_rules(RuleSource::Project, own));
        }
        Arc::new(RuleSet::new(layers, self.inner().rules.book.anchors(project)))
    }

    /// Reads the files, off the runtime.
    async fn file_layers(&self, project: &ProjectId) -> Arc<[RuleLayer]> {
        let book = self.rulebook();
        if !book.has_files(project) {
            return Arc::default();
        }
        let (reading, of) = (book.clone(), project.clone());
        let layers = tokio::task::spawn_blocking(move || reading.shared_layers(&of)).await;
        layers.unwrap_or_else(|error| {
            tracing::error!(%error, "the rule files could not be read, so everything asks");
            let why = "reading the rule files broke".to_owned();
            Arc::from([RuleLayer::for_unreadable_file(RuleSource::User, why, &[])])
        })
    }

    /// Returns what applies to a call handed in on some terms.
    pub(crate) async fn policy(&self, call: &ToolCall, terms: SubmitOptions) -> Policy {
        if heeds_rules(terms.stance) {
            terms.into_policy(self.rules_or_ask(&call.project, &call.session).await)
        } else {
            let mode = terms.mode.unwrap_or_default();
            Policy { mode, ..Policy::without_rules(terms.stance) }
        }
    }

    /// Returns what a request stands on, with the rules it was judged by and what "always" could mean.
    pub(crate) async fn fill_decision_context(
        &self,
        before: DecisionContext,
        policy: &Policy,
        call: &ToolCall,
        plan: &CallPlan,
        verdict: &Verdict,
    ) -> DecisionContext {
        if !heeds_rules(policy.stance) {
            return before;
        }
        let proposals = offer_proposals(policy, call, plan, verdict, self.inner().clock.now());
        let counted = self.count_proposal_matches(&call.project, proposals.clone()).await;
        let proposals = counted.unwrap_or_else(|error| {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, "how often proposals would have matched could not be counted");
            proposals
        });
        DecisionContext { rules: Some(policy.rules.version().clone()), proposals, ..before }
    }

    /// Replaces a project's own rules.
    ///
    /// `version` is that of the rules they were made from; where it is given it must be what stands.
    pub async fn replace_rules(
        &self,
        project: &ProjectId,
        version: Option<Digest>,
        drafts: Vec<RuleDraft>,
        by: &str,
    ) -> Result<(), RulesError> {
        if drafts.len() > MOST_RULES {
            return Err(RulesError::TooMany);
        }
        let files = self.file_layers(project).await;
        let old = self.inner().store.rules_in(project, None).await?;
        let anchors = self.inner().rules.book.anchors(project);
        let same = move |found: &[StoredRule]| match &version {
            Some(version) => compile_rules(&files, found, anchors.clone()).version() == version,
            None => true,
        };
        if !same(&old) {
            return Err(RulesError::Changed);
        }
        let now = whole_milliseconds(self.inner().clock.now());
        let mut once = HashSet::new();
        let mut rules = Vec::with_capacity(drafts.len());
        for draft in drafts {
            draft.parse()?;
            let known = draft.id.map(|id| {
                let found = old.iter().find(|rule| rule.id == id && once.insert(id));
                found.cloned().ok_or(RulesError::Unknown(id))
            });
            let kept = match known.transpose()? {
                Some(known) => known,
                None => blank_rule(project.clone(), by, now),
            };
            rules.push(draft.apply_to(kept));
        }
        let kept: Vec<_> = old.iter().map(|rule| rule.id).filter(|id| once.contains(id)).collect();
        // Looked at again where nobody else can write in between.
        let stands = move |found: &[StoredRule]| {
            kept.iter().all(|id| found.iter().any(|rule| rule.id == *id)) && same(found)
        };
        if self.inner().store.replace_rules(project, rules, by, now, stands).await? {
            Ok(())
        } else {
            Err(RulesError::Changed)
        }
    }

    /// Keeps new rules, in one conversation or, without it, in all of the project.
    pub async fn grant(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
        origin: StoredRuleOrigin,
        drafts: Vec<RuleDraft>,
        by: &str,
    ) -> Result<Vec<StoredRule>, RulesError> {
        let rules = self.build_grants(project, session, origin, drafts, by)?;
        self.inner().store.add_rules(rules.clone(), self.inner().clock.now()).await?;
        Ok(rules)
    }

    /// Returns new rules, to be kept in the same transaction as what led to them.
    pub(crate) fn build_grants(
        &self,
        project: &ProjectId,
        session: Option<&SessionId>,
        origin: StoredRuleOrigin,
        drafts: Vec<RuleDraft>,
        by: &str,
    ) -> Result<Vec<StoredRule>, RulesError> {
        let now = whole_milliseconds(self.inner().clock.now());
        let grant = |draft: RuleDraft| {
            draft.parse()?;
            let session = session.cloned();
            Ok(StoredRule {
                session,
                origin,
                ..draft.apply_to(blank_rule(project.clone(), by, now))
            })
        };
        drafts.into_iter().map(grant).collect()
    }

    /// Revokes a rule of a project or of one of its conversations.
    pub async fn revoke_rule(
        &self,
        project: &ProjectId,
        id: RuleId,
        by: &str,
    ) -> Result<(), RulesError> {
        let now = self.inner().clock.now();
        if self.inner().store.revoke_rule(project, id, by, now).await? {
            Ok(())
        } else {
            Err(RulesError::Unknown(id))
        }
    }
}

/// Returns what "always" could mean for a call that asks: only what would make a difference.
///
/// Where a rule asks, or one cannot be read, or the mode heeds no rules, no further rule helps.
pub(crate) fn offer_proposals(
    policy: &Policy,
    call: &ToolCall,
    plan: &CallPlan,
    verdict: &Verdict,
    now: Timestamp,
) -> Vec<GrantProposal> {
    let risk = risk::assess(&plan.effects);
    let Policy { stance, mode, rules } = policy;
    let reads_ask =
        *stance == Supervision::Attended { auto_approve_read: false } && risk == Risk::Low;
    let by_rule =
        |reason: &VerdictReason| reason.outcome == VerdictAction::Ask && reason.rule.is_some();
    let firm = rules.unreadable_layers().next().is_some() || verdict.reasons.iter().any(by_rule);
    if reads_ask || firm || *mode == PermissionMode::Plan {
        return Vec::new();
    }
    propose_grants(call, plan, risk, rules.anchors(), now)
}

/// A rule that says nothing yet.
fn blank_rule(project: ProjectId, by: &str, now: Timestamp) -> StoredRule {
    StoredRule {
        id: new_id(),
        project,
        session: None,
        effect: VerdictAction::Ask,
        rule: String::new(),
        why: None,
        origin: StoredRuleOrigin::Page,
        created_by: by.to_owned(),
        created_at: now,
        expires_at: None,
        uses: 0,
        last_used_at: None,
    }
}

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

/// A moment as the table holds it: what is read back is what was written.
fn whole_milliseconds(at: Timestamp) -> Timestamp {
    at.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(at)
}
