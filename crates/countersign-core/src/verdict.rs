//! Verdicts: what the gate says of a call, with every reason kept.

use serde::{Deserialize, Serialize};

use crate::rule::RuleCitation;
use crate::{VerdictAction, mask_text};

/// Why something was said of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictReason {
    /// What this reason speaks for.
    pub outcome: VerdictAction,
    /// In words for the person who decides.
    pub text: String,
    /// Which command of the call it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The rule that spoke, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleCitation>,
    /// What would change it, for the person who writes the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl VerdictReason {
    /// Returns a reason that no rule gave, about the call as a whole.
    pub fn new(outcome: VerdictAction, text: impl Into<String>) -> Self {
        Self { outcome, text: text.into(), part: None, rule: None, remedy: None }
    }

    /// Returns the same about one command of the call.
    #[must_use]
    pub fn for_part(self, part: Option<usize>) -> Self {
        Self { part, ..self }
    }

    /// Returns the same with what would change it.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Returns the same as said by a rule.
    #[must_use]
    pub fn with_rule(self, rule: RuleCitation) -> Self {
        Self { rule: Some(rule), ..self }
    }
}

/// The gate's word on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The strictest of what the reasons speak for.
    pub outcome: VerdictAction,
    /// Everything that was said, the strictest first.
    pub reasons: Vec<VerdictReason>,
}

impl Verdict {
    /// Combines reasons; the strictest wins. Without any there is nothing that allows: ask.
    pub fn from_reasons(mut reasons: Vec<VerdictReason>) -> Self {
        let outcome =
            reasons.iter().map(|reason| reason.outcome).max().unwrap_or(VerdictAction::Ask);
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.outcome));
        Self { outcome, reasons }
    }

    /// Returns the verdict as it is kept and shown: without secrets.
    #[must_use]
    pub fn mask_secrets(self) -> Self {
        let reasons = self.reasons.into_iter().map(|reason| VerdictReason {
            text: mask_text(&reason.text),
            remedy: reason.remedy.map(|text| mask_text(&text)),
            ..reason
        });
        Self { reasons: reasons.collect(), ..self }
    }

    /// Returns what was said of one command of the call: the strictest of it.
    pub fn action_for_part(&self, part: usize) -> Option<VerdictAction> {
        self.reasons_for_part(part).map(|reason| reason.outcome).max()
    }

    /// Returns the reasons that are about one command of the call.
    pub fn reasons_for_part(&self, part: usize) -> impl Iterator<Item = &VerdictReason> {
        self.reasons.iter().filter(move |reason| reason.part == Some(part))
    }

    /// Returns the rules that spoke, each once, the strictest first.
    pub fn rules(&self) -> Vec<&RuleCitation> {
        let mut once = Vec::new();
        for rule in self.reasons.iter().filter_map(|reason| reason.rule.as_ref()) {
            if !once.contains(&rule) {
                once.push(rule);
            }
        }
        once
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_reason_wins_and_none_means_ask() {
        let said = |outcomes: &[VerdictAction]| {
            let reasons = outcomes.iter().map(|outcome| VerdictReason::new(*outcome, ""));
            Verdict::from_reasons(reasons.collect()).outcome
        };
        assert_eq!(said(&[]), VerdictAction::Ask);
        assert_eq!(said(&[VerdictAction::Allow]), VerdictAction::Allow);
        assert_eq!(said(&[VerdictAction::Allow, VerdictAction::Ask]), VerdictAction::Ask);
        assert_eq!(said(&[VerdictAction::Deny, VerdictAction::Allow]), VerdictAction::Deny);
    }
}
