//! Verdicts: what the gate says of a call, with every reason kept.

use serde::{Deserialize, Serialize};

/// What is to happen with a call. The order is the algebra: the stricter one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It may run.
    Allow,
    /// A person decides.
    Ask,
    /// It may not run, whoever asks.
    Deny,
}

/// Why something was said of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// What this reason speaks for.
    pub outcome: Outcome,
    /// In words for the person who decides.
    pub text: String,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_reason_wins_and_none_means_ask() {
        let said = |outcomes: &[Outcome]| {
            let reasons =
                outcomes.iter().map(|outcome| Reason { outcome: *outcome, text: String::new() });
            Verdict::from_reasons(reasons.collect()).outcome
        };
        assert_eq!(said(&[]), Outcome::Ask);
        assert_eq!(said(&[Outcome::Allow]), Outcome::Allow);
        assert_eq!(said(&[Outcome::Allow, Outcome::Ask]), Outcome::Ask);
        assert_eq!(said(&[Outcome::Deny, Outcome::Allow]), Outcome::Deny);
    }
}
