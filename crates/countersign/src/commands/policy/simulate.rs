//! `policy simulate`: what other rules would have made of the calls that are on record.

use std::sync::Arc;

use anyhow::{Context, bail};
use countersign_client::evaluation::load_rule_file;
use countersign_core::VerdictAction;
use countersign_gate::{
    Gate, PastDecision, PolicySimulation, Project, SimulatedChange, SystemClock, VerdictTally,
};
use serde_json::{Value, json};

use super::RULES_HINT;
use crate::cli::PolicySimulateArgs;
use crate::hint::HintExt;
use crate::runtime::runtime;
use crate::{data_paths, output};

pub(super) fn run(args: &PolicySimulateArgs) -> anyhow::Result<()> {
    let simulation = runtime()?.block_on(simulate(args))?;
    if args.json {
        output::line(&as_json(&simulation).to_string());
    } else {
        print(&simulation);
    }
    Ok(())
}

async fn simulate(args: &PolicySimulateArgs) -> anyhow::Result<PolicySimulation> {
    let root = args.root.canonicalize().hint("give --root a folder that exists")?;
    let project = Project::from_root(root.to_str().context("the workspace's path is not UTF-8")?);
    let database = data_paths::existing_database(&args.records)?;
    let book = data_paths::rulebook(args.records.data.as_deref());
    book.add_project(project.id.clone(), root);
    let layer = load_rule_file(&args.rules, &book.anchors(&project.id)).hint(RULES_HINT)?;
    if let Some(why) = layer.broken {
        bail!("the rules cannot be read: {why}");
    }
    for problem in &layer.problems {
        output::note(&format!("`{}` is not followed: {}", problem.rule, problem.why));
    }
    let opened = Gate::open_to_read(database.clone(), Arc::new(SystemClock), Arc::new(book)).await;
    let gate = data_paths::explain_open_failure(opened, &database)?;
    Ok(gate.simulate(&project.id, layer.rules, args.limit).await?)
}

fn print(simulation: &PolicySimulation) {
    let PolicySimulation { replayed, before, after, changed } = simulation;
    output::line(&format!("{replayed} recorded calls"));
    let row = |name: &str, tally: &VerdictTally| {
        format!(
            "  {name:<6} {:>5} allowed {:>5} asked {:>5} denied",
            tally.allow, tally.ask, tally.deny
        )
    };
    output::line(&row("before", before));
    output::line(&row("after", after));
    let (against, rest): (Vec<_>, Vec<_>) = changed.iter().partition(|it| it.contradicts);
    if !against.is_empty() {
        output::line("against what people had decided:");
        for change in against {
            output::line(&line(change));
        }
    }
    if !rest.is_empty() {
        output::line("otherwise than before:");
        for change in rest {
            output::line(&line(change));
        }
    }
}

fn line(change: &SimulatedChange) -> String {
    let SimulatedChange { before, after, summary, decided, rules, .. } = change;
    let decided = decided.map(|it| format!(", a person {}", word(it))).unwrap_or_default();
    let (before, after) = (outcome(*before), outcome(*after));
    format!("  {before} → {after}  {summary} ({}{decided})", rules.join(", "))
}

fn outcome(outcome: VerdictAction) -> &'static str {
    match outcome {
        VerdictAction::Allow => "allow",
        VerdictAction::Ask => "ask",
        VerdictAction::Deny => "deny",
    }
}

fn word(decided: PastDecision) -> &'static str {
    match decided {
        PastDecision::Approved => "approved it",
        PastDecision::Rejected => "rejected it",
        PastDecision::Timeout => "did not answer",
        PastDecision::Cancelled => "took it back",
    }
}

fn as_json(simulation: &PolicySimulation) -> Value {
    let tally = |it: &VerdictTally| json!({ "allow": it.allow, "ask": it.ask, "deny": it.deny });
    let changed = simulation.changed.iter().map(|change| {
        let decided = change.decided.map(|it| match it {
            PastDecision::Approved => "approved",
            PastDecision::Rejected => "rejected",
            PastDecision::Timeout => "timeout",
            PastDecision::Cancelled => "cancelled",
        });
        json!({
            "tool_id": change.execution,
            "tool_name": change.tool_name,
            "summary": change.summary,
            "created_at": change.created_at,
            "before": change.before,
            "after": change.after,
            "decided": decided,
            "contradicts": change.contradicts,
            "rules": change.rules,
        })
    });
    json!({
        "replayed": simulation.replayed,
        "before": tally(&simulation.before),
        "after": tally(&simulation.after),
        "changed": changed.collect::<Vec<_>>(),
    })
}
