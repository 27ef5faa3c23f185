//! Risk: how much harm a call can do, from its effects alone.

mod build_commands;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path_class::{SensitiveKind, WorkspaceSide, is_public};
use crate::program_verbs::find_verb;
use crate::{Effect, EffectTarget};

/// How much harm a call can do if it turns out to be wrong.
///
/// The order is the meaning: a higher risk never asks for less consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Risk {
    /// Looks, inside the workspace.
    Low,
    /// Changes what is easily seen and put back.
    Medium,
    /// Can do anything, or reaches where it should not.
    High,
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        })
    }
}

/// Returns the risk of a call: that of its worst effect.
///
/// A call that lists no effect is not harmless but unknown, hence high.
pub fn assess(effects: &[Effect]) -> Risk {
    effects.iter().map(|effect| factor(effect).0).max().unwrap_or(Risk::High)
}

/// Returns why the call is as risky as it is, worst first, each factor once.
pub fn factors(effects: &[Effect]) -> Vec<(Risk, String)> {
    let mut found: Vec<_> = effects.iter().map(factor).collect();
    if found.is_empty() {
        found.push((Risk::High, "what it would do is unknown".to_owned()));
    }
    found.sort_by_key(|(risk, _)| std::cmp::Reverse(*risk));
    found.dedup();
    found
}

/// Returns how risky one effect is, and why.
pub fn factor(effect: &Effect) -> (Risk, String) {
    match effect {
        Effect::Read(target) | Effect::ReadAll(target) => reading(target),
        Effect::Write(target) => writing(target),
        Effect::Delete(target) => (Risk::High, format!("deletes `{}`", target.display_path())),
        Effect::DeleteAll(target) => {
            (Risk::High, format!("deletes `{}` with all that is in it", target.display_path()))
        }
        Effect::Rename { from, to } => renaming(from, to),
        Effect::Net { host: Some(host) } => (Risk::High, format!("talks to `{host}`")),
        Effect::Net { host: None } => (Risk::High, "uses the network".to_owned()),
        Effect::Env { name } => (Risk::High, format!("sets `{name}` for the programs that follow")),
        Effect::Exec { argv, .. } => executing(argv),
        Effect::RemoteRead { program } => {
            (Risk::Medium, format!("`{program}` reads from a service with your credentials"))
        }
        Effect::ReadsByName { argv } => {
            let program = argv.first().map_or("a program", String::as_str);
            (
                Risk::Medium,
                format!("runs `{program}`, which only reads if it is what its name says"),
            )
        }
        Effect::SpawnAgent { agent } => (Risk::High, format!("starts another agent, `{agent}`")),
        Effect::RunsLater { what } => (Risk::High, format!("leaves `{what}` to run later")),
        Effect::LeavesSandbox => (Risk::High, "leaves the sandbox".to_owned()),
        Effect::Forbidden { why } | Effect::Opaque { why } => (Risk::High, why.clone()),
    }
}

/// A program that is not proven: what its sub-command is known for, or that nothing is known.
fn executing(argv: &[String]) -> (Risk, String) {
    if build_commands::is_build_command(argv) {
        return (Risk::Medium, "runs the project's own build or tests".to_owned());
    }
    let words: Vec<_> = argv.iter().map(String::as_str).collect();
    if let Some(verb) = find_verb(&words) {
        return verb.factor();
    }
    let program = words.first().unwrap_or(&"a program");
    (Risk::High, format!("runs `{program}`"))
}

fn reading(target: &EffectTarget) -> (Risk, String) {
    let path = target.display_path();
    match (target.place.special, target.place.side) {
        (Some(SensitiveKind::Secret), _) => {
            (Risk::High, format!("reads `{path}`, which may hold secrets"))
        }
        (_, WorkspaceSide::Outside) if target.names().all(is_public) => {
            (Risk::Low, format!("reads `{path}`, which describes the machine"))
        }
        (_, WorkspaceSide::Outside) => {
            (Risk::Medium, format!("reads `{path}`, outside the workspace"))
        }
        (_, WorkspaceSide::Inside) => (Risk::Low, "reads inside the workspace".to_owned()),
    }
}

fn writing(target: &EffectTarget) -> (Risk, String) {
    let (path, place) = (target.display_path(), target.place);
    match (place.special, place.side) {
        (Some(SensitiveKind::Secret), _) => {
            (Risk::High, format!("writes `{path}`, which may hold secrets"))
        }
        (Some(SensitiveKind::Protected), _) => {
            (Risk::High, format!("writes `{path}`, which steers what runs later"))
        }
        (Some(SensitiveKind::RunsLater) | None, WorkspaceSide::Outside) => {
            (Risk::High, format!("writes `{path}`, outside the workspace"))
        }
        (Some(SensitiveKind::RunsLater), WorkspaceSide::Inside) => {
            let name = path_name(target);
            (Risk::Medium, format!("changes `{name}`, which runs on the next build or install"))
        }
        (None, WorkspaceSide::Inside) => (Risk::Medium, format!("changes `{path}`")),
    }
}

fn path_name(target: &EffectTarget) -> String {
    let name = target.path.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| target.display_path())
}

/// A rename takes away at one end and writes at the other: the worse end decides.
fn renaming(from: &EffectTarget, to: &EffectTarget) -> (Risk, String) {
    let (risk, why) = writing(from).max(writing(to));
    let runs_later = |end: &EffectTarget| end.place.special == Some(SensitiveKind::RunsLater);
    if risk == Risk::Medium && !runs_later(from) && !runs_later(to) {
        let (from, to) = (from.display_path(), to.display_path());
        return (risk, format!("moves `{from}` to `{to}`"));
    }
    let (from, to) = (from.display_path(), to.display_path());
    (risk, format!("moves `{from}` to `{to}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathClass;

    const INSIDE: PathClass = PathClass { side: WorkspaceSide::Inside, special: None };
    const OUTSIDE: PathClass = PathClass { side: WorkspaceSide::Outside, special: None };
    const PROTECTED: PathClass =
        PathClass { side: WorkspaceSide::Inside, special: Some(SensitiveKind::Protected) };
    const SECRET: PathClass =
        PathClass { side: WorkspaceSide::Inside, special: Some(SensitiveKind::Secret) };

    #[test]
    fn the_worst_effect_decides() {
        check(&[read(INSIDE)], Risk::Low);
        check(&[read(INSIDE), read(OUTSIDE)], Risk::Medium);
        check(&[read(INSIDE), write(INSIDE)], Risk::Medium);
        check(&[write(INSIDE), write(PROTECTED)], Risk::High);
        check(&[write(OUTSIDE)], Risk::High);
        check(&[read(SECRET)], Risk::High);
        check(&[read(INSIDE), Effect::Opaque { why: "?".into() }], Risk::High);
    }

    #[test]
    fn code_that_runs_by_itself_is_code_and_is_named() {
        let later =
            PathClass { side: WorkspaceSide::Inside, special: Some(SensitiveKind::RunsLater) };
        let target = EffectTarget::new("/ws/package.json", later);
        check(&[Effect::Read(target.clone())], Risk::Low);
        check(&[Effect::Write(target.clone())], Risk::Medium);
        let why = factors(&[Effect::Write(target)]);
        assert_eq!(why[0].1, "changes `package.json`, which runs on the next build or install");
        let outside = PathClass { side: WorkspaceSide::Outside, ..later };
        check(&[write(outside)], Risk::High);
    }

    #[test]
    fn a_build_is_medium_and_any_other_program_high() {
        let exec = |text: &str| Effect::Exec {
            argv: text.split(' ').map(str::to_owned).collect(),
            program: None,
        };
        check(&[exec("npm test")], Risk::Medium);
        check(&[exec("cargo test -p x"), read(INSIDE)], Risk::Medium);
        check(&[exec("npm install")], Risk::High);
        check(&[exec("npm test"), exec("curl x")], Risk::High);
        check(&[Effect::Exec { argv: vec![], program: None }], Risk::High);
    }

    #[test]
    fn what_cannot_be_put_back_or_seen_is_high() {
        check(&[Effect::Delete(target(INSIDE))], Risk::High);
        check(&[Effect::Net { host: None }], Risk::High);
        check(&[Effect::Env { name: "PAGER".into() }], Risk::High);
        check(&[Effect::SpawnAgent { agent: "claude".into() }], Risk::High);
        check(&[Effect::RunsLater { what: "a cron job".into() }], Risk::High);
        check(&[read(INSIDE), Effect::LeavesSandbox], Risk::High);
    }

    #[test]
    fn the_worse_end_of_a_rename_decides() {
        let rename = |from, to| Effect::Rename { from: target(from), to: target(to) };
        check(&[rename(INSIDE, INSIDE)], Risk::Medium);
        check(&[rename(INSIDE, PROTECTED)], Risk::High);
        check(&[rename(OUTSIDE, INSIDE)], Risk::High);
    }

    #[test]
    fn a_call_without_effects_is_unknown_hence_high() {
        check(&[], Risk::High);
    }

    #[test]
    fn protected_files_are_special_to_write_not_to_read() {
        check(&[read(PROTECTED)], Risk::Low);
        check(&[write(PROTECTED)], Risk::High);
    }

    #[track_caller]
    fn check(effects: &[Effect], risk: Risk) {
        assert_eq!(assess(effects), risk, "{effects:?}");
        assert_eq!(factors(effects)[0].0, risk, "the first factor explains the risk");
    }

    fn read(place: PathClass) -> Effect {
        Effect::Read(target(place))
    }

    fn write(place: PathClass) -> Effect {
        Effect::Write(target(place))
    }

    fn target(place: PathClass) -> EffectTarget {
        EffectTarget::new("/p", place)
    }
}
