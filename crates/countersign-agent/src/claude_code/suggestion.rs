//! What Claude Code suggests as "always", as proposals of ours, and what a person picked, in its words.

use countersign_claude::PermissionUpdate;
use countersign_claude::permission::{PermissionRule, RuleBehavior, UpdateDestination};
use countersign_core::{GrantProposal, Rule, VerdictAction};

/// Returns the suggestions that are rules as we understand them.
pub(super) fn proposals(suggestions: &[PermissionUpdate]) -> Vec<GrantProposal> {
    let rules = suggestions.iter().filter_map(|suggestion| match suggestion {
        PermissionUpdate::AddRules { rules, behavior: RuleBehavior::Allow, .. } => {
            let rules: Vec<_> = rules.iter().map(written).collect();
            let understood =
                rules.iter().all(|rule| Rule::parse(VerdictAction::Allow, rule).is_ok());
            understood.then_some(rules)
        }
        _ => None,
    });
    let proposal = |rules: Vec<String>| {
        let label = format!("as Claude Code suggests: {}", rules.join(", "));
        GrantProposal { rules, label, matched_before: 0 }
    };
    rules.map(proposal).collect()
}

/// Returns what the CLI is told of rules that a person picked, for the session: for longer we keep
/// them ourselves.
pub(super) fn updates(rules: &[String]) -> Vec<PermissionUpdate> {
    if rules.is_empty() {
        return Vec::new();
    }
    vec![PermissionUpdate::AddRules {
        rules: rules.iter().map(|rule| read(rule)).collect(),
        behavior: RuleBehavior::Allow,
        destination: UpdateDestination::Session,
    }]
}

fn written(rule: &PermissionRule) -> String {
    match &rule.rule_content {
        Some(content) => format!("{}({content})", rule.tool_name),
        None => rule.tool_name.clone(),
    }
}

fn read(rule: &str) -> PermissionRule {
    let inner = rule.split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
    match inner {
        Some((tool, content)) => {
            PermissionRule { tool_name: tool.to_owned(), rule_content: Some(content.to_owned()) }
        }
        None => PermissionRule { tool_name: rule.to_owned(), rule_content: None },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn suggested_rules_become_proposals_and_the_rest_does_not() {
        let suggestions: Vec<PermissionUpdate> = serde_json::from_value(json!([
            {"type": "addRules", "behavior": "allow", "destination": "localSettings",
             "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}]},
            {"type": "addRules", "behavior": "deny", "destination": "session",
             "rules": [{"toolName": "Bash"}]},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ]))
        .unwrap();
        let [proposal] = &proposals(&suggestions)[..] else { panic!("{suggestions:?}") };
        assert_eq!(proposal.rules, ["Bash(npm test:*)"]);
    }

    #[test]
    fn what_was_picked_goes_back_in_the_words_of_the_cli() {
        assert_eq!(updates(&[]), []);
        let told = serde_json::to_value(updates(&["Bash(npm test:*)".into(), "Read".into()]));
        assert_eq!(
            told.unwrap(),
            json!([{"type": "addRules", "behavior": "allow", "destination": "session",
                "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}, {"toolName": "Read"}]}])
        );
    }
}
