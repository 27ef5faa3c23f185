//! `bench policy`: the verdict on calls, beside what the least thing one could do would cost.
//!
//! A round reads a call (paths are looked up on this disk), rates it and holds it against the rules.
//! In the same run: the same without rules, and the answer looked up in a table of known calls.

use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use countersign_client::evaluation::{EvaluationPlace, EvaluationTerms, PolicyEvaluator};
use countersign_core::VerdictAction;
use countersign_gate::{Rulebook, RulebookFiles};
use countersign_tools::Environment;
use serde_json::{Value, json};

use crate::cli::BenchPolicyArgs;
use crate::measurement::{BenchMeasurement, micros, timed};

/// What agents run all day.
const TYPICAL: &str = "git diff --stat -- src && cargo test --workspace 2>&1 | tail -20";

/// How many rules are made up where none are given.
const RULES: usize = 200;

/// A call by its tool and input.
type BenchCall = (String, Value);

pub(crate) fn run(args: &BenchPolicyArgs) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir().context("could not make a scratch workspace")?;
    let root = scratch.path().join("workspace");
    std::fs::create_dir_all(root.join("src"))?;
    std::fs::write(root.join("src/main.rs"), "fn main() {}\n")?;
    let rules = match &args.rules {
        Some(file) => file.clone(),
        None => made_up(&scratch.path().join("rules.toml"))?,
    };
    let judge = |rules| {
        let place = EvaluationPlace {
            root: root.clone(),
            rules,
            rulebook: Rulebook::new(RulebookFiles::default()),
            own_folders: Vec::new(),
            home: None,
            environment: Environment::from(tool_environment()),
        };
        PolicyEvaluator::new(place, None)
    };
    let (with, without) = (judge(Some(rules))?, judge(None)?);
    let calls = match &args.calls {
        Some(file) => read(file)?,
        None => vec![("Bash".to_owned(), json!({ "command": TYPICAL }))],
    };
    let count = with.terms().rules.layers().iter().map(|layer| layer.rules.len()).sum::<usize>();
    let (mut bare, _, _) = timed(|| Ok(measure(&without, &calls, args.rounds)))?;
    let (rounds, seconds, cpu) = timed(|| Ok(measure(&with, &calls, args.rounds)))?;
    let mut looked_up = look_up(&with, &calls, args.rounds);
    let mut sorted = rounds.clone();
    sorted.sort_unstable();
    bare.sort_unstable();
    looked_up.sort_unstable();
    let [ours, bare, table] = [&sorted, &bare, &looked_up].map(|rounds| micros(rounds, 50));
    let notes = format!(
        "p50: {ours:.1} us with {count} rules, {bare:.1} us without any ({:.2}x), {table:.2} us to \
         look the answer up in a table ({:.0}x); reading the call included",
        ours / bare,
        ours / table,
    );
    let case = format!("{count} rules, {} calls", calls.len());
    let measured = BenchMeasurement { bench: "policy_decision", case, rounds, seconds, cpu, notes };
    measured.print_with(&[("p50_us_no_rules", bare), ("p50_us_table", table)]);
    Ok(())
}

fn measure(judge: &PolicyEvaluator, calls: &[BenchCall], rounds: usize) -> Vec<Duration> {
    let terms: &EvaluationTerms = judge.terms();
    let mut taken = Vec::with_capacity(rounds * calls.len());
    for _ in 0..rounds {
        for (tool, input) in calls {
            let input = input.clone();
            let started = Instant::now();
            black_box(judge.judge(tool, Ok(input), terms));
            taken.push(started.elapsed());
        }
    }
    taken
}

/// The floor: every answer is known already.
fn look_up(judge: &PolicyEvaluator, calls: &[BenchCall], rounds: usize) -> Vec<Duration> {
    let key = |(tool, input): &BenchCall| format!("{tool} {input}");
    let known: HashMap<String, VerdictAction> = calls
        .iter()
        .map(|call| {
            let judged = judge.judge(&call.0, Ok(call.1.clone()), judge.terms());
            (key(call), judged.verdict.outcome)
        })
        .collect();
    let keys: Vec<_> = calls.iter().map(key).collect();
    let mut taken = Vec::with_capacity(rounds * calls.len());
    for _ in 0..rounds {
        for key in &keys {
            let started = Instant::now();
            black_box(known.get(black_box(key.as_str())));
            taken.push(started.elapsed());
        }
    }
    taken
}

fn read(file: &Path) -> anyhow::Result<Vec<BenchCall>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read `{}`", file.display()))?;
    let call = |line: &str| {
        let mut row: Value = serde_json::from_str(line).context("a call is not JSON")?;
        let tool = row.get("tool").and_then(Value::as_str).context("a call has no `tool`")?;
        let tool = tool.to_owned();
        Ok((tool, row.get_mut("input").context("a call has no `input`")?.take()))
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(call).collect()
}

/// Returns where programs are looked for.
#[expect(clippy::disallowed_methods, reason = "programs are looked for where the user's are")]
fn tool_environment() -> Vec<(String, String)> {
    let path = std::env::var("PATH").ok();
    path.into_iter().map(|path| ("PATH".to_owned(), path)).collect()
}

/// Writes rules as people have them: commands, files and hosts, in all three lists.
fn made_up(file: &Path) -> anyhow::Result<PathBuf> {
    let mut lists: [Vec<String>; 3] = Default::default();
    for (at, list) in (0..RULES).zip([0, 1, 2].into_iter().cycle()) {
        let rule = match at % 4 {
            0 => format!("Bash(tool-{at} run:*)"),
            1 => format!("Bash(make target-{at} *)"),
            2 => format!("Edit(/src/part-{at}/**)"),
            _ => format!("WebFetch(domain:host-{at}.example.com)"),
        };
        lists.get_mut(list).context("one of three lists")?.push(rule);
    }
    let [allow, ask, deny] = lists.map(|rules| json!(rules).to_string());
    let text = format!("[permissions]\nallow = {allow}\nask = {ask}\ndeny = {deny}\n");
    std::fs::File::create(file)?.write_all(text.as_bytes())?;
    Ok(file.to_owned())
}
