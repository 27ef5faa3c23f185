//! On what terms a call is submitted, and the policy that follows from them.
//!
//! Every verdict is made under a policy from [`SubmitOptions::into_policy`]: the gate's own, those of
//! checks and simulations, and those of a hook that judges without a server.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    DecisionContext, GrantProposal, PermissionMode, Planner, Policy, RuleSet, Supervision, Verdict,
    VerdictAction, VerdictReason, mask_text,
};

/// Who watches the calls, and in which mode.
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
    /// Returns the options where a person can be asked, and calls that only read pass without.
    pub const fn attended() -> Self {
        Self { stance: Supervision::Attended { auto_approve_read: true }, mode: None }
    }

    /// Returns the same in a mode; as the rules say where it is not given.
    #[must_use]
    pub fn in_mode(self, mode: impl Into<Option<PermissionMode>>) -> Self {
        Self { mode: mode.into(), ..self }
    }

    /// Returns the policy of these options under some rules. Where a program decides, it has rules of
    /// its own, and those of people do not count.
    pub fn into_policy(self, rules: Arc<RuleSet>) -> Policy {
        if !self.heeds_rules() {
            let mode = self.mode.unwrap_or_default();
            return Policy { mode, ..Policy::without_rules(self.stance) };
        }
        let mode = self.mode.unwrap_or_else(|| rules.mode());
        Policy { stance: self.stance, mode, rules }
    }

    /// Whether people's rules count.
    pub(crate) fn heeds_rules(self) -> bool {
        match self.stance {
            Supervision::Attended { .. } => true,
            Supervision::ToolDecides { .. } | Supervision::Unattended => false,
        }
    }
}

/// What whoever submits a call has to say to it.
#[derive(Clone, Debug, Default)]
pub struct AskOptions {
    /// Why a person has to be asked, whatever the rules allow.
    pub must_ask: Option<String>,
    /// What "always" could mean, too, where it may be said.
    pub suggestions: Vec<GrantProposal>,
    /// How long a person has to decide; by risk where it is not given.
    pub timeout: Option<Duration>,
    /// The id of the token that the call was submitted with.
    pub submitted_by: Option<String>,
}

impl AskOptions {
    pub(crate) fn apply_to_verdict(&self, verdict: Verdict) -> Verdict {
        match &self.must_ask {
            Some(why) => {
                let reason = VerdictReason::new(VerdictAction::Ask, mask_text(why));
                Verdict::from_reasons(verdict.reasons.into_iter().chain([reason]).collect())
            }
            None => verdict,
        }
    }

    /// Adds what the asker suggests to what we propose. Where we propose nothing, "always" may not
    /// be said, whoever suggests it.
    pub(crate) fn add_suggestions(&self, mut basis: DecisionContext) -> DecisionContext {
        if !basis.proposals.is_empty() {
            for suggestion in &self.suggestions {
                if !basis.proposals.iter().any(|known| known.rules == suggestion.rules) {
                    basis.proposals.push(suggestion.clone());
                }
            }
        }
        basis
    }
}

/// Everything that a verdict on a call depends on beside the call and the rules.
#[derive(Clone)]
pub struct CallTerms {
    /// Who says what the call would do.
    pub planner: Arc<dyn Planner>,
    /// Who watches, and in which mode.
    pub options: SubmitOptions,
    /// What whoever submits it has to say to it.
    pub question: AskOptions,
}

impl CallTerms {
    /// Returns the terms of a call that its caller has nothing to say to.
    pub fn new(planner: Arc<dyn Planner>, options: SubmitOptions) -> Self {
        Self { planner, options, question: AskOptions::default() }
    }

    /// Returns the same with what the caller has to say.
    #[must_use]
    pub fn with_question(self, question: AskOptions) -> Self {
        Self { question, ..self }
    }
}
