//! Explanations: a verdict told like a good compiler error.
//!
//! Which part of a command it is about, what that would do, which rule or hard denial spoke, and what would
//! change it.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::Value;

use crate::{
    CallPlan, GrantProposal, Risk, ToolCall, Verdict, VerdictAction, VerdictReason, canonical_json,
};

/// Above this many characters an input is not shown whole.
const SHOWN: usize = 4_000;

/// How an explanation is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplanationStyle {
    /// Letters only.
    Plain,
    /// With the colours of a terminal.
    Coloured,
}

/// What an explanation is about.
#[derive(Clone, Copy, Debug)]
pub struct Explanation<'a> {
    /// The call.
    pub call: &'a ToolCall,
    /// What it would do.
    pub plan: &'a CallPlan,
    /// How risky that is.
    pub risk: Risk,
    /// What was said of it.
    pub verdict: &'a Verdict,
    /// What "always" could mean.
    pub proposals: &'a [GrantProposal],
}

/// Tells a verdict in words.
pub fn explain(explained: &Explanation<'_>, look: ExplanationStyle) -> String {
    let source = describe_call(explained.call);
    let spans = spans(&source, explained.plan);
    let verdict = explained.verdict;
    let level = match verdict.outcome {
        VerdictAction::Allow => Level::INFO.with_name("allow"),
        VerdictAction::Ask => Level::WARNING.with_name("ask"),
        VerdictAction::Deny => Level::ERROR.with_name("deny"),
    };
    let mut snippet = Snippet::source(source.as_str()).path(explained.call.tool_name.as_str());
    let mut beside: Vec<&VerdictReason> = Vec::new();
    let labels: Vec<_> = verdict.reasons.iter().filter(|it| speaks(it, verdict)).collect();
    for reason in &labels {
        let Some(span) = reason.part.and_then(|part| spans.get(part).cloned().flatten()) else {
            beside.push(reason);
            continue;
        };
        let kind = if reason.outcome == verdict.outcome {
            AnnotationKind::Primary
        } else {
            AnnotationKind::Context
        };
        snippet = snippet.annotation(kind.span(span).label(reason.text.as_str()));
    }
    let title = title(explained);
    let parts = parts_table(explained);
    let helps = helps(explained, &labels);
    let mut group = Group::with_title(level.primary_title(title.as_str())).element(snippet);
    for reason in beside {
        group = group.element(Level::NOTE.message(reason.text.as_str()));
    }
    if let Some(parts) = &parts {
        group = group.element(Level::NOTE.with_name("parts").message(parts.as_str()));
    }
    for help in &helps {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = match look {
        ExplanationStyle::Plain => Renderer::plain(),
        ExplanationStyle::Coloured => Renderer::styled(),
    };
    renderer.render(&[group])
}

/// Whether a reason belongs on the command itself: what decided, and all that nobody allowed.
fn speaks(reason: &VerdictReason, verdict: &Verdict) -> bool {
    let decides = reason.outcome == verdict.outcome && reason.rule.is_some();
    decides || reason.outcome > VerdictAction::Allow
}

fn title(explained: &Explanation<'_>) -> String {
    let Explanation { verdict, risk, plan, .. } = explained;
    let count = plan.commands.len();
    let about = |outcome: VerdictAction| {
        let parts =
            (0..count).filter(|part| verdict.action_for_part(*part) == Some(outcome)).count();
        if count > 1 { format!("{parts} of its {count} parts") } else { "it".to_owned() }
    };
    match verdict.outcome {
        VerdictAction::Allow => format!("this runs without asking ({risk})"),
        VerdictAction::Ask => {
            format!("a person is asked: nothing allows {} ({risk})", about(VerdictAction::Ask))
        }
        VerdictAction::Deny => format!("this does not run, whoever asks ({risk})"),
    }
}

/// The call as it is shown: a command as it was written, other inputs as JSON.
fn describe_call(call: &ToolCall) -> String {
    let text = match call.input.get("command").and_then(Value::as_str) {
        Some(command) if call.input.get("args").is_none() => command.to_owned(),
        _ => canonical_json(&call.input),
    };
    if text.len() <= SHOWN { text } else { text.chars().take(SHOWN).chain("…".chars()).collect() }
}

/// Where each part stands in the text, as far as it does: inner scripts are written otherwise.
fn spans(source: &str, plan: &CallPlan) -> Vec<Option<std::ops::Range<usize>>> {
    let mut from = 0;
    let mut place = |text: &str| {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let ahead = source.get(from..).and_then(|rest| rest.find(text)).map(|at| at + from);
        let at = ahead.or_else(|| source.find(text))?;
        from = at + text.len();
        Some(at..at + text.len())
    };
    plan.commands.iter().map(|part| place(&part.text)).collect()
}

/// One line per part: what was said of it, what it is, what it would run.
fn parts_table(explained: &Explanation<'_>) -> Option<String> {
    let parts = &explained.plan.commands;
    if parts.len() < 2 {
        return None;
    }
    let width = parts.iter().map(|part| part.text.chars().count()).max().unwrap_or(0).min(48);
    let lines = parts.iter().enumerate().map(|(at, part)| {
        let said = match explained.verdict.action_for_part(at) {
            Some(VerdictAction::Allow) | None => "allow",
            Some(VerdictAction::Ask) => "ask",
            Some(VerdictAction::Deny) => "deny",
        };
        let text: String = part.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text: String = if text.chars().count() > width {
            text.chars().take(width.saturating_sub(1)).chain("…".chars()).collect()
        } else {
            text
        };
        let why = explained.verdict.reasons_for_part(at).next().map(|reason| reason.text.as_str());
        format!("{:>2}  {said:<5}  {text:<width$}  {}", at + 1, why.unwrap_or("only reads"))
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// What would change the verdict, each thing once.
fn helps(explained: &Explanation<'_>, reasons: &[&VerdictReason]) -> Vec<String> {
    let mut changes: Vec<String> = Vec::new();
    let several = explained.plan.commands.len() > 1;
    for reason in reasons.iter().filter(|it| it.outcome == explained.verdict.outcome) {
        let Some(remedy) = &reason.remedy else { continue };
        let change = match reason.part {
            Some(part) if several => format!("part {}: {remedy}", part + 1),
            _ => remedy.clone(),
        };
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    let mut helps = Vec::new();
    match changes.as_slice() {
        [] => {}
        [only] => helps.push(format!("what would change it: {only}")),
        several => helps.push(format!("what would change it:\n{}", several.join("\n"))),
    }
    let always = explained.proposals.iter().map(|it| it.rules.join("`, `")).collect::<Vec<_>>();
    if explained.verdict.outcome == VerdictAction::Ask && !always.is_empty() {
        helps.push(format!("\"always\" could mean `{}`", always.join("` or `")));
    }
    helps
}

#[cfg(test)]
mod tests;
