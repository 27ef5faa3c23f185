//! What speaks for a call: every single effect needs something that allows it.

use super::Case;
use crate::place::{Side, Special, is_public};
use crate::rule::{
    Access, Known, PathPattern, Pattern, Rule, Source, Spoken, names_tool, redirects, start_of,
    wild,
};
use crate::shell::{Finding, Part};
use crate::{Effect, Mode, Outcome, Reason, Risk, Target, risk};

pub(super) struct Cover<'a> {
    case: &'a Case<'a>,
    allows: Vec<(Source, &'a Rule)>,
}

impl<'a> Cover<'a> {
    pub(super) fn new(case: &'a Case<'a>) -> Self {
        // A plan that would be carried out by rules is no plan.
        let heeds = case.mode != Mode::Plan;
        let rules = case.rules.rules(Outcome::Allow, case.now).filter(|_| heeds);
        Self { case, allows: rules.collect() }
    }

    pub(super) fn reasons(&self) -> Vec<Reason> {
        let plan = self.case.plan;
        if plan.effects.is_empty() {
            return vec![Reason::new(Outcome::Ask, "what it would do is unknown")];
        }
        let mut reasons = Vec::new();
        for (at, part) in plan.commands.iter().enumerate() {
            reasons.extend(self.part(part).into_iter().map(|reason| reason.about(Some(at))));
        }
        let loose = plan.effects.iter().filter(|it| self.case.part_of(it).is_none());
        for effect in loose {
            reasons.extend(self.effect(effect));
        }
        once(reasons)
    }

    /// One command: its rule or its proof, and then whatever these do not speak for.
    fn part(&self, part: &Part) -> Vec<Reason> {
        let rule = self.rule_for(part);
        let mut reasons = Vec::new();
        if let Some((source, rule)) = rule {
            let text = format!("{source} allow `{}`", rule.text);
            reasons.push(Reason::new(Outcome::Allow, text).by(Spoken::by(rule, source)));
        }
        for effect in &part.effects {
            if !goes_with(rule, part, effect) {
                reasons.extend(self.of_part(part, effect));
            }
        }
        let asks = reasons.iter().any(|reason| reason.outcome > Outcome::Allow);
        match &part.finding {
            Finding::Unproven { why } if rule.is_none() && !asks => {
                reasons.push(Reason::new(Outcome::Ask, why.clone()));
            }
            Finding::Changes if reasons.is_empty() => {
                reasons.push(Reason::new(Outcome::Ask, "changes files"));
            }
            Finding::ReadOnly if reasons.is_empty() => {
                reasons.push(Reason::new(Outcome::Allow, "only reads"));
            }
            _ => {}
        }
        reasons
    }

    fn of_part(&self, part: &Part, effect: &Effect) -> Option<Reason> {
        let reason = self.effect(effect)?;
        // Why a program is not known to be harmless says more than that it runs.
        match (effect, &part.finding) {
            (Effect::Exec { .. } | Effect::ReadsByName { .. }, Finding::Unproven { why })
                if reason.outcome == Outcome::Ask =>
            {
                let text = match risk::factor(effect) {
                    (Risk::High, what) => format!("{what}: {why}"),
                    (_, what) if matches!(effect, Effect::ReadsByName { .. }) => {
                        format!("{what}: {why}")
                    }
                    (_, what) => what,
                };
                Some(Reason { text, ..reason }.unless(for_command(part)))
            }
            _ => Some(reason),
        }
    }

    fn rule_for(&self, part: &Part) -> Option<(Source, &'a Rule)> {
        let known = Known::of(part);
        let permits = |rule: &Rule| match &rule.pattern {
            Pattern::Command(pattern) => known.as_ref().is_some_and(|it| pattern.covers(it)),
            Pattern::Argv(pattern) => {
                (!pattern.sandboxed || self.case.plan.sandboxed) && pattern.permits(part)
            }
            Pattern::Tool(name) => {
                crate::rule::COMMAND_TOOLS.contains(&name.as_str())
                    && names_tool(name, &self.case.call.tool_name)
            }
            Pattern::Path(..) | Pattern::Domain(_) | Pattern::Agent(_) | Pattern::Field { .. } => {
                false
            }
        };
        self.allows.iter().copied().find(|(_, rule)| permits(rule))
    }

    /// One effect: what allows it, or that nothing does. None for what others speak of.
    fn effect(&self, effect: &Effect) -> Option<Reason> {
        let (_, what) = risk::factor(effect);
        let asks = || Reason { remedy: remedy(effect), ..Reason::new(Outcome::Ask, what.clone()) };
        let reason = match effect {
            // The policy itself speaks of these, whatever allows the rest.
            Effect::Forbidden { .. } | Effect::LeavesSandbox => return None,
            Effect::Read(target) | Effect::ReadAll(target) => self.read(target, what),
            Effect::Write(_) | Effect::Delete(_) | Effect::DeleteAll(_) | Effect::Rename { .. } => {
                self.change(effect, what)
            }
            Effect::Net { host: Some(host) } => {
                let named = |rule: &Rule| match &rule.pattern {
                    Pattern::Domain(pattern) => pattern.matches(host),
                    _ => self.names_this_tool(rule),
                };
                self.by_rule(named, &what).unwrap_or_else(asks)
            }
            Effect::SpawnAgent { agent } => {
                let named = |rule: &Rule| match &rule.pattern {
                    Pattern::Agent(name) => wild(name, agent),
                    _ => self.names_this_tool(rule),
                };
                self.by_rule(named, &what).unwrap_or_else(asks)
            }
            // What a tool of another server does nobody knows: who allows the tool, allows that.
            Effect::Opaque { .. } if self.case.call.tool_name.starts_with("mcp__") => {
                self.by_rule(|rule| self.names_this_tool(rule), &what).unwrap_or_else(asks)
            }
            Effect::Net { host: None }
            | Effect::Env { .. }
            | Effect::Exec { .. }
            | Effect::ReadsByName { .. }
            | Effect::RunsLater { .. }
            | Effect::Opaque { .. } => asks(),
        };
        Some(reason)
    }

    fn read(&self, target: &Target, what: String) -> Reason {
        if target.place.special == Some(Special::Secret) {
            return Reason::new(Outcome::Ask, what).unless(NEVER);
        }
        // By another name it is not what anybody means by it.
        let public = target.names().all(is_public);
        if target.place.side == Side::Inside || public {
            return Reason::new(Outcome::Allow, what);
        }
        let covers = |rule: &Rule| match &rule.pattern {
            // Who may change a file may look at it.
            Pattern::Path(_, pattern) => self.permits(pattern, target),
            Pattern::Tool(name) => name == "Read",
            _ => false,
        };
        self.by_rule(covers, &what).unwrap_or_else(|| {
            let rule = format!("allow `Read(/{})`", target.path.display());
            Reason::new(Outcome::Ask, what).unless(rule)
        })
    }

    fn change(&self, effect: &Effect, what: String) -> Reason {
        if self.case.mode == Mode::Plan {
            return Reason::new(Outcome::Deny, format!("{what}; in plan mode nothing is changed"));
        }
        let targets = effect.changed();
        if targets.iter().any(|target| is_special(target)) {
            return Reason::new(Outcome::Ask, what).unless(NEVER);
        }
        let inside = targets.iter().all(|target| target.place.side == Side::Inside);
        // To remove a folder with all that is in it is no edit.
        let is_edit = !matches!(effect, Effect::DeleteAll(_));
        if self.case.mode == Mode::AcceptEdits && inside && is_edit {
            return Reason::new(Outcome::Allow, format!("{what}; this mode accepts edits"));
        }
        let covers = |rule: &Rule, target: &Target| match &rule.pattern {
            Pattern::Path(Access::Edit, pattern) => {
                self.permits(pattern, target)
                    && (target.place.side == Side::Inside || pattern.is_elsewhere())
            }
            Pattern::Tool(name) => inside && crate::rule::WRITERS.contains(&name.as_str()),
            _ => false,
        };
        let mut said = None;
        for target in &targets {
            match self.by_rule(|rule| covers(rule, target), &what) {
                Some(reason) => said = Some(reason),
                None => {
                    return Reason::new(Outcome::Ask, what).unless(self.for_file(target, is_edit));
                }
            }
        }
        said.unwrap_or_else(|| Reason::new(Outcome::Ask, what))
    }

    /// Where it leads and how it is written: both must be meant.
    fn permits(&self, pattern: &PathPattern, target: &Target) -> bool {
        let (cwd, anchors) = (&self.case.call.cwd, self.case.rules.anchors());
        target.names().all(|name| pattern.permits(name, cwd, anchors))
    }

    fn for_file(&self, target: &Target, is_edit: bool) -> String {
        let root = &self.case.rules.anchors().root;
        let path = target.path.strip_prefix(root).unwrap_or(&target.path);
        let accepted = is_edit && target.place.side == Side::Inside;
        let or = if accepted { ", or accept edits" } else { "" };
        format!("allow `Edit(/{})`{or}", path.display())
    }

    fn names_this_tool(&self, rule: &Rule) -> bool {
        matches!(&rule.pattern, Pattern::Tool(name) if names_tool(name, &self.case.call.tool_name))
    }

    fn by_rule(&self, covers: impl Fn(&Rule) -> bool, what: &str) -> Option<Reason> {
        let (source, rule) = self.allows.iter().copied().find(|(_, rule)| covers(rule))?;
        let text = format!("{what}; {source} allow `{}`", rule.text);
        Some(Reason::new(Outcome::Allow, text).by(Spoken::by(rule, source)))
    }
}

/// Whether an effect is part of what a rule that allows a command means.
///
/// That the program runs, and what it is known to change here; not where its output is sent, whom
/// it talks to by name, or what it could not be seen to do.
fn goes_with(rule: Option<(Source, &Rule)>, part: &Part, effect: &Effect) -> bool {
    let Some((_, rule)) = rule else { return false };
    let network = matches!(&rule.pattern, Pattern::Argv(pattern) if pattern.network);
    match effect {
        Effect::Exec { .. } | Effect::ReadsByName { .. } => true,
        Effect::Net { host: None } => matches!(rule.pattern, Pattern::Command(_)) || network,
        Effect::Net { host: Some(_) } => network,
        Effect::Write(_) | Effect::Delete(_) | Effect::DeleteAll(_) | Effect::Rename { .. } => {
            part.finding == Finding::Changes
                && !redirects(part)
                && effect.changed().iter().all(|target| is_ordinary(target))
        }
        Effect::Read(_)
        | Effect::ReadAll(_)
        | Effect::Env { .. }
        | Effect::SpawnAgent { .. }
        | Effect::RunsLater { .. }
        | Effect::LeavesSandbox
        | Effect::Forbidden { .. }
        | Effect::Opaque { .. } => false,
    }
}

/// What no rule covers.
const NEVER: &str = "nothing: secrets and files that steer what runs always ask";

/// Returns what would allow an effect that only a rule of its own can.
fn remedy(effect: &Effect) -> Option<String> {
    let text = match effect {
        Effect::Net { host: Some(host) } => format!("allow `WebFetch(domain:{host})`"),
        Effect::SpawnAgent { agent } => format!("allow `Task({agent})`"),
        Effect::Env { name } => format!("leave `{name}` as it is"),
        Effect::Opaque { .. } => "write it so that it can be read".to_owned(),
        Effect::RunsLater { .. } => "run it in the foreground".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// Returns the rule that would let a command run.
fn for_command(part: &Part) -> String {
    let words: Vec<_> = part.argv.iter().map(crate::shell::Word::shown).collect();
    let start = words.get(..start_of(&words)).unwrap_or_default().join(" ");
    if part.effects.iter().any(|effect| matches!(effect, Effect::Opaque { .. })) {
        return "write it so that it can be read".to_owned();
    }
    let inner = if part.wrappers.is_empty() { "" } else { " on its own" };
    if crate::rule::runs_what_it_is_given(part) {
        format!("allow exactly this with `Bash({})`: no wildcard covers it", words.join(" "))
    } else {
        format!("allow `Bash({start}:*)`{inner}")
    }
}

/// Whether nothing about a target needs a person, whatever was allowed.
fn is_ordinary(target: &Target) -> bool {
    target.place.side == Side::Inside && !is_special(target)
}

fn is_special(target: &Target) -> bool {
    matches!(target.place.special, Some(Special::Secret | Special::Protected))
}

fn once(reasons: Vec<Reason>) -> Vec<Reason> {
    let mut once: Vec<Reason> = Vec::new();
    for reason in reasons {
        if !once.contains(&reason) {
            once.push(reason);
        }
    }
    once
}
