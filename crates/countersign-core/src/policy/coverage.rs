//! What speaks for a call: every single effect needs something that allows it.

use super::PolicyCase;
use crate::known_place::KnownPlace;
use crate::path_class::{SensitiveKind, WorkspaceSide, is_public};
use crate::rule::{
    FileAccess, LiteralCommand, PathPattern, Rule, RuleCitation, RulePattern, RuleSource,
    matches_wildcard, names_tool, prefix_len, redirects,
};
use crate::shell::{CommandPart, PartFinding};
use crate::{Effect, EffectTarget, PermissionMode, Risk, VerdictAction, VerdictReason, risk};

pub(super) struct CoverageCheck<'a> {
    case: &'a PolicyCase<'a>,
    allows: Vec<(RuleSource, &'a Rule)>,
}

impl<'a> CoverageCheck<'a> {
    pub(super) fn new(case: &'a PolicyCase<'a>) -> Self {
        // A plan that would be carried out by rules is no plan.
        let heeds = case.mode != PermissionMode::Plan;
        let rules = case.rules.rules(VerdictAction::Allow, case.now).filter(|_| heeds);
        Self { case, allows: rules.collect() }
    }

    pub(super) fn reasons(&self) -> Vec<VerdictReason> {
        let plan = self.case.plan;
        if plan.effects.is_empty() {
            return vec![VerdictReason::new(VerdictAction::Ask, "what it would do is unknown")];
        }
        let mut reasons = Vec::new();
        for (at, part) in plan.commands.iter().enumerate() {
            reasons.extend(self.part(part).into_iter().map(|reason| reason.for_part(Some(at))));
        }
        let loose = plan.effects.iter().filter(|it| self.case.part_of(it).is_none());
        for effect in loose {
            reasons.extend(self.effect(effect));
        }
        deduplicate_reasons(reasons)
    }

    /// One command: its rule or its proof, and then whatever these do not speak for.
    fn part(&self, part: &CommandPart) -> Vec<VerdictReason> {
        let rule = self.rule_for(part);
        let mut reasons = Vec::new();
        if let Some((source, rule)) = rule {
            let text = format!("{source} allow `{}`", rule.text);
            reasons.push(
                VerdictReason::new(VerdictAction::Allow, text)
                    .with_rule(RuleCitation::from_rule(rule, source)),
            );
        }
        for effect in &part.effects {
            if !goes_with(rule, part, effect) {
                reasons.extend(self.cover_part_effect(part, effect));
            }
        }
        let asks = reasons.iter().any(|reason| reason.outcome > VerdictAction::Allow);
        match &part.finding {
            PartFinding::Unproven { why } if rule.is_none() && !asks => {
                reasons.push(VerdictReason::new(VerdictAction::Ask, why.clone()));
            }
            PartFinding::Changes if reasons.is_empty() => {
                reasons.push(VerdictReason::new(VerdictAction::Ask, "changes files"));
            }
            PartFinding::ReadOnly if reasons.is_empty() => {
                reasons.push(VerdictReason::new(VerdictAction::Allow, "only reads"));
            }
            _ => {}
        }
        reasons
    }

    fn cover_part_effect(&self, part: &CommandPart, effect: &Effect) -> Option<VerdictReason> {
        let reason = self.effect(effect)?;
        // Why a program is not known to be harmless says more than that it runs.
        match (effect, &part.finding) {
            (Effect::Exec { .. } | Effect::ReadsByName { .. }, PartFinding::Unproven { why })
                if reason.outcome == VerdictAction::Ask =>
            {
                let text = match risk::factor(effect) {
                    (Risk::High, what) if what.starts_with("runs `") => format!("{what}: {why}"),
                    (_, what) if matches!(effect, Effect::ReadsByName { .. }) => {
                        format!("{what}: {why}")
                    }
                    (_, what) => what,
                };
                Some(VerdictReason { text, ..reason }.with_remedy(for_command(part)))
            }
            _ => Some(reason),
        }
    }

    fn rule_for(&self, part: &CommandPart) -> Option<(RuleSource, &'a Rule)> {
        let known = LiteralCommand::from_part(part);
        let permits = |rule: &Rule| match &rule.pattern {
            RulePattern::Command(pattern) => known.as_ref().is_some_and(|it| pattern.covers(it)),
            RulePattern::Argv(pattern) => {
                (!pattern.sandboxed || self.case.plan.sandboxed) && pattern.permits(part)
            }
            RulePattern::Tool(name) => {
                crate::rule::COMMAND_TOOLS.contains(&name.as_str())
                    && names_tool(name, &self.case.call.tool_name)
            }
            RulePattern::Path(..)
            | RulePattern::Domain(_)
            | RulePattern::Agent(_)
            | RulePattern::RemoteRead(_)
            | RulePattern::Field { .. } => false,
        };
        self.allows.iter().copied().find(|(_, rule)| permits(rule))
    }

    /// One effect: what allows it, or that nothing does. None for what others speak of.
    fn effect(&self, effect: &Effect) -> Option<VerdictReason> {
        let (_, what) = risk::factor(effect);
        let asks = || VerdictReason {
            remedy: remedy(effect),
            ..VerdictReason::new(VerdictAction::Ask, what.clone())
        };
        let reason = match effect {
            // The policy itself speaks of these, whatever allows the rest.
            Effect::Forbidden { .. } | Effect::LeavesSandbox => return None,
            Effect::Read(target) | Effect::ReadAll(target) => self.read(target, what),
            Effect::Write(_) | Effect::Delete(_) | Effect::DeleteAll(_) | Effect::Rename { .. } => {
                self.change(effect, what)
            }
            Effect::Net { host: Some(host) } => {
                let named = |rule: &Rule| match &rule.pattern {
                    RulePattern::Domain(pattern) => pattern.matches(host),
                    _ => self.names_this_tool(rule),
                };
                self.by_rule(named, &what).unwrap_or_else(asks)
            }
            // A child that a tool call starts asks for its own calls, here.
            Effect::SpawnAgent { .. }
                if self.case.mode == PermissionMode::AcceptEdits
                    && self.case.plan.commands.is_empty() =>
            {
                let text = format!("{what}, whose calls go through the same gate");
                VerdictReason::new(VerdictAction::Allow, text)
            }
            Effect::SpawnAgent { agent } => {
                let named = |rule: &Rule| match &rule.pattern {
                    RulePattern::Agent(name) => matches_wildcard(name, agent),
                    _ => self.names_this_tool(rule),
                };
                self.by_rule(named, &what).unwrap_or_else(asks)
            }
            Effect::RemoteRead { program } => {
                let named = |rule: &Rule| matches!(&rule.pattern, RulePattern::RemoteRead(name) if name == program);
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

    fn read(&self, target: &EffectTarget, what: String) -> VerdictReason {
        if target.place.special == Some(SensitiveKind::Secret) {
            return VerdictReason::new(VerdictAction::Ask, what).with_remedy(NEVER);
        }
        // By another name it is not what anybody means by it.
        let public = target.names().all(is_public);
        if target.place.side == WorkspaceSide::Inside || public {
            return VerdictReason::new(VerdictAction::Allow, what);
        }
        if let Some(place) = self.known_place(target) {
            let text = format!("reads `{}`, {}", target.display_path(), place.describe());
            return VerdictReason::new(VerdictAction::Allow, text);
        }
        let covers = |rule: &Rule| match &rule.pattern {
            // Who may change a file may look at it.
            RulePattern::Path(_, pattern) => self.permits(pattern, target),
            RulePattern::Tool(name) => name == "Read",
            _ => false,
        };
        self.by_rule(covers, &what).unwrap_or_else(|| {
            let rule = format!("allow `Read(/{})`", target.path.display());
            VerdictReason::new(VerdictAction::Ask, what).with_remedy(rule)
        })
    }

    fn change(&self, effect: &Effect, what: String) -> VerdictReason {
        if self.case.mode == PermissionMode::Plan {
            return VerdictReason::new(
                VerdictAction::Deny,
                format!("{what}; in plan mode nothing is changed"),
            );
        }
        let targets = effect.changed_targets();
        let is_plan =
            |target: &&EffectTarget| self.known_place(target) == Some(KnownPlace::AgentPlan);
        if targets.iter().any(|target| is_special(target) && !is_plan(target)) {
            return VerdictReason::new(VerdictAction::Ask, what).with_remedy(NEVER);
        }
        let is_inside = |target: &&EffectTarget| {
            target.place.side == WorkspaceSide::Inside
                || self.known_place(target).is_some_and(KnownPlace::may_be_changed)
        };
        let inside = targets.iter().all(is_inside);
        // To remove a folder with all that is in it is no edit.
        let is_edit = !matches!(effect, Effect::DeleteAll(_));
        if self.case.mode == PermissionMode::AcceptEdits && inside && is_edit {
            return VerdictReason::new(
                VerdictAction::Allow,
                format!("{what}; this mode accepts edits"),
            );
        }
        let covers = |rule: &Rule, target: &EffectTarget| match &rule.pattern {
            RulePattern::Path(FileAccess::Edit, pattern) => {
                self.permits(pattern, target)
                    && (target.place.side == WorkspaceSide::Inside
                        || pattern.is_outside_workspace())
            }
            RulePattern::Tool(name) => inside && crate::rule::WRITERS.contains(&name.as_str()),
            _ => false,
        };
        let mut said = None;
        for target in &targets {
            match self.by_rule(|rule| covers(rule, target), &what) {
                Some(reason) => said = Some(reason),
                None => {
                    return VerdictReason::new(VerdictAction::Ask, what)
                        .with_remedy(self.for_file(target, is_edit));
                }
            }
        }
        said.unwrap_or_else(|| VerdictReason::new(VerdictAction::Ask, what))
    }

    /// Returns what a target outside the workspace is known as, by every name that it has.
    fn known_place(&self, target: &EffectTarget) -> Option<KnownPlace> {
        let anchors = self.case.rules.anchors();
        let mut places = target.names().map(|name| KnownPlace::find(name, anchors));
        let first = places.next().flatten()?;
        places.all(|place| place == Some(first)).then_some(first)
    }

    /// Where it leads and how it is written: both must be meant.
    fn permits(&self, pattern: &PathPattern, target: &EffectTarget) -> bool {
        let (cwd, anchors) = (&self.case.call.cwd, self.case.rules.anchors());
        target.names().all(|name| pattern.permits(name, cwd, anchors))
    }

    fn for_file(&self, target: &EffectTarget, is_edit: bool) -> String {
        let root = &self.case.rules.anchors().root;
        let path = target.path.strip_prefix(root).unwrap_or(&target.path);
        let accepted = is_edit && target.place.side == WorkspaceSide::Inside;
        let or = if accepted { ", or accept edits" } else { "" };
        format!("allow `Edit(/{})`{or}", path.display())
    }

    fn names_this_tool(&self, rule: &Rule) -> bool {
        matches!(&rule.pattern, RulePattern::Tool(name) if names_tool(name, &self.case.call.tool_name))
    }

    fn by_rule(&self, covers: impl Fn(&Rule) -> bool, what: &str) -> Option<VerdictReason> {
        let (source, rule) = self.allows.iter().copied().find(|(_, rule)| covers(rule))?;
        let text = format!("{what}; {source} allow `{}`", rule.text);
        Some(
            VerdictReason::new(VerdictAction::Allow, text)
                .with_rule(RuleCitation::from_rule(rule, source)),
        )
    }
}

/// Whether an effect is part of what a rule that allows a command means.
///
/// That the program runs, and what it is known to change here; not where its output is sent, whom
/// it talks to by name, or what it could not be seen to do.
fn goes_with(rule: Option<(RuleSource, &Rule)>, part: &CommandPart, effect: &Effect) -> bool {
    let Some((_, rule)) = rule else { return false };
    let network = matches!(&rule.pattern, RulePattern::Argv(pattern) if pattern.network);
    match effect {
        Effect::Exec { .. } | Effect::ReadsByName { .. } | Effect::RemoteRead { .. } => true,
        Effect::Net { host: None } => matches!(rule.pattern, RulePattern::Command(_)) || network,
        Effect::Net { host: Some(_) } => network,
        Effect::Write(_) | Effect::Delete(_) | Effect::DeleteAll(_) | Effect::Rename { .. } => {
            part.finding == PartFinding::Changes
                && !redirects(part)
                && effect.changed_targets().iter().all(|target| is_ordinary(target))
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
        Effect::RemoteRead { program } => format!("allow `RemoteRead({program})`"),
        Effect::Env { name } => format!("leave `{name}` as it is"),
        Effect::Opaque { .. } => "write it so that it can be read".to_owned(),
        Effect::RunsLater { .. } => "run it in the foreground".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// Returns the rule that would let a command run.
fn for_command(part: &CommandPart) -> String {
    let words: Vec<_> = part.argv.iter().map(crate::shell::CommandWord::effective_text).collect();
    let start = words.get(..prefix_len(&words)).unwrap_or_default().join(" ");
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
fn is_ordinary(target: &EffectTarget) -> bool {
    target.place.side == WorkspaceSide::Inside && !is_special(target)
}

fn is_special(target: &EffectTarget) -> bool {
    matches!(target.place.special, Some(SensitiveKind::Secret | SensitiveKind::Protected))
}

fn deduplicate_reasons(reasons: Vec<VerdictReason>) -> Vec<VerdictReason> {
    let mut once: Vec<VerdictReason> = Vec::new();
    for reason in reasons {
        if !once.contains(&reason) {
            once.push(reason);
        }
    }
    once
}
