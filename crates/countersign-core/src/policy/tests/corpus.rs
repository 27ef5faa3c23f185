//! The red-team rows that come with rules or a mode: what must be denied is, nothing slips through.

use serde_json::Value;

use super::{anchors, call, judged};
use crate::rule::{RuleFile, RuleLayer, RuleSet, RuleSource};
use crate::{PermissionMode, VerdictAction};

const CONTEXTUAL: &str = include_str!("../../../tests/fixtures/redteam/contextual.jsonl");

#[test]
fn rows_with_rules_get_their_verdict() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for row in CONTEXTUAL.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let given = &row["given"];
        let plain = given["files"].is_null() && given["env"].is_null();
        if row["tool"] != "Bash" || !plain || !given["learned_from"].is_null() {
            continue;
        }
        let lists =
            if given["rules"].is_null() { serde_json::json!({}) } else { given["rules"].clone() };
        let file = RuleFile::from_lists(&lists, &anchors()).unwrap();
        let rules =
            RuleSet::new(vec![RuleLayer::from_file(RuleSource::User, true, file)], anchors());
        let mode: PermissionMode =
            given["mode"].as_str().and_then(|m| m.parse().ok()).unwrap_or_default();
        let command = row["input"]["command"].as_str().unwrap();
        let verdict = judged(command, rules, mode);
        let good = match row["must"].as_str().unwrap() {
            "allow_ok" => verdict.outcome == VerdictAction::Allow,
            "deny" => verdict.outcome == VerdictAction::Deny,
            _ => verdict.outcome != VerdictAction::Allow,
        };
        seen += 1;
        if !good {
            wrong.push(format!("{} {command:?} → {verdict:?}", row["id"]));
        }
    }
    assert!(seen > 40, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// However `rm` is spelled or wrapped, a rule that denies it finds it.
#[test]
fn a_denial_is_not_evaded() {
    for command in [
        "rm x",
        "\\rm x",
        "r\"\"m x",
        "/bin/rm x",
        "X=rm; $X x",
        "eval 'rm x'",
        "trap 'rm x' EXIT",
        "echo 'rm x' | sh",
        "sh <<< 'rm x'",
        "coproc rm x",
        "time rm x",
        "! rm x",
        "{ rm x; }",
        "(rm x)",
        "while rm x; do :; done",
        "case x in x) rm x;; esac",
        "echo `rm x`",
        "cat <(rm x)",
        "exec rm x",
        "nohup rm x",
        "rm x &",
        "rm \\\n x",
        "$'\\x72m' x",
        "ls || rm x",
        "ls\nrm x",
        "env -i rm x",
        "timeout 5 nice rm x",
        "sudo -u me rm x",
        "sh -c 'sh -c \"rm x\"'",
        "[[ $(rm x) ]]",
        "for f in a; do rm $f; done",
        "a=$(rm x)",
        "python3 -c 'import os; os.system(\"rm x\")'",
        "cat > f <(rm x)",
        "echo ${x:-$(rm x)}",
        "xargs -I{} rm {}",
        "find . -name x -execdir rm {} \\;",
        "if ! rm x; then :; fi",
        "rm '",
    ] {
        let lists = serde_json::json!({ "deny": ["Bash(rm:*)"] });
        let file = RuleFile::from_lists(&lists, &anchors()).unwrap();
        let rules =
            RuleSet::new(vec![RuleLayer::from_file(RuleSource::User, true, file)], anchors());
        let verdict = judged(command, rules, PermissionMode::BypassPermissions);
        assert_eq!(verdict.outcome, VerdictAction::Deny, "{command}: {verdict:?}");
        let _ = call(command);
    }
}
