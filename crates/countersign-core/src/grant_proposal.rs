//! Proposals: what "always" could mean, made from the parsed call, narrowest first.
//!
//! Only for calls that are understood and not HIGH. Each proposal is a set of rules to be shown word
//! for word before it is kept, and is checked here to allow the very call it was made from.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rule::{PatternAnchors, RuleLayer, RuleSet, RuleSource, prefix_len, redirects};
use crate::shell::{CommandPart, CommandWord, PartFinding};
use crate::{
    CallPlan, Effect, EffectTarget, Policy, Risk, Rule, ToolCall, VerdictAction, WorkspaceSide,
};

/// Rules that may be kept at once: one per command or file, and no more than a person reads.
const MOST_RULES: usize = 5;

/// One thing that "always" could mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantProposal {
    /// The rules, in Claude Code's syntax.
    pub rules: Vec<String>,
    /// What that means, for the person who picks.
    pub label: String,
    /// How many recent calls that asked it would have allowed, where somebody has counted.
    #[serde(default)]
    pub matched_before: u64,
}

impl GrantProposal {
    fn new(rules: Vec<String>, label: String) -> Self {
        Self { rules, label, matched_before: 0 }
    }
}

/// Returns what "always" could mean for a call, narrowest first; nothing where it may not be said.
pub fn propose_grants(
    call: &ToolCall,
    plan: &CallPlan,
    risk: Risk,
    anchors: &PatternAnchors,
    now: Timestamp,
) -> Vec<GrantProposal> {
    let open = plan.effects.iter().any(|effect| {
        matches!(
            effect,
            Effect::Opaque { .. }
                | Effect::Forbidden { .. }
                | Effect::LeavesSandbox
                | Effect::RunsLater { .. }
                | Effect::Env { .. }
                | Effect::SpawnAgent { .. }
                | Effect::Net { .. }
        )
    });
    if risk == Risk::High || open {
        return Vec::new();
    }
    let found = if plan.commands.is_empty() {
        propose_for_files(plan, anchors)
    } else {
        propose_for_commands(&plan.commands)
    };
    let mut once = BTreeSet::new();
    found
        .into_iter()
        .filter(|proposal| once.insert(proposal.rules.clone()))
        .filter(|proposal| allows(proposal, call, plan, risk, anchors, now))
        .collect()
}

/// A proposal that would not allow the call it was made from would surprise whoever picks it.
fn allows(
    proposal: &GrantProposal,
    call: &ToolCall,
    plan: &CallPlan,
    risk: Risk,
    anchors: &PatternAnchors,
    now: Timestamp,
) -> bool {
    let rules = proposal.rules.iter().map(|text| Rule::parse(VerdictAction::Allow, text));
    let Ok(rules) = rules.collect::<Result<Vec<_>, _>>() else { return false };
    let rules =
        RuleSet::new(vec![RuleLayer::from_rules(RuleSource::Session, rules)], anchors.clone());
    Policy::attended_by(rules).verdict(call, plan, risk, now).outcome == VerdictAction::Allow
}

fn propose_for_commands(parts: &[CommandPart]) -> Vec<GrantProposal> {
    let asking: Vec<_> =
        parts.iter().filter(|part| part.finding != PartFinding::ReadOnly).collect();
    if asking.is_empty() || asking.len() > MOST_RULES {
        return Vec::new();
    }
    let Some(widths) = asking.iter().map(|part| widths(part)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let deepest = widths.iter().map(Vec::len).max().unwrap_or(0);
    let level = |at: usize| {
        let one = |widths: &Vec<String>| widths.get(at).or(widths.last()).cloned();
        let rules: Vec<_> = widths.iter().filter_map(one).collect();
        let shown: Vec<_> = rules.iter().map(|rule| format!("`{rule}`")).collect();
        let rules = rules.iter().map(|rule| format!("Bash({rule})")).collect();
        let label = if at == 0 {
            format!("exactly {}", shown.join(" and "))
        } else {
            format!("commands like {}", shown.join(" and "))
        };
        GrantProposal::new(rules, label)
    };
    (0..deepest).map(level).collect()
}

/// Returns the command from its whole to its shortest meaningful start; none if it is not plain.
fn widths(part: &CommandPart) -> Option<Vec<String>> {
    let words = part.argv.iter().map(plain).collect::<Option<Vec<_>>>()?;
    if words.is_empty() || !part.wrappers.is_empty() || redirects(part) {
        return None;
    }
    let whole = words.join(" ");
    let short = prefix_len(&words);
    let start = |count: usize| words.get(..count).map(|words| format!("{}:*", words.join(" ")));
    let mut widths = vec![whole];
    // Its options, with anything behind them.
    let options = words.iter().skip(short).take_while(|word| word.starts_with('-')).count();
    if options > 0 && short + options < words.len() {
        widths.extend(start(short + options));
    }
    widths.extend(start(short));
    Some(widths)
}

/// A word that a rule can hold as it is.
fn plain(word: &CommandWord) -> Option<&str> {
    let text = word.literal().filter(|_| !word.expanded)?;
    let odd = |c: char| c.is_whitespace() || "*'\"\\".contains(c);
    (!text.is_empty() && !text.contains(odd)).then_some(text)
}

fn propose_for_files(plan: &CallPlan, anchors: &PatternAnchors) -> Vec<GrantProposal> {
    let changes: Vec<&EffectTarget> =
        plan.effects.iter().flat_map(Effect::changed_targets).collect();
    if !changes.is_empty() {
        return propose_for_targets("Edit", &changes, anchors);
    }
    let outside = plan.effects.iter().filter_map(|effect| match effect {
        Effect::Read(target) | Effect::ReadAll(target)
            if target.place.side == WorkspaceSide::Outside =>
        {
            Some(target)
        }
        _ => None,
    });
    propose_for_targets("Read", &outside.collect::<Vec<_>>(), anchors)
}

fn propose_for_targets(
    tool: &str,
    targets: &[&EffectTarget],
    anchors: &PatternAnchors,
) -> Vec<GrantProposal> {
    let mut paths: Vec<&Path> = targets.iter().map(|target| target.path.as_path()).collect();
    paths.dedup();
    let verb = if tool == "Edit" { "changes to" } else { "reading" };
    let exact: Option<Vec<_>> = paths.iter().map(|path| from_anchor(path, anchors)).collect();
    let Some(exact) = exact.filter(|rules| !rules.is_empty() && rules.len() <= MOST_RULES) else {
        return Vec::new();
    };
    let rule = |glob: &str| format!("{tool}({glob})");
    let shown: Vec<_> = exact.iter().map(|path| format!("`{path}`")).collect();
    let mut found = vec![GrantProposal::new(
        exact.iter().map(|glob| rule(glob)).collect(),
        format!("{verb} {}", shown.join(" and ")),
    )];
    if let ([path], [glob]) = (paths.as_slice(), exact.as_slice())
        && let Some((folder, _)) = glob.rsplit_once('/')
    {
        let ending = path.extension().and_then(|it| it.to_str()).map(globset::escape);
        found.extend(ending.map(|ending| {
            GrantProposal::new(
                vec![rule(&format!("{folder}/*.{ending}"))],
                format!("{verb} `*.{ending}` files in `{folder}/`"),
            )
        }));
        if !folder.trim_matches('/').is_empty() {
            found.push(GrantProposal::new(
                vec![rule(&format!("{folder}/**"))],
                format!("{verb} everything in `{folder}/`"),
            ));
        }
    }
    found
}

/// Writes a path as rules do, its special characters made plain.
fn from_anchor(path: &Path, anchors: &PatternAnchors) -> Option<String> {
    let written = match path.strip_prefix(&anchors.root) {
        Ok(below) => format!("/{}", globset::escape(below.to_str()?)),
        Err(_) => format!("/{}", globset::escape(path.to_str()?)),
    };
    (!written.contains(['\n', '\r'])).then_some(written)
}
