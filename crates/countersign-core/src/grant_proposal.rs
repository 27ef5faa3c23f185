//! Proposals: what "always" could mean, made from the parsed call, narrowest first.
//!
//! Only for calls that are understood, and never for what leaves the machine, throws work away or touches
//! secrets. Each proposal is a set of rules to be shown word for word before it is kept, and is checked here
//! to allow the very call it was made from.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::program_verbs::find_verb;
use crate::rule::{
    PatternAnchors, RuleLayer, RuleSet, RuleSource, prefix_len, redirects_to_file,
    runs_what_it_is_given, sees_through,
};
use crate::shell::{CommandPart, CommandWord, PartFinding};
use crate::{
    CallPlan, Effect, EffectTarget, Policy, Risk, Rule, ToolCall, VerdictAction, WorkspaceSide,
    risk,
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
    let found = if let Some(proposal) = propose_for_tool(call, plan) {
        vec![proposal]
    } else if !plan.effects.iter().all(may_be_granted) {
        return Vec::new();
    } else if plan.commands.iter().all(|part| part.finding == PartFinding::ReadOnly) {
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

/// Whether "always" may be said to an effect at all.
fn may_be_granted(effect: &Effect) -> bool {
    match effect {
        Effect::Opaque { .. }
        | Effect::Forbidden { .. }
        | Effect::LeavesSandbox
        | Effect::RunsLater { .. }
        | Effect::Env { .. }
        | Effect::SpawnAgent { .. }
        | Effect::Net { .. } => false,
        // Of a program that nothing is known about, only this very command is offered.
        Effect::Exec { argv, .. } => {
            risk::factor(effect).0 < Risk::High || find_verb(&as_words(argv)).is_none()
        }
        Effect::Read(_)
        | Effect::ReadAll(_)
        | Effect::Write(_)
        | Effect::Delete(_)
        | Effect::DeleteAll(_)
        | Effect::Rename { .. }
        | Effect::ReadsByName { .. }
        | Effect::RemoteRead { .. } => risk::factor(effect).0 < Risk::High,
    }
}

fn as_words(argv: &[String]) -> Vec<&str> {
    argv.iter().map(String::as_str).collect()
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
    let mut asking: Vec<_> =
        parts.iter().filter(|part| part.finding != PartFinding::ReadOnly).collect();
    asking.dedup_by(|one, other| one.argv == other.argv);
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
    let words = part.argv.iter().map(plain).collect::<Vec<_>>();
    let through = part.wrappers.iter().all(|wrapper| sees_through(wrapper));
    if words.is_empty() || !through || redirects_to_file(part) || runs_what_it_is_given(part) {
        return None;
    }
    let whole = words.iter().copied().collect::<Option<Vec<_>>>().map(|words| words.join(" "));
    let start = |count: usize| {
        let words = words.get(..count)?.iter().copied().collect::<Option<Vec<_>>>()?;
        Some(format!("{}:*", words.join(" ")))
    };
    let mut widths: Vec<_> = whole.into_iter().collect();
    let Some(short) = shortest_start(part) else { return Some(widths).filter(|it| !it.is_empty()) };
    // Its options, with anything behind them.
    let is_option = |word: &&CommandWord| word.effective_text().starts_with('-');
    let options = part.argv.iter().skip(short).take_while(is_option).count();
    if options > 0 && short + options < words.len() {
        widths.extend(start(short + options));
    }
    widths.extend(start(short));
    Some(widths).filter(|it| !it.is_empty())
}

/// Returns how many words a rule may be made of that lets more than this very command pass.
fn shortest_start(part: &CommandPart) -> Option<usize> {
    let words: Vec<_> = part.argv.iter().map(CommandWord::effective_text).collect();
    let first = words.first()?;
    if let Some(verb) = find_verb(&words) {
        return (!verb.may_get_worse).then_some(verb.words);
    }
    // A program of the project itself, or one whose every option is known.
    let is_own = first.starts_with("./") && part.program.is_none();
    let is_known = risk::factor(part.effects.first()?).0 < Risk::High;
    (is_own || is_known).then(|| prefix_len(&words))
}

/// A word that a rule can hold as it is.
fn plain(word: &CommandWord) -> Option<&str> {
    let text = word.literal().filter(|_| !word.expanded)?;
    let odd = |c: char| c.is_whitespace() || "*'\"\\".contains(c);
    (!text.is_empty() && !text.contains(odd)).then_some(text)
}

/// How tools of MCP servers are called that only look something up.
const LOOKS_UP: &[&str] = &["fetch", "find", "get", "list", "lookup", "query", "read", "search"];

/// What one rule for a tool other than a command covers: a kind of child, a host, a tool that looks up.
fn propose_for_tool(call: &ToolCall, plan: &CallPlan) -> Option<GrantProposal> {
    if !plan.commands.is_empty() {
        return None;
    }
    match plan.effects.as_slice() {
        // The calls of a child go through the same gate.
        [Effect::SpawnAgent { agent }] if is_plain_name(agent) => Some(GrantProposal::new(
            vec![format!("Task({agent})")],
            format!("child agents of the type `{agent}`; what they do is judged call by call"),
        )),
        [Effect::Net { host: Some(host) }] if is_plain_name(host) => Some(GrantProposal::new(
            vec![format!("WebFetch(domain:{host})")],
            format!("fetching from `{host}`"),
        )),
        [Effect::Opaque { .. }] => {
            let name = call.tool_name.strip_prefix("mcp__")?.split("__").last()?;
            let looks_up = LOOKS_UP.contains(&name.split(['_', '-']).next()?);
            looks_up.then(|| {
                let tool = &call.tool_name;
                GrantProposal::new(vec![tool.clone()], format!("every call of `{tool}`"))
            })
        }
        _ => None,
    }
}

fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "-_. :".contains(c);
    !name.is_empty() && name.chars().all(plain)
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
        && path.parent().is_some_and(|folder| may_be_shared(folder, anchors))
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

/// Whether files of one folder are alike enough that a rule for one may cover the others.
///
/// Everything lies in a home, and in the folders at its top.
fn may_be_shared(folder: &Path, anchors: &PatternAnchors) -> bool {
    if folder.starts_with(&anchors.root) {
        return true;
    }
    let below_home = anchors.home.as_ref().and_then(|home| folder.strip_prefix(home).ok());
    let below = below_home.or_else(|| folder.strip_prefix("/tmp").ok());
    below.is_some_and(|below| below.components().count() >= 2)
}

/// Writes a path as rules do, its special characters made plain.
fn from_anchor(path: &Path, anchors: &PatternAnchors) -> Option<String> {
    let written = match path.strip_prefix(&anchors.root) {
        Ok(below) => format!("/{}", globset::escape(below.to_str()?)),
        Err(_) => format!("/{}", globset::escape(path.to_str()?)),
    };
    (!written.contains(['\n', '\r'])).then_some(written)
}
