//! Verdicts: what the gate says of a call, with every reason kept.

use serde::{Deserialize, Serialize};

use crate::rule::Spoken;
use crate::{Outcome, masked_text};

/// Why something was said of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What this reason speaks for.
    pub outcome: Outcome,
    /// In words for the person who decides.
    pub text: String,
    /// Which command of the call it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
    /// The rule that spoke, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Spoken>,
    /// What would change it, for the person who writes the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Reason {
    /// Returns a reason that no rule gave, about the call as a whole.
    pub fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self { outcome, text: text.into(), part: None, rule: None, remedy: None }
    }

    /// Returns the same about one command of the call.
    #[must_use]
    pub fn about(self, part: Option<usize>) -> Self {
        Self { part, ..self }
    }

    /// Returns the same with what would change it.
    #[must_use]
    pub fn unless(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Returns the same as said by a rule.
    #[must_use]
    pub fn by(self, rule: Spoken) -> Self {
        Self { rule: Some(rule), ..self }
    }
}

/// The gate's word on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The strictest of what the reasons speak for.
    pub outcome: Outcome,
    /// Everything that was said, the strictest first.
    pub reasons: Vec<Reason>,
}

impl Verdict {
    /// Combines reasons; the strictest wins. Without any there is nothing that allows: ask.
    pub fn from_reasons(mut reasons: Vec<Reason>) -> Self {
        let outcome = reasons.iter().map(|reason| reason.outcome).max().unwrap_or(Outcome::Ask);
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.outcome));
        Self { outcome, reasons }
    }

    /// Returns the verdict as it is kept and shown: without secrets.
    #[must_use]
    pub fn masked(self) -> Self {
        let reasons = self.reasons.into_iter().map(|reason| Reason {
            text: masked_text(&reason.text),
            remedy: reason.remedy.map(|text| masked_text(&text)),
            ..reason
        });
        Self { reasons: reasons.collect(), ..self }
    }

    /// Returns what was said of one command of the call: the strictest of it.
    pub fn of_part(&self, part: usize) -> Option<Outcome> {
        self.about(part).map(|reason| reason.outcome).max()
    }

    /// Returns the reasons that are about one command of the call.
    pub fn about(&self, part: usize) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().filter(move |reason| reason.part == Some(part))
    }

    /// Returns the rules that spoke, each once, the strictest first.
    pub fn rules(&self) -> Vec<&Spoken> {
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
        let said = |outcomes: &[Outcome]| {
            let reasons = outcomes.iter().map(|outcome| Reason::new(*outcome, ""));
            Verdict::from_reasons(reasons.collect()).outcome
        };
        assert_eq!(said(&[]), Outcome::Ask);
        assert_eq!(said(&[Outcome::Allow]), Outcome::Allow);
        assert_eq!(said(&[Outcome::Allow, Outcome::Ask]), Outcome::Ask);
        assert_eq!(said(&[Outcome::Deny, Outcome::Allow]), Outcome::Deny);
    }
}
