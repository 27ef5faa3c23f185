//! What speaks against a call: rules that deny or ask, and rules that could not be read.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Case;
use crate::rule::{
    Access, PathPattern, Pattern, Rule, Source, Spoken, names_tool, runs_of, runs_what_it_is_given,
    spellings, wild,
};
use crate::shell::Part;
use crate::{Effect, Outcome, Reason, Target, lexical};

/// Tokens of a text that was not understood that are looked at.
const RAW_TOKENS: usize = 2_000;

pub(super) struct Restrict<'a> {
    case: &'a Case<'a>,
    /// How each part may be meant.
    spellings: Vec<Vec<String>>,
    /// What starts at each word of a command that was not fully understood: a denial must not get
    /// lost in it.
    raw_runs: Vec<String>,
    /// The same words as paths.
    raw_paths: Vec<PathBuf>,
}

/// Where a rule found what it looks for.
struct Hit {
    part: Option<usize>,
    what: String,
}

impl<'a> Restrict<'a> {
    pub(super) fn new(case: &'a Case<'a>) -> Self {
        let unclear = case.is_opaque() || case.plan.commands.iter().any(runs_what_it_is_given);
        let text = case.call.input.get("command").and_then(Value::as_str).unwrap_or_default();
        let raw = if unclear && has_any(case) { tokens(text) } else { Vec::new() };
        let spellings = case.plan.commands.iter().map(spellings).collect();
        let (raw_runs, raw_paths) = (runs_of(&raw), raw_paths(case, &raw));
        Self { case, spellings, raw_runs, raw_paths }
    }

    pub(super) fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for outcome in [Outcome::Deny, Outcome::Ask] {
            for (source, rule) in self.case.rules.rules(outcome, self.case.now) {
                let hits = self.hits(rule);
                if let (Pattern::Path(access, pattern), []) = (&rule.pattern, hits.as_slice()) {
                    let around = self.around(*access, pattern);
                    reasons.extend(
                        around
                            .iter()
                            .map(|hit| Reason { outcome: Outcome::Ask, ..said(rule, source, hit) }),
                    );
                }
                reasons.extend(hits.iter().map(|hit| said(rule, source, hit)));
            }
        }
        reasons.extend(self.case.rules.broken().map(|(source, why)| {
            let text = format!("{source} could not be read, so everything asks: {why}");
            Reason::new(Outcome::Ask, text).unless("mend the file")
        }));
        reasons
    }

    fn hits(&self, rule: &Rule) -> Vec<Hit> {
        match &rule.pattern {
            Pattern::Tool(name) => self.tool(name),
            Pattern::Command(pattern) => {
                let hits = self.parts(|at, _| {
                    self.spellings.get(at).is_some_and(|spellings| pattern.is_among(spellings))
                });
                if hits.is_empty() && pattern.occurs_in(&self.raw_runs) { raw_hit() } else { hits }
            }
            Pattern::Argv(pattern) => self.parts(|_, part| pattern.restricts(part)),
            Pattern::Path(access, pattern) => {
                let anchors = self.case.rules.anchors();
                let means = |path: &Path| pattern.restricts(path, &self.case.call.cwd, anchors);
                let hits = self.files(*access, means);
                let raw = || self.raw_paths.iter().any(|path| means(path));
                if hits.is_empty() && raw() { raw_hit() } else { hits }
            }
            Pattern::Domain(pattern) => self.effects(|effect| match effect {
                Effect::Net { host: Some(host) } if pattern.matches(host) => {
                    Some(format!("talks to `{host}`"))
                }
                _ => None,
            }),
            Pattern::Agent(name) => self.effects(|effect| match effect {
                Effect::SpawnAgent { agent } if wild(name, agent) => {
                    Some(format!("starts the agent `{agent}`"))
                }
                _ => None,
            }),
            Pattern::Field { tool, name, value } => self.field(tool, name, value),
        }
    }

    fn tool(&self, name: &str) -> Vec<Hit> {
        let tool = &self.case.call.tool_name;
        // One way to change files stands for all of them.
        let writers = crate::rule::WRITERS;
        let both_write = writers.contains(&name) && writers.contains(&tool.as_str());
        // A command that is only watched is a command.
        let both_run = name == "Bash" && tool == "Monitor";
        if names_tool(name, tool) || both_write || both_run {
            vec![Hit { part: None, what: format!("uses `{tool}`") }]
        } else {
            Vec::new()
        }
    }

    fn parts(&self, matches: impl Fn(usize, &Part) -> bool) -> Vec<Hit> {
        let parts = self.case.plan.commands.iter().enumerate();
        let hits = parts.filter(|(at, part)| matches(*at, part));
        hits.map(|(at, part)| Hit { part: Some(at), what: format!("runs `{}`", part.text) })
            .collect()
    }

    fn effects(&self, what: impl Fn(&Effect) -> Option<String>) -> Vec<Hit> {
        let effects = self.case.plan.effects.iter();
        effects
            .filter_map(|effect| Some(Hit { what: what(effect)?, part: self.case.part_of(effect) }))
            .collect()
    }

    fn files(&self, access: Access, means: impl Fn(&Path) -> bool) -> Vec<Hit> {
        // Where it leads or how it is written: either is enough.
        let hit = |target: &Target, verb: &str| {
            target.names().any(&means).then(|| format!("{verb} `{}`", target.to_shown()))
        };
        // With a folder goes all that is in it.
        let gone = |target: &Target, verb: &str| {
            hit(target, verb).or_else(|| {
                means(&target.path.join("any"))
                    .then(|| format!("{verb} `{}` with all that is in it", target.to_shown()))
            })
        };
        self.effects(|effect| match (access, effect) {
            (Access::Read, Effect::Read(target)) => hit(target, "reads"),
            (Access::Read, Effect::ReadAll(target)) => gone(target, "reads"),
            (Access::Edit, Effect::Write(target)) => hit(target, "writes"),
            (Access::Edit, Effect::Delete(target) | Effect::DeleteAll(target)) => {
                gone(target, "deletes")
            }
            (Access::Edit, Effect::Rename { from, to }) => {
                gone(from, "moves").or_else(|| hit(to, "writes"))
            }
            _ => None,
        })
    }

    /// What a rule denies may lie in a folder that is read, removed or moved as a whole: that asks.
    fn around(&self, access: Access, pattern: &PathPattern) -> Vec<Hit> {
        let (cwd, anchors) = (&self.case.call.cwd, self.case.rules.anchors());
        let holds = |target: &Target| pattern.may_lie_in(&target.path, cwd, anchors);
        let told = |verb: &str, target: &Target| {
            holds(target).then(|| {
                format!("{verb} all of `{}`, which may hold what is meant", target.to_shown())
            })
        };
        self.effects(|effect| match (access, effect) {
            (Access::Read, Effect::ReadAll(target)) => told("reads", target),
            (Access::Edit, Effect::Delete(target) | Effect::DeleteAll(target)) => {
                told("deletes", target)
            }
            (Access::Edit, Effect::Rename { from, .. }) => told("moves", from),
            _ => None,
        })
    }

    fn field(&self, tool: &str, name: &str, value: &str) -> Vec<Hit> {
        let found = self.case.call.input.get(name).map(|found| match found {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let is = names_tool(tool, &self.case.call.tool_name)
            && found.as_deref().is_some_and(|found| wild(value, found));
        let what = format!("`{name}` is `{}`", found.unwrap_or_default());
        if is { vec![Hit { part: None, what }] } else { Vec::new() }
    }
}

/// Whether there are rules that restrict at all.
fn has_any(case: &Case<'_>) -> bool {
    let any = |outcome| case.rules.rules(outcome, case.now).next().is_some();
    any(Outcome::Deny) || any(Outcome::Ask)
}

fn raw_paths(case: &Case<'_>, tokens: &[&str]) -> Vec<PathBuf> {
    let home = case.rules.anchors().home.as_deref();
    let path = |token: &&str| match (token.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => lexical(&home.join(below)),
        _ => lexical(&case.call.cwd.join(token)),
    };
    tokens.iter().map(path).collect()
}

fn said(rule: &Rule, source: Source, hit: &Hit) -> Reason {
    let verb = if rule.outcome == Outcome::Deny { "deny" } else { "ask for" };
    let why = rule.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let text = format!("{}; {source} {verb} `{}`{why}", hit.what, rule.text);
    let remedy = format!("take `{}` out of {source}, or narrow it", rule.text);
    Reason::new(rule.outcome, text).unless(remedy).about(hit.part).by(Spoken::by(rule, source))
}

fn raw_hit() -> Vec<Hit> {
    let what = "could not be read in full, and it stands in its text".to_owned();
    vec![Hit { part: None, what }]
}

fn tokens(text: &str) -> Vec<&str> {
    let border = |c: char| c.is_whitespace() || ";|&()<>`{}$'\"\\=,:[]".contains(c);
    text.split(border).filter(|token| !token.is_empty()).take(RAW_TOKENS).collect()
}
