//! What must hold of any rules and any command.

use proptest::prelude::*;

use super::{anchors, judged};
use crate::rule::{Rule, RuleLayer, RuleSet, RuleSource};
use crate::{PermissionMode, VerdictAction};

const COMMANDS: &[&str] = &[
    "ls",
    "npm test",
    "npm test && rm x",
    "git push",
    "touch a > b",
    "cat .env",
    "echo hi > a",
    "curl https://docs.rs",
    "cat /etc/hosts",
    "f() { npm test; }; f",
    "npm 'test",
    "rm -rf build",
];

const RULES: &[&str] = &[
    "Bash",
    "Bash(npm test:*)",
    "Bash(npm *)",
    "Bash(git push)",
    "Bash(touch:*)",
    "Bash(rm *)",
    "Read(.env)",
    "Edit(/**)",
    "Edit(b)",
    "Read(//etc/**)",
    "WebFetch(domain:docs.rs)",
    "WebFetch(domain:*.rs)",
    "Bash(* x)",
    "Bash(curl:*)",
    "Read",
    "Edit",
    "Bash(cat:*)",
];

fn rule() -> impl Strategy<Value = Rule> {
    let outcome =
        prop::sample::select(&[VerdictAction::Allow, VerdictAction::Ask, VerdictAction::Deny][..]);
    (outcome, prop::sample::select(RULES))
        .prop_filter_map("too wide to allow", |(outcome, text)| Rule::parse(outcome, text).ok())
}

fn set(rules: Vec<Rule>) -> RuleSet {
    RuleSet::new(vec![RuleLayer::from_rules(RuleSource::User, rules)], anchors())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_denial_or_a_question_more_never_permits_more(
        command in prop::sample::select(COMMANDS),
        rules in prop::collection::vec(rule(), 0..6),
        more in rule(),
        mode in prop::sample::select(&PermissionMode::ALL[..]),
    ) {
        let before = judged(command, set(rules.clone()), mode).outcome;
        let restricts = more.outcome != VerdictAction::Allow;
        let mut with = rules;
        with.push(more);
        let after = judged(command, set(with), mode).outcome;
        let holds = if restricts { after >= before } else { after <= before };
        prop_assert!(holds, "{} {:?} {:?}", command, before, after);
    }

    #[test]
    fn the_order_of_rules_changes_nothing(
        command in prop::sample::select(COMMANDS),
        rules in prop::collection::vec(rule(), 0..6).prop_flat_map(|rules| (Just(rules.clone()), Just(rules).prop_shuffle())),
        mode in prop::sample::select(&PermissionMode::ALL[..]),
    ) {
        let (one, other) = rules;
        prop_assert_eq!(
            judged(command, set(one), mode).outcome,
            judged(command, set(other), mode).outcome
        );
    }

    #[test]
    fn any_text_is_a_rule_or_a_clear_error(text in any::<String>()) {
        for outcome in [VerdictAction::Allow, VerdictAction::Ask, VerdictAction::Deny] {
            if let Err(error) = Rule::parse(outcome, &text) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

#[test]
fn what_does_not_parse_is_never_allowed_by_any_rule() {
    let rules: Vec<_> =
        RULES.iter().filter_map(|text| Rule::parse(VerdictAction::Allow, text).ok()).collect();
    for command in ["npm test '", "npm test &&& npm test", "npm test (", "if npm test"] {
        let verdict = judged(command, set(rules.clone()), PermissionMode::Default);
        assert_ne!(verdict.outcome, VerdictAction::Allow, "{command}");
    }
}
