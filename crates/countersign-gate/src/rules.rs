//! The rules that hold for a call: from files, from the project, from the conversation.
//!
//! [`Gate::rules`] puts them together, compiled once per state of files and rows. Whatever goes wrong
//! on the way never loosens anything: the layer that is missing makes everything ask.

use std::collections::HashSet;
use std::sync::Arc;

use countersign_core::rule::{RuleLayer, RuleSource};
use countersign_core::{Digest, ProjectId, Rule, RuleId, RuleSet, SessionId};

use crate::gate::Gate;
use crate::rule_cache::compile_rules;
use crate::rule_draft::{MOST_RULES, RuleDraft, RulesError, blank_rule, whole_milliseconds};
use crate::rulebook::Rulebook;
use crate::store::{StoreError, StoredRule, StoredRuleOrigin};

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
