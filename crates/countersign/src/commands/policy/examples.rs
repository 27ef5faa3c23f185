//! `policy test`: whether rules do what their own examples say.

use countersign_core::VerdictAction;
use countersign_core::rule::{RuleLayer, RuleSource, lint};
use serde_json::json;

use super::evaluator;
use crate::cli::PolicyTestArgs;
use crate::hint::HintedError;
use crate::output;

/// What was found, each with whose rule it is about.
#[derive(Default)]
struct RuleTestReport {
    rules: usize,
    examples: usize,
    failures: Vec<(RuleSource, String)>,
    warnings: Vec<(RuleSource, String)>,
}

pub(super) fn run(args: &PolicyTestArgs) -> anyhow::Result<()> {
    let judge = evaluator(&args.rulings, None)?;
    let mut found = RuleTestReport::default();
    for layer in judge.terms().rules.layers() {
        found.look_at(layer);
    }
    if args.json {
        found.print_json();
    } else {
        found.print();
    }
    if found.failures.is_empty() {
        return Ok(());
    }
    let error = anyhow::anyhow!("{} cannot be followed as written", rules(found.failures.len()));
    let hint = "mend the rules above; until then what they restrict asks".to_owned();
    Err(HintedError { error, hint }.into())
}

impl RuleTestReport {
    fn look_at(&mut self, layer: &RuleLayer) {
        let of = |text: String| (layer.source, text);
        // What was not understood stands among the rules as one that asks; it is told of once.
        let refused = layer.problems.iter().filter(|it| it.outcome != VerdictAction::Allow).count();
        self.rules += layer.rules.len().saturating_sub(refused) + layer.problems.len();
        self.failures.extend(layer.broken.clone().map(of));
        let problems = layer.problems.iter();
        self.failures.extend(problems.map(|it| of(format!("`{}`: {}", it.rule, it.why))));
        for rule in &layer.rules {
            self.examples += rule.examples.len();
            self.warnings.extend(lint(rule).into_iter().map(of));
        }
    }

    fn print(&self) {
        for (source, why) in &self.failures {
            output::line(&format!("failed: {source}: {why}"));
        }
        for (source, why) in &self.warnings {
            output::line(&format!("warning: {source}: {why}"));
        }
        let Self { rules: count, examples, failures, warnings } = self;
        if *count == 0 && failures.is_empty() {
            output::line("there are no rules to test");
            return;
        }
        let held = if *examples == 1 {
            "1 example holds".to_owned()
        } else {
            format!("{examples} examples hold")
        };
        let (failed, warned) = (failures.len(), warnings.len());
        output::line(&format!("{}, {held}; {failed} failed, {warned} warned of", rules(*count)));
    }

    fn print_json(&self) {
        let list = |told: &[(RuleSource, String)]| -> Vec<_> {
            told.iter().map(|(source, why)| json!({ "source": source, "why": why })).collect()
        };
        let Self { rules, examples, failures, warnings } = self;
        let (failures, warnings) = (list(failures), list(warnings));
        output::line(
            &json!({
                "rules": rules,
                "examples_held": examples,
                "failures": failures,
                "warnings": warnings,
            })
            .to_string(),
        );
    }
}

fn rules(count: usize) -> String {
    if count == 1 { "1 rule".to_owned() } else { format!("{count} rules") }
}
