//! Rules as somebody wants them kept, and why they were not.

use countersign_core::rule::BadRule;
use countersign_core::{ProjectId, Rule, RuleId, VerdictAction};
use jiff::{Timestamp, TimestampRound, Unit};

use crate::new_id::new_id;
use crate::store::{StoreError, StoredRule, StoredRuleOrigin};

/// How many rules a project may have, and how long one may be.
pub(crate) const MOST_RULES: usize = 1000;
const LONGEST_RULE: usize = 4096;

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
    pub(crate) fn apply_to(self, kept: StoredRule) -> StoredRule {
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

/// A rule that says nothing yet.
pub(crate) fn blank_rule(project: ProjectId, by: &str, now: Timestamp) -> StoredRule {
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

/// A moment as the table holds it: what is read back is what was written.
pub(crate) fn whole_milliseconds(at: Timestamp) -> Timestamp {
    at.round(TimestampRound::new().smallest(Unit::Millisecond)).unwrap_or(at)
}
