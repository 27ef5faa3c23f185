//! What speaks against a call: rules that deny or ask, and rules that could not be read.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::PolicyCase;
use crate::rule::{
    FileAccess, PathPattern, Rule, RuleCitation, RulePattern, RuleSource, matches_wildcard,
    names_tool, runs_what_it_is_given, spellings, token_runs,
};
use crate::shell::CommandPart;
use crate::{Effect, EffectTarget, VerdictAction, VerdictReason, normalize_lexically};

/// Tokens of a text that was not understood that are looked at.
const RAW_TOKENS: usize = 2_000;

pub(super) struct RestrictionCheck<'a> {
    case: &'a PolicyCase<'a>,
    /// How each part may be meant.
    spellings: Vec<Vec<String>>,
    /// What starts at each word of a command that was not fully understood: a denial must not get
    /// lost in it.
    raw_runs: Vec<String>,
    /// The same words as paths.
    raw_paths: Vec<PathBuf>,
}

/// Where a rule found what it looks for.
struct RuleHit {
    part: Option<usize>,
    what: String,
}

impl<'a> RestrictionCheck<'a> {
    pub(super) fn new(case: &'a PolicyCase<'a>) -> Self {
        let unclear = case.is_opaque() || case.plan.commands.iter().any(runs_what_it_is_given);
        let text = case.call.input.get("command").and_then(Value::as_str).unwrap_or_default();
        let raw = if unclear && has_any(case) { tokens(text) } else { Vec::new() };
        let spellings = case.plan.commands.iter().map(spellings).collect();
        let (raw_runs, raw_paths) = (token_runs(&raw), raw_paths(case, &raw));
        Self { case, spellings, raw_runs, raw_paths }
    }

    pub(super) fn reasons(&self) -> Vec<VerdictReason> {
        let mut reasons = Vec::new();
        for outcome in [VerdictAction::Deny, VerdictAction::Ask] {
            for (source, rule) in self.case.rules.rules(outcome, self.case.now) {
                let hits = self.hits(rule);
                if let (RulePattern::Path(access, pattern), []) = (&rule.pattern, hits.as_slice()) {
                    let around = self.around(*access, pattern);
                    reasons.extend(around.iter().map(|hit| VerdictReason {
                        outcome: VerdictAction::Ask,
                        ..reason_for_hit(rule, source, hit)
                    }));
                }
                reasons.extend(hits.iter().map(|hit| reason_for_hit(rule, source, hit)));
            }
        }
        reasons.extend(self.case.rules.unreadable_layers().map(|(source, why)| {
            let text = format!("{source} could not be read, so everything asks: {why}");
            VerdictReason::new(VerdictAction::Ask, text).with_remedy("mend the file")
        }));
        reasons
    }

    fn hits(&self, rule: &Rule) -> Vec<RuleHit> {
        match &rule.pattern {
            RulePattern::Tool(name) => self.tool(name),
            RulePattern::Command(pattern) => {
                let hits = self.parts(|at, _| {
                    self.spellings.get(at).is_some_and(|spellings| pattern.is_among(spellings))
                });
                if hits.is_empty() && pattern.occurs_in(&self.raw_runs) { raw_hit() } else { hits }
            }
            RulePattern::Argv(pattern) => self.parts(|_, part| pattern.restricts(part)),
            RulePattern::Path(access, pattern) => {
                let anchors = self.case.rules.anchors();
                let means = |path: &Path| pattern.restricts(path, &self.case.call.cwd, anchors);
                let hits = self.files(*access, means);
                let raw = || self.raw_paths.iter().any(|path| means(path));
                if hits.is_empty() && raw() { raw_hit() } else { hits }
            }
            RulePattern::Domain(pattern) => self.effects(|effect| match effect {
                Effect::Net { host: Some(host) } if pattern.matches(host) => {
                    Some(format!("talks to `{host}`"))
                }
                _ => None,
            }),
            RulePattern::Agent(name) => self.effects(|effect| match effect {
                Effect::SpawnAgent { agent } if matches_wildcard(name, agent) => {
                    Some(format!("starts the agent `{agent}`"))
                }
                _ => None,
            }),
            RulePattern::RemoteRead(program) => self.effects(|effect| match effect {
                Effect::RemoteRead { program: reads } if reads == program => {
                    Some(format!("`{reads}` reads from a service"))
                }
                _ => None,
            }),
            RulePattern::Field { tool, name, value } => self.field(tool, name, value),
        }
    }

    fn tool(&self, name: &str) -> Vec<RuleHit> {
        let tool = &self.case.call.tool_name;
        // One way to change files stands for all of them.
        let writers = crate::rule::WRITERS;
        let both_write = writers.contains(&name) && writers.contains(&tool.as_str());
        // A command that is only watched is a command.
        let both_run = name == "Bash" && tool == "Monitor";
        if names_tool(name, tool) || both_write || both_run {
            vec![RuleHit { part: None, what: format!("uses `{tool}`") }]
        } else {
            Vec::new()
        }
    }

    fn parts(&self, matches: impl Fn(usize, &CommandPart) -> bool) -> Vec<RuleHit> {
        let parts = self.case.plan.commands.iter().enumerate();
        let hits = parts.filter(|(at, part)| matches(*at, part));
        hits.map(|(at, part)| RuleHit { part: Some(at), what: format!("runs `{}`", part.text) })
            .collect()
    }

    fn effects(&self, what: impl Fn(&Effect) -> Option<String>) -> Vec<RuleHit> {
        let effects = self.case.plan.effects.iter();
        effects
            .filter_map(|effect| {
                Some(RuleHit { what: what(effect)?, part: self.case.part_of(effect) })
            })
            .collect()
    }

    fn files(&self, access: FileAccess, means: impl Fn(&Path) -> bool) -> Vec<RuleHit> {
        // Where it leads or how it is written: either is enough.
        let hit = |target: &EffectTarget, verb: &str| {
            target.names().any(&means).then(|| format!("{verb} `{}`", target.display_path()))
        };
        // With a folder goes all that is in it.
        let gone = |target: &EffectTarget, verb: &str| {
            hit(target, verb).or_else(|| {
                means(&target.path.join("any"))
                    .then(|| format!("{verb} `{}` with all that is in it", target.display_path()))
            })
        };
        self.effects(|effect| match (access, effect) {
            (FileAccess::Read, Effect::Read(target)) => hit(target, "reads"),
            (FileAccess::Read, Effect::ReadAll(target)) => gone(target, "reads"),
            (FileAccess::Edit, Effect::Write(target)) => hit(target, "writes"),
            (FileAccess::Edit, Effect::Delete(target) | Effect::DeleteAll(target)) => {
                gone(target, "deletes")
            }
            (FileAccess::Edit, Effect::Rename { from, to }) => {
                gone(from, "moves").or_else(|| hit(to, "writes"))
            }
            _ => None,
        })
    }

    /// What a rule denies may lie in a folder that is read, removed or moved as a whole: that asks.
    fn around(&self, access: FileAccess, pattern: &PathPattern) -> Vec<RuleHit> {
        let (cwd, anchors) = (&self.case.call.cwd, self.case.rules.anchors());
        let holds = |target: &EffectTarget| pattern.may_lie_in(&target.path, cwd, anchors);
        let told = |verb: &str, target: &EffectTarget| {
            holds(target).then(|| {
                format!("{verb} all of `{}`, which may hold what is meant", target.display_path())
            })
        };
        self.effects(|effect| match (access, effect) {
            (FileAccess::Read, Effect::ReadAll(target)) => told("reads", target),
            (FileAccess::Edit, Effect::Delete(target) | Effect::DeleteAll(target)) => {
                told("deletes", target)
            }
            (FileAccess::Edit, Effect::Rename { from, .. }) => told("moves", from),
            _ => None,
        })
    }

    fn field(&self, tool: &str, name: &str, value: &str) -> Vec<RuleHit> {
        let found = self.case.call.input.get(name).map(|found| match found {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let is = names_tool(tool, &self.case.call.tool_name)
            && found.as_deref().is_some_and(|found| matches_wildcard(value, found));
        let what = format!("`{name}` is `{}`", found.unwrap_or_default());
        if is { vec![RuleHit { part: None, what }] } else { Vec::new() }
    }
}

/// Whether there are rules that restrict at all.
fn has_any(case: &PolicyCase<'_>) -> bool {
    let any = |outcome| case.rules.rules(outcome, case.now).next().is_some();
    any(VerdictAction::Deny) || any(VerdictAction::Ask)
}

fn raw_paths(case: &PolicyCase<'_>, tokens: &[&str]) -> Vec<PathBuf> {
    let home = case.rules.anchors().home.as_deref();
    let path = |token: &&str| match (token.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => normalize_lexically(&home.join(below)),
        _ => normalize_lexically(&case.call.cwd.join(token)),
    };
    tokens.iter().map(path).collect()
}

fn reason_for_hit(rule: &Rule, source: RuleSource, hit: &RuleHit) -> VerdictReason {
    let verb = if rule.outcome == VerdictAction::Deny { "deny" } else { "ask for" };
    let why = rule.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let text = format!("{}; {source} {verb} `{}`{why}", hit.what, rule.text);
    let remedy = format!("take `{}` out of {source}, or narrow it", rule.text);
    VerdictReason::new(rule.outcome, text)
        .with_remedy(remedy)
        .for_part(hit.part)
        .with_rule(RuleCitation::from_rule(rule, source))
}

fn raw_hit() -> Vec<RuleHit> {
    let what = "could not be read in full, and it stands in its text".to_owned();
    vec![RuleHit { part: None, what }]
}

fn tokens(text: &str) -> Vec<&str> {
    let border = |c: char| c.is_whitespace() || ";|&()<>`{}$'\"\\=,:[]".contains(c);
    text.split(border).filter(|token| !token.is_empty()).take(RAW_TOKENS).collect()
}
