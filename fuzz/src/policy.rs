//! Random rules and a command: what restricts never loosens, and a hard denial holds in every mode.
//!
//! Lines up to an empty one are rules (`+` allows, `?` asks, `-` denies); the rest is the command.

use std::sync::Arc;

use countersign_core::rule::{RuleLayer, RuleSet, RuleSource};
use countersign_core::{
    Effect, PermissionMode, Policy, Rule, Supervision, VerdictAction, propose_grants, risk,
};
use jiff::Timestamp;

/// Tries one text.
pub fn try_one(text: &str) {
    let (rules, command) = text.split_once("\n\n").unwrap_or(("", text));
    let rules: Vec<_> = rules.lines().filter_map(rule).collect();
    let (call, plan) = crate::planned(command);
    let risk = risk::assess(&plan.effects);
    let now = Timestamp::UNIX_EPOCH;
    let outcome = |rules: Vec<Rule>, mode| {
        let layers = vec![RuleLayer::from_rules(RuleSource::User, rules)];
        let rules = Arc::new(RuleSet::new(layers, crate::anchors()));
        let stance = Supervision::Attended { auto_approve_read: true };
        Policy { stance, mode, rules }.verdict(&call, &plan, risk, now).outcome
    };
    let allows: Vec<_> =
        rules.iter().filter(|it| it.outcome == VerdictAction::Allow).cloned().collect();
    let denial = plan.effects.iter().any(|it| matches!(it, Effect::Forbidden { .. }));
    for mode in PermissionMode::ALL {
        let all = outcome(rules.clone(), mode);
        assert!(all >= outcome(allows.clone(), mode), "a rule that restricts has loosened");
        assert!(!denial || all == VerdictAction::Deny, "a hard denial gave way in {mode}");
    }
    assert!(
        outcome(rules.clone(), PermissionMode::DontAsk) != VerdictAction::Ask,
        "nobody is there to ask"
    );
    propose_grants(&call, &plan, risk, &crate::anchors(), now);
}

fn rule(line: &str) -> Option<Rule> {
    let (sign, text) = line.split_at_checked(1)?;
    let outcome = match sign {
        "+" => VerdictAction::Allow,
        "?" => VerdictAction::Ask,
        "-" => VerdictAction::Deny,
        _ => return None,
    };
    Rule::parse(outcome, text).ok()
}
