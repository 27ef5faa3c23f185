//! Any text is a rule or an error; no allowing rule is about every tool; a bad file loosens nothing.

use countersign_core::rule::{RuleFile, RuleFileFormat, RulePattern};
use countersign_core::{Rule, VerdictAction};

/// Tries one text.
pub fn try_one(text: &str) {
    for outcome in [VerdictAction::Allow, VerdictAction::Ask, VerdictAction::Deny] {
        if let Ok(rule) = Rule::parse(outcome, text) {
            check(&rule);
        }
    }
    for format in [RuleFileFormat::Toml, RuleFileFormat::Json] {
        if let Ok(file) = RuleFile::parse(text, format, &crate::anchors()) {
            file.rules.iter().for_each(check);
        }
    }
}

fn check(rule: &Rule) {
    let broad = matches!(&rule.pattern, RulePattern::Tool(name) if name.contains('*'));
    // Of an MCP server that is named, every tool may be allowed.
    let server = rule.text.starts_with("mcp__") && !rule.text.starts_with("mcp__*");
    assert!(rule.outcome != VerdictAction::Allow || !broad || server, "allows too much: {rule:?}");
}
