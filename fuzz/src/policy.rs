//! Random rules and a command: what restricts never loosens, and a floor holds in every mode.
//!
//! Lines up to an empty one are rules (`+` allows, `?` asks, `-` denies); the rest is the command.

use std::sync::Arc;

use countersign_core::rule::{Layer, RuleSet, Source};
use countersign_core::{Effect, Mode, Outcome, Policy, Rule, Stance, proposals, risk};
use jiff::Timestamp;

/// Tries one text.
pub fn try_one(text: &str) {
    let (rules, command) = text.split_once("\n\n").unwrap_or(("", text));
    let rules: Vec<_> = rules.lines().filter_map(rule).collect();
    let (call, plan) = crate::planned(command);
    let risk = risk::assess(&plan.effects);
    let now = Timestamp::UNIX_EPOCH;
    let outcome = |rules: Vec<Rule>, mode| {
        let layers = vec![Layer::of_rules(Source::User, rules)];
        let rules = Arc::new(RuleSet::new(layers, crate::anchors()));
        let stance = Stance::Attended { auto_approve_read: true };
        Policy { stance, mode, rules }.verdict(&call, &plan, risk, now).outcome
    };
    let allows: Vec<_> = rules.iter().filter(|it| it.outcome == Outcome::Allow).cloned().collect();
    let floor = plan.effects.iter().any(|it| matches!(it, Effect::Forbidden { .. }));
    for mode in Mode::ALL {
        let all = outcome(rules.clone(), mode);
        assert!(all >= outcome(allows.clone(), mode), "a rule that restricts has loosened");
        assert!(!floor || all == Outcome::Deny, "a floor gave way in {mode}");
    }
    assert!(outcome(rules.clone(), Mode::DontAsk) != Outcome::Ask, "nobody is there to ask");
    proposals(&call, &plan, risk, &crate::anchors(), now);
}

fn rule(line: &str) -> Option<Rule> {
    let (sign, text) = line.split_at_checked(1)?;
    let outcome = match sign {
        "+" => Outcome::Allow,
        "?" => Outcome::Ask,
        "-" => Outcome::Deny,
        _ => return None,
    };
    Rule::parse(outcome, text).ok()
}
