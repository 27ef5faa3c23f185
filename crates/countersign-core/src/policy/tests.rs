//! The pipeline as a whole: stances, modes, layers, and the corpus' rows that come with rules.

mod corpus;
mod properties;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::Outcome::{Allow, Ask, Deny};
use crate::rule::{Format, Layer, RuleFile, Source};
use crate::shell::{self, Machine, Search, Tree, TreeKind};
use crate::{Place, Side, Target, lexical, risk};

pub(super) const WORKSPACE: &str = "/ws";
pub(super) const HOME: &str = "/home/me";

#[test]
fn attended_low_runs_the_rest_asks() {
    let stance = Stance::Attended { auto_approve_read: true };
    check(stance, &[read(Side::Inside)], Outcome::Allow);
    check(stance, &[read(Side::Outside)], Outcome::Ask);
    check(stance, &[read(Side::Inside), write()], Outcome::Ask);
    check(stance, &[], Outcome::Ask);
}

#[test]
fn with_automatic_reads_off_everything_asks() {
    let stance = Stance::Attended { auto_approve_read: false };
    check(stance, &[read(Side::Inside)], Outcome::Ask);
}

#[test]
fn what_is_forbidden_is_denied_in_every_stance_and_mode() {
    let forbidden = || Effect::Forbidden { why: "destroys the system".into() };
    for stance in [
        Stance::Attended { auto_approve_read: true },
        Stance::ToolDecides { needs_approval: false },
        Stance::Unattended,
    ] {
        check(stance, &[read(Side::Inside), forbidden()], Outcome::Deny);
    }
    for mode in Mode::ALL {
        assert_eq!(bash("rm -rf /", "", mode).outcome, Outcome::Deny, "{mode}");
    }
}

#[test]
fn to_leave_the_sandbox_is_asked_for_whatever_allows_the_command() {
    let leaving = |rules: &str, mode| {
        let file = RuleFile::parse(rules, Format::Toml, &anchors()).unwrap();
        let layer = Layer::of_file(Source::User, true, file);
        let mut plan = plan("ls");
        plan.effects.push(Effect::LeavesSandbox);
        let policy = policy(RuleSet::new(vec![layer], anchors()), mode);
        policy.verdict(&call("ls"), &plan, Risk::High, Timestamp::UNIX_EPOCH)
    };
    let all = "[permissions]\nallow = ['Bash', 'Bash(ls:*)']";
    for mode in Mode::ALL {
        let expected = if mode == Mode::DontAsk { Deny } else { Ask };
        let verdict = leaving(all, mode);
        assert_eq!(verdict.outcome, expected, "{mode}");
        assert!(verdict.reasons.iter().any(|it| it.text.starts_with("leaves the sandbox")));
    }
    check(Stance::ToolDecides { needs_approval: false }, &[Effect::LeavesSandbox], Ask);
    check(Stance::Unattended, &[Effect::LeavesSandbox], Allow);
}

#[test]
fn what_is_allowed_in_a_sandbox_asks_without_one() {
    let rules = "[[rule]]\neffect = 'allow'\ntool = 'Bash'\nargv = ['x']\nsandbox = 'required'";
    let file = RuleFile::parse(rules, Format::Toml, &anchors()).unwrap();
    let layer = Layer::of_file(Source::User, true, file);
    let policy = policy(RuleSet::new(vec![layer], anchors()), Mode::Default);
    let outcome = |sandboxed: bool, more: &[Effect]| {
        let mut plan = Plan { sandboxed, ..plan("x") };
        plan.effects.extend_from_slice(more);
        policy.verdict(&call("x"), &plan, Risk::High, Timestamp::UNIX_EPOCH).outcome
    };
    assert_eq!(outcome(false, &[]), Ask);
    assert_eq!(outcome(true, &[]), Allow);
    assert_eq!(outcome(true, &[Effect::LeavesSandbox]), Ask);
}

#[test]
fn the_library_asks_where_the_tool_says_so() {
    check(Stance::ToolDecides { needs_approval: true }, &[read(Side::Inside)], Outcome::Ask);
    check(Stance::ToolDecides { needs_approval: false }, &[write()], Outcome::Allow);
    check(Stance::Unattended, &[write()], Outcome::Allow);
}

#[test]
fn a_mode_decides_what_becomes_of_asking_and_of_nothing_else() {
    let rules = "deny = ['Bash(npm publish:*)']\nask = ['Bash(git push:*)']";
    let row = |command: &str| Mode::ALL.map(|mode| bash(command, rules, mode).outcome);
    //                                      plan  default acceptEdits dontAsk bypass
    assert_eq!(row("ls"), [Allow, Allow, Allow, Allow, Allow]);
    assert_eq!(row("touch a"), [Deny, Ask, Allow, Deny, Allow]);
    assert_eq!(row("touch .git/hooks/pre-commit"), [Deny, Ask, Ask, Deny, Allow]);
    assert_eq!(row("touch /etc/motd"), [Deny, Ask, Ask, Deny, Allow]);
    assert_eq!(row("npm install"), [Ask, Ask, Ask, Deny, Allow]);
    assert_eq!(row("git push"), [Ask, Ask, Ask, Deny, Ask]);
    assert_eq!(row("npm publish"), [Deny; 5]);
}

#[test]
fn every_effect_needs_something_that_allows_it() {
    let rules = "allow = ['Bash(npm test:*)', 'Bash(echo:*)', 'Bash(curl:*)', 'Bash(touch:*)']";
    let says = |command| bash(command, rules, Mode::Default).outcome;
    assert_eq!(says("npm test"), Outcome::Allow);
    assert_eq!(says("touch a"), Outcome::Allow);
    assert_eq!(says("npm test && ls | head -3"), Outcome::Allow);
    assert_eq!(says("npm test > report.txt"), Outcome::Ask);
    assert_eq!(says("echo hi > src/main.rs"), Outcome::Ask);
    assert_eq!(says("touch a > b"), Outcome::Ask);
    assert_eq!(says("touch .git/x"), Outcome::Ask);
    assert_eq!(says("touch /etc/x"), Outcome::Ask);
    assert_eq!(says("npm test; npm publish"), Outcome::Ask);
    assert_eq!(says("npm test $(rm x)"), Outcome::Ask);
    assert_eq!(says("curl https://evil.example"), Outcome::Ask);
    assert_eq!(says("sudo npm test"), Outcome::Ask);
    assert_eq!(says("bash -c 'npm test'"), Outcome::Ask);
    assert_eq!(says("npm test &"), Outcome::Ask);
    let shells = "allow = ['Bash', 'Bash(sh)', 'Bash(python3:*)']";
    for command in ["cat a | sh", "python3 < a", "cat a | python3 -", "bash -s x < a"] {
        assert_eq!(bash(command, shells, Mode::Default).outcome, Outcome::Ask, "{command}");
    }
    let and_host = "allow = ['Bash(curl:*)', 'WebFetch(domain:docs.rs)', 'Edit(/out/**)']";
    assert_eq!(bash("curl https://docs.rs/x", and_host, Mode::Default).outcome, Outcome::Allow);
    assert_eq!(
        bash("curl https://docs.rs/x > out/x", and_host, Mode::Default).outcome,
        Outcome::Allow
    );
}

#[test]
fn a_layer_that_is_not_trusted_only_tightens() {
    let text = "[permissions]\nallow = ['Bash(npm test)']\ndeny = ['Bash(npm audit)']\n\
                defaultMode = 'acceptEdits'";
    let file = RuleFile::parse(text, Format::Toml, &anchors()).unwrap();
    for (trusted, outcome, mode) in
        [(false, Outcome::Ask, Mode::Default), (true, Outcome::Allow, Mode::AcceptEdits)]
    {
        let layer = Layer::of_file(Source::Workspace, trusted, file.clone());
        let rules = RuleSet::new(vec![layer], anchors());
        assert_eq!(rules.mode(), mode);
        assert_eq!(judged("npm test", rules.clone(), Mode::Default).outcome, outcome);
        assert_eq!(judged("npm audit", rules, Mode::Default).outcome, Outcome::Deny);
    }
}

#[test]
fn a_layer_that_cannot_be_read_asks_for_everything_and_keeps_its_denials() {
    let before = RuleFile::parse(
        "[permissions]\nallow = ['Bash(npm test)']\ndeny = ['Bash(npm audit)']",
        Format::Toml,
        &anchors(),
    );
    let broken = Layer::broken(Source::User, "line 3".to_owned(), &before.unwrap().rules);
    let rules = RuleSet::new(vec![broken], anchors());
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions] {
        assert_eq!(judged("ls", rules.clone(), mode).outcome, Outcome::Ask);
        assert_eq!(judged("npm test", rules.clone(), mode).outcome, Outcome::Ask);
        assert_eq!(judged("npm audit", rules.clone(), mode).outcome, Outcome::Deny);
    }
}

#[test]
fn a_rule_that_has_expired_says_nothing() {
    let text = "[[rule]]\nid = 'a'\neffect = 'allow'\ntool = 'Bash'\nargv = ['npm', 'test']\n\
                expires = 1970-01-02";
    let file = RuleFile::parse(text, Format::Toml, &anchors()).unwrap();
    assert_eq!(file.problems, []);
    let rules = RuleSet::new(vec![Layer::of_file(Source::User, true, file)], anchors());
    assert_eq!(judged("npm test", rules.clone(), Mode::Default).outcome, Outcome::Allow);
    let policy = policy(rules, Mode::Default);
    let plan = plan("npm test");
    let later = "1970-01-02T00:00:00Z".parse().unwrap();
    let verdict = policy.verdict(&call("npm test"), &plan, risk::assess(&plan.effects), later);
    assert_eq!(verdict.outcome, Outcome::Ask);
}

#[test]
fn reasons_name_the_part_and_the_rule() {
    let verdict = bash("ls && npm audit | cat", "deny = ['Bash(npm audit:*)']", Mode::Default);
    let reason = verdict.reasons.first().unwrap();
    assert_eq!((reason.outcome, reason.part), (Outcome::Deny, Some(1)));
    assert_eq!(reason.text, "runs `npm audit`; your rules deny `Bash(npm audit:*)`");
    assert_eq!(verdict.of_part(0), Some(Outcome::Allow));
    assert_eq!(verdict.rules().len(), 1);
}

#[track_caller]
fn check(stance: Stance, effects: &[Effect], outcome: Outcome) {
    let plan = Plan::new(effects.to_vec(), "");
    let risk = risk::assess(effects);
    let verdict =
        Policy::without_rules(stance).verdict(&call("x"), &plan, risk, Timestamp::UNIX_EPOCH);
    assert_eq!(verdict.outcome, outcome, "{stance:?} {effects:?}");
    assert!(verdict.reasons.iter().any(|reason| reason.outcome == outcome));
}

fn read(side: Side) -> Effect {
    Effect::Read(Target::new("/p", Place { side, special: None }))
}

fn write() -> Effect {
    Effect::Write(Target::new("/p", Place { side: Side::Inside, special: None }))
}

/// The verdict on a command under rules written as in a file's `[permissions]`.
pub(crate) fn bash(command: &str, permissions: &str, mode: Mode) -> Verdict {
    let text = format!("[permissions]\n{permissions}");
    let file = RuleFile::parse(&text, Format::Toml, &anchors()).unwrap();
    let layer = Layer::of_file(Source::User, true, file);
    judged(command, RuleSet::new(vec![layer], anchors()), mode)
}

fn judged(command: &str, rules: RuleSet, mode: Mode) -> Verdict {
    let plan = plan(command);
    let risk = risk::assess(&plan.effects);
    policy(rules, mode).verdict(&call(command), &plan, risk, Timestamp::UNIX_EPOCH)
}

fn policy(rules: RuleSet, mode: Mode) -> Policy {
    Policy { stance: Stance::Attended { auto_approve_read: true }, mode, rules: Arc::new(rules) }
}

pub(crate) fn plan(command: &str) -> Plan {
    let context = shell::Context {
        cwd: Path::new(WORKSPACE),
        home: Some(Path::new(HOME)),
        env: &[],
        own: &[],
        machine: &Fake,
    };
    let shell::Analysis { parts, mut effects, floors, .. } = shell::analyse(command, &context);
    effects.extend(floors.into_iter().map(|floor| Effect::Forbidden { why: floor.reason }));
    Plan { commands: parts, ..Plan::new(effects, "") }
}

pub(crate) fn anchors() -> Anchors {
    Anchors { root: WORKSPACE.into(), home: Some(HOME.into()) }
}

pub(crate) fn call(command: &str) -> ToolCall {
    ToolCall {
        id: Uuid::nil().into(),
        project: "p".into(),
        session: "s".into(),
        run: None,
        tool_use_id: "t".into(),
        tool_name: "Bash".to_owned(),
        input: json!({ "command": command }),
        cwd: WORKSPACE.into(),
        executor: crate::Executor::Local,
        agent: None,
    }
}

/// A machine with a workspace at `/ws`, a clean repository, and every program in `/usr/bin`.
struct Fake;

impl Machine for Fake {
    fn target(&self, cwd: &Path, path: &str) -> Option<Target> {
        let path = lexical(&cwd.join(path));
        let place = Place::of(&path, &[PathBuf::from(WORKSPACE)]);
        Some(Target::new(path, place))
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<Target>> {
        let hit = cwd == Path::new(WORKSPACE) && pattern.starts_with(".e");
        Some(hit.then(|| self.target(cwd, ".env")).flatten().into_iter().collect())
    }

    fn secrets_below(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<Target> {
        self.target(cwd, path)
    }

    /// What has no dot in its name is a folder, and all of them are empty.
    fn kind(&self, path: &Path) -> Option<TreeKind> {
        let is_file = path.extension().is_some() || path.ends_with(".env");
        Some(if is_file { TreeKind::File } else { TreeKind::Folder })
    }

    fn tree(&self, path: &Path) -> Option<Arc<Tree>> {
        Some(Arc::new(Tree { kind: self.kind(path)?, entries: Vec::new() }))
    }

    fn arrivals(&self, _: &Path, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }

    fn searched_secrets(&self, _: &Path, _: &Path, _: &Search) -> Option<Vec<Target>> {
        Some(Vec::new())
    }

    fn has_file_above(&self, _: &Path, _: &[&str]) -> Option<bool> {
        Some(false)
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        (!name.is_empty()).then(|| Path::new("/usr/bin").join(name))
    }

    fn git_hazards(&self, _: &Path) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn git_tracked_secrets(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }

    fn git_tracked_links(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }
}

#[test]
fn a_folder_read_as_a_whole_asks_where_a_denial_lies_in_it() {
    let rules = "deny = ['Read(/private/**)', 'Edit(/keep/x)']";
    let says = |command| bash(command, rules, Mode::Default).outcome;
    assert_eq!(says("grep -rn x src"), Allow);
    assert_eq!(says("grep -rn x ."), Ask);
    assert_eq!(says("grep -rn x private"), Deny);
    assert_eq!(says("cat private/a"), Deny);
    assert_eq!(says("ls"), Allow);
    let in_bypass = |command| bash(command, rules, Mode::BypassPermissions).outcome;
    assert_eq!(in_bypass("rm -r keep"), Ask);
    assert_eq!(in_bypass("rm -r keep/x"), Deny);
    assert_eq!(in_bypass("rm -r other"), Allow);
}

#[test]
fn a_link_is_meant_by_either_name_to_deny_and_by_both_to_allow() {
    let linked = |outcome: &str, rule: &str| {
        let place = Place { side: Side::Inside, special: None };
        let target = Target::new("/ws/real/a", place).written("/ws/link/a".into());
        let plan = Plan::new(vec![Effect::Write(target)], "");
        let text = format!("[permissions]\n{outcome} = ['{rule}']");
        let file = RuleFile::parse(&text, Format::Toml, &anchors()).unwrap();
        let rules = RuleSet::new(vec![Layer::of_file(Source::User, true, file)], anchors());
        let risk = risk::assess(&plan.effects);
        let policy = policy(rules, Mode::Default);
        policy.verdict(&call("x"), &plan, risk, Timestamp::UNIX_EPOCH).outcome
    };
    assert_eq!(linked("deny", "Edit(/link/**)"), Deny);
    assert_eq!(linked("deny", "Edit(/real/**)"), Deny);
    assert_eq!(linked("allow", "Edit(/link/**)"), Ask);
    assert_eq!(linked("allow", "Edit(/real/**)"), Ask);
    assert_eq!(linked("allow", "Edit(/*/a)"), Allow);
}
