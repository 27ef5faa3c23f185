//! Lints: rules that do what they say, and probably not what their author meant.

use super::{Rule, RulePattern};
use crate::VerdictAction;

/// Programs that run anything: a wildcard behind them allows everything.
const RUN_ANYTHING: &[&str] = &[
    "bash", "sh", "zsh", "python", "python3", "node", "ruby", "perl", "npx", "bunx", "uvx", "env",
    "sudo", "xargs", "ssh", "docker", "make", "eval", "exec", "find", "awk", "sed",
];

/// Returns what its author should know about a rule, if anything.
pub fn lint(rule: &Rule) -> Vec<String> {
    let RulePattern::Command(command) = &rule.pattern else { return Vec::new() };
    let mut found = Vec::new();
    let text = &rule.text;
    if command.is_loose() {
        let head = command.head();
        found.push(format!(
            "`{text}` also matches other programs that start with `{head}`: write `{head}:*`"
        ));
    }
    if rule.outcome == VerdictAction::Allow && !command.is_exact() {
        let words: Vec<_> = command.head().split_whitespace().collect();
        if let [program] = words.as_slice()
            && RUN_ANYTHING.contains(program)
        {
            found.push(format!(
                "`{program}` runs whatever it is given, so `{text}` covers only its plain uses; \
                 name what it may run"
            ));
        }
    }
    if rule.outcome == VerdictAction::Deny && command.head().is_empty() {
        found.push(format!(
            "`{text}` looks at the text of commands only, which is easily written otherwise"
        ));
    }
    found
}
