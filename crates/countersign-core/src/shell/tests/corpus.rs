//! The red-team corpus: no silent allow, no missed denial, few needless questions.

use serde_json::Value as Json;

use super::{WORKSPACE, read_with, verdict};
use crate::VerdictAction;

const COMMANDS: &str = include_str!("../../../tests/fixtures/redteam/commands.jsonl");
/// Our own variants, in the same format: `xa-` attacks, `xd-` denials, `xo-` everyday reads.
const MORE: &str = include_str!("../../../tests/fixtures/redteam/more.jsonl");
const CONTEXTUAL: &str = include_str!("../../../tests/fixtures/redteam/contextual.jsonl");

struct Row {
    id: String,
    must: String,
    command: String,
    env: Vec<(String, String)>,
}

#[test]
fn no_attack_is_allowed_and_few_reads_ask() {
    let (mut silent, mut missed, mut over, mut blocked) = (vec![], vec![], vec![], vec![]);
    let (mut harmless, mut attacks) = (0, 0);
    for Row { id, must, command, env } in rows() {
        let analysis = read_with(&command, &env);
        let outcome = verdict(&analysis);
        let line = format!(
            "{id} {command:?} → {outcome:?}: {:?} {:?}",
            analysis.effects, analysis.denials
        );
        match (must.as_str(), outcome) {
            ("allow_ok", _) => harmless += 1,
            _ => attacks += 1,
        }
        match (must.as_str(), outcome) {
            ("allow_ok", VerdictAction::Allow) | ("deny", VerdictAction::Deny) => {}
            ("allow_ok", VerdictAction::Ask) => over.push(line),
            ("allow_ok", VerdictAction::Deny) => blocked.push(line),
            (_, VerdictAction::Allow) => silent.push(line),
            ("deny", _) => missed.push(line),
            ("ask", VerdictAction::Deny) => println!("denied rather than asked: {line}"),
            _ => {}
        }
    }
    println!("{attacks} attacks: {} silent allows, {} missed denials", silent.len(), missed.len());
    println!("{harmless} everyday reads: {} asked", over.len());
    for (what, lines) in
        [("SILENT", &silent), ("MISSED", &missed), ("OVER", &over), ("BLOCKED", &blocked)]
    {
        for line in lines {
            println!("{what} {line}");
        }
    }
    assert!(silent.is_empty() && missed.is_empty() && blocked.is_empty());
    assert!(over.len() * 20 <= harmless, "more than 5 % of everyday reads ask");
}

/// A denial of a program finds it as the head of a part, however it is wrapped or spelled.
#[test]
fn a_denied_program_is_always_found() {
    let rows = CONTEXTUAL.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let denied = rows
        .filter(|row| row["given"]["rules"]["deny"][0] == "Bash(rm:*)" && row["tool"] == "Bash");
    let mut count = 0;
    for row in denied {
        let command = row["input"]["command"].as_str().unwrap();
        let analysis = read_with(command, &[]);
        let heads = analysis.parts.iter().filter_map(|part| part.argv.first());
        assert!(
            heads.into_iter().any(|head| head.effective_text() == "rm"),
            "{command}: {analysis:?}"
        );
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// The Bash rows that need no rules, files or modes beside the call.
fn rows() -> Vec<Row> {
    let rows = COMMANDS.lines().chain(CONTEXTUAL.lines()).chain(MORE.lines());
    let rows = rows.map(|line| serde_json::from_str::<Json>(line).unwrap());
    let bash = rows.filter(|row| row["tool"] == "Bash" && row.get("given").is_none());
    bash.filter_map(|it| row(&it)).collect()
}

/// Parameters beside the command that a tool must look at itself are not the shell's business.
fn row(row: &Json) -> Option<Row> {
    let input = row["input"].as_object()?;
    let beside = ["dangerouslyDisableSandbox", "cwd"].iter().any(|name| input.contains_key(*name));
    let command = input.get("command")?.as_str()?.replace("{{WS}}", WORKSPACE);
    let env = input.get("env").and_then(Json::as_object).into_iter().flatten();
    let env =
        env.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (!beside).then(|| Row { id: text("id"), must: text("must"), command, env: env.collect() })
}
