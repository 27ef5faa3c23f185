//! The pipeline as a whole: stances, modes, layers, and the corpus' rows that come with rules.

mod corpus;
mod properties;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::VerdictAction::{Allow, Ask, Deny};
use crate::rule::{RuleFile, RuleFileFormat, RuleLayer, RuleSource};
use crate::shell::{self, FileTree, Machine, SearchScope, TreeKind};
use crate::{EffectTarget, PathClass, WorkspaceSide, normalize_lexically, risk};

pub(super) const WORKSPACE: &str = "/ws";
pub(super) const HOME: &str = "/home/me";

#[test]
fn attended_low_runs_the_rest_asks() {
    let stance = Supervision::Attended { auto_approve_read: true };
    check(stance, &[read(WorkspaceSide::Inside)], VerdictAction::Allow);
    check(stance, &[read(WorkspaceSide::Outside)], VerdictAction::Ask);
    check(stance, &[read(WorkspaceSide::Inside), write()], VerdictAction::Ask);
    check(stance, &[], VerdictAction::Ask);
}

#[test]
fn with_automatic_reads_off_everything_asks() {
    let stance = Supervision::Attended { auto_approve_read: false };
    check(stance, &[read(WorkspaceSide::Inside)], VerdictAction::Ask);
}

#[test]
fn what_is_forbidden_is_denied_in_every_stance_and_mode() {
    let forbidden = || Effect::Forbidden { why: "destroys the system".into() };
    for stance in [
        Supervision::Attended { auto_approve_read: true },
        Supervision::ToolDecides { needs_approval: false },
        Supervision::Unattended,
    ] {
        check(stance, &[read(WorkspaceSide::Inside), forbidden()], VerdictAction::Deny);
    }
    for mode in PermissionMode::ALL {
        assert_eq!(bash("rm -rf /", "", mode).outcome, VerdictAction::Deny, "{mode}");
    }
}

#[test]
fn a_child_agent_starts_where_edits_are_accepted_and_its_calls_are_judged() {
    let start = |effects: Vec<Effect>, mode| {
        let plan = CallPlan::new(effects, "start an agent");
        let policy = policy(RuleSet::new(Vec::new(), anchors()), mode);
        policy.verdict(&call("x"), &plan, Risk::High, Timestamp::UNIX_EPOCH).outcome
    };
    let child = || Effect::SpawnAgent { agent: "explore".into() };
    assert_eq!(start(vec![child()], PermissionMode::AcceptEdits), Allow);
    assert_eq!(start(vec![child()], PermissionMode::Default), Ask);
    assert_eq!(start(vec![child()], PermissionMode::Plan), Ask);
    let more = Effect::Forbidden { why: "more authority".into() };
    assert_eq!(start(vec![child(), more], PermissionMode::AcceptEdits), Deny);
    let elsewhere = Effect::Opaque { why: "runs elsewhere".into() };
    assert_eq!(start(vec![child(), elsewhere], PermissionMode::AcceptEdits), Ask);
    // An agent that a command starts asks nobody.
    assert_eq!(bash("claude -p x", "", PermissionMode::AcceptEdits).outcome, Ask);
}

#[test]
fn known_places_are_read_and_only_scratch_and_plans_are_changed() {
    let judged = |command: &str, mode| bash(command, "", mode).outcome;
    let (asking, editing) = (PermissionMode::Default, PermissionMode::AcceptEdits);
    assert_eq!(judged("cat /home/me/go/pkg/mod/a@v1/b.go", asking), Allow);
    assert_eq!(judged("cat /home/me/.claude/projects/-ws/memory/a.md", asking), Allow);
    assert_eq!(judged("cat /home/me/.claude/projects/-other/a.jsonl", asking), Ask);
    assert_eq!(judged("cat /home/me/go/pkg/mod/a@v1/.env", asking), Ask);
    assert_eq!(judged("touch /home/me/.claude/plans/a.md", asking), Ask);
    assert_eq!(judged("touch /home/me/.claude/plans/a.md", editing), Allow);
    assert_eq!(judged("touch /tmp/claude-1000/-ws/s1/a", editing), Allow);
    for command in [
        "touch /home/me/go/pkg/mod/a@v1/b.go",
        "touch /home/me/.claude/projects/-ws/memory/a.md",
        "touch /home/me/.claude/settings.json",
        "touch /tmp/a",
    ] {
        assert_eq!(judged(command, editing), Ask, "{command}");
    }
}

#[test]
fn a_read_from_a_service_asks_and_one_rule_covers_it() {
    let judged = |rules: &str| bash("gh pr view 1", rules, PermissionMode::Default).outcome;
    assert_eq!(judged(""), Ask);
    assert_eq!(judged("allow = ['Bash(gh pr view:*)']"), Allow);
    assert_eq!(bash("gh pr view 1", "", PermissionMode::AcceptEdits).outcome, Ask);
    let merge = bash("gh pr merge 1", "allow = ['Bash(gh pr view:*)']", PermissionMode::Default);
    assert_eq!(merge.outcome, Ask);
}

#[test]
fn to_leave_the_sandbox_is_asked_for_whatever_allows_the_command() {
    let leaving = |rules: &str, mode| {
        let file = RuleFile::parse(rules, RuleFileFormat::Toml, &anchors()).unwrap();
        let layer = RuleLayer::from_file(RuleSource::User, true, file);
        let mut plan = plan("ls");
        plan.effects.push(Effect::LeavesSandbox);
        let policy = policy(RuleSet::new(vec![layer], anchors()), mode);
        policy.verdict(&call("ls"), &plan, Risk::High, Timestamp::UNIX_EPOCH)
    };
    let all = "[permissions]\nallow = ['Bash', 'Bash(ls:*)']";
    for mode in PermissionMode::ALL {
        let expected = if mode == PermissionMode::DontAsk { Deny } else { Ask };
        let verdict = leaving(all, mode);
        assert_eq!(verdict.outcome, expected, "{mode}");
        assert!(verdict.reasons.iter().any(|it| it.text.starts_with("leaves the sandbox")));
    }
    check(Supervision::ToolDecides { needs_approval: false }, &[Effect::LeavesSandbox], Ask);
    check(Supervision::Unattended, &[Effect::LeavesSandbox], Allow);
}

#[test]
fn what_is_allowed_in_a_sandbox_asks_without_one() {
    let rules = "[[rule]]\neffect = 'allow'\ntool = 'Bash'\nargv = ['x']\nsandbox = 'required'";
    let file = RuleFile::parse(rules, RuleFileFormat::Toml, &anchors()).unwrap();
    let layer = RuleLayer::from_file(RuleSource::User, true, file);
    let policy = policy(RuleSet::new(vec![layer], anchors()), PermissionMode::Default);
    let outcome = |sandboxed: bool, more: &[Effect]| {
        let mut plan = CallPlan { sandboxed, ..plan("x") };
        plan.effects.extend_from_slice(more);
        policy.verdict(&call("x"), &plan, Risk::High, Timestamp::UNIX_EPOCH).outcome
    };
    assert_eq!(outcome(false, &[]), Ask);
    assert_eq!(outcome(true, &[]), Allow);
    assert_eq!(outcome(true, &[Effect::LeavesSandbox]), Ask);
}

#[test]
fn the_library_asks_where_the_tool_says_so() {
    check(
        Supervision::ToolDecides { needs_approval: true },
        &[read(WorkspaceSide::Inside)],
        VerdictAction::Ask,
    );
    check(Supervision::ToolDecides { needs_approval: false }, &[write()], VerdictAction::Allow);
    check(Supervision::Unattended, &[write()], VerdictAction::Allow);
}

#[test]
fn a_mode_decides_what_becomes_of_asking_and_of_nothing_else() {
    let rules = "deny = ['Bash(npm publish:*)']\nask = ['Bash(git push:*)']";
    let row = |command: &str| PermissionMode::ALL.map(|mode| bash(command, rules, mode).outcome);
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
    let says = |command| bash(command, rules, PermissionMode::Default).outcome;
    assert_eq!(says("npm test"), VerdictAction::Allow);
    assert_eq!(says("touch a"), VerdictAction::Allow);
    assert_eq!(says("npm test && ls | head -3"), VerdictAction::Allow);
    assert_eq!(says("npm test > report.txt"), VerdictAction::Ask);
    assert_eq!(says("echo hi > src/main.rs"), VerdictAction::Ask);
    assert_eq!(says("touch a > b"), VerdictAction::Ask);
    assert_eq!(says("touch .git/x"), VerdictAction::Ask);
    assert_eq!(says("touch /etc/x"), VerdictAction::Ask);
    assert_eq!(says("npm test; npm publish"), VerdictAction::Ask);
    assert_eq!(says("npm test $(rm x)"), VerdictAction::Ask);
    assert_eq!(says("curl https://evil.example"), VerdictAction::Ask);
    assert_eq!(says("sudo npm test"), VerdictAction::Ask);
    assert_eq!(says("bash -c 'npm test'"), VerdictAction::Ask);
    assert_eq!(says("npm test &"), VerdictAction::Ask);
    let shells = "allow = ['Bash', 'Bash(sh)', 'Bash(python3:*)']";
    for command in ["cat a | sh", "python3 < a", "cat a | python3 -", "bash -s x < a"] {
        assert_eq!(
            bash(command, shells, PermissionMode::Default).outcome,
            VerdictAction::Ask,
            "{command}"
        );
    }
    let and_host = "allow = ['Bash(curl:*)', 'WebFetch(domain:docs.rs)', 'Edit(/out/**)']";
    assert_eq!(
        bash("curl https://docs.rs/x", and_host, PermissionMode::Default).outcome,
        VerdictAction::Allow
    );
    assert_eq!(
        bash("curl https://docs.rs/x > out/x", and_host, PermissionMode::Default).outcome,
        VerdictAction::Allow
    );
}

#[test]
fn a_layer_that_is_not_trusted_only_tightens() {
    let text = "[permissions]\nallow = ['Bash(npm test)']\ndeny = ['Bash(npm audit)']\n\
                defaultMode = 'acceptEdits'";
    let file = RuleFile::parse(text, RuleFileFormat::Toml, &anchors()).unwrap();
    for (trusted, outcome, mode) in [
        (false, VerdictAction::Ask, PermissionMode::Default),
        (true, VerdictAction::Allow, PermissionMode::AcceptEdits),
    ] {
        let layer = RuleLayer::from_file(RuleSource::Workspace, trusted, file.clone());
        let rules = RuleSet::new(vec![layer], anchors());
        assert_eq!(rules.mode(), mode);
        assert_eq!(judged("npm test", rules.clone(), PermissionMode::Default).outcome, outcome);
        assert_eq!(
            judged("npm audit", rules, PermissionMode::Default).outcome,
            VerdictAction::Deny
        );
    }
}

#[test]
fn a_layer_that_cannot_be_read_asks_for_everything_and_keeps_its_denials() {
    let before = RuleFile::parse(
        "[permissions]\nallow = ['Bash(npm test)']\ndeny = ['Bash(npm audit)']",
        RuleFileFormat::Toml,
        &anchors(),
    );
    let broken = RuleLayer::for_unreadable_file(
        RuleSource::User,
        "line 3".to_owned(),
        &before.unwrap().rules,
    );
    let rules = RuleSet::new(vec![broken], anchors());
    for mode in
        [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::BypassPermissions]
    {
        assert_eq!(judged("ls", rules.clone(), mode).outcome, VerdictAction::Ask);
        assert_eq!(judged("npm test", rules.clone(), mode).outcome, VerdictAction::Ask);
        assert_eq!(judged("npm audit", rules.clone(), mode).outcome, VerdictAction::Deny);
    }
}

#[test]
fn a_rule_that_has_expired_says_nothing() {
    let text = "[[rule]]\nid = 'a'\neffect = 'allow'\ntool = 'Bash'\nargv = ['npm', 'test']\n\
                expires = 1970-01-02";
    let file = RuleFile::parse(text, RuleFileFormat::Toml, &anchors()).unwrap();
    assert_eq!(file.problems, []);
    let rules = RuleSet::new(vec![RuleLayer::from_file(RuleSource::User, true, file)], anchors());
    assert_eq!(
        judged("npm test", rules.clone(), PermissionMode::Default).outcome,
        VerdictAction::Allow
    );
    let policy = policy(rules, PermissionMode::Default);
    let plan = plan("npm test");
    let later = "1970-01-02T00:00:00Z".parse().unwrap();
    let verdict = policy.verdict(&call("npm test"), &plan, risk::assess(&plan.effects), later);
    assert_eq!(verdict.outcome, VerdictAction::Ask);
}

#[test]
fn reasons_name_the_part_and_the_rule() {
    let verdict =
        bash("ls && npm audit | cat", "deny = ['Bash(npm audit:*)']", PermissionMode::Default);
    let reason = verdict.reasons.first().unwrap();
    assert_eq!((reason.outcome, reason.part), (VerdictAction::Deny, Some(1)));
    assert_eq!(reason.text, "runs `npm audit`; your rules deny `Bash(npm audit:*)`");
    assert_eq!(verdict.action_for_part(0), Some(VerdictAction::Allow));
    assert_eq!(verdict.rules().len(), 1);
}

#[track_caller]
fn check(stance: Supervision, effects: &[Effect], outcome: VerdictAction) {
    let plan = CallPlan::new(effects.to_vec(), "");
    let risk = risk::assess(effects);
    let verdict =
        Policy::without_rules(stance).verdict(&call("x"), &plan, risk, Timestamp::UNIX_EPOCH);
    assert_eq!(verdict.outcome, outcome, "{stance:?} {effects:?}");
    assert!(verdict.reasons.iter().any(|reason| reason.outcome == outcome));
}

fn read(side: WorkspaceSide) -> Effect {
    Effect::Read(EffectTarget::new("/p", PathClass { side, special: None }))
}

fn write() -> Effect {
    Effect::Write(EffectTarget::new("/p", PathClass { side: WorkspaceSide::Inside, special: None }))
}

/// The verdict on a command under rules written as in a file's `[permissions]`.
pub(crate) fn bash(command: &str, permissions: &str, mode: PermissionMode) -> Verdict {
    let text = format!("[permissions]\n{permissions}");
    let file = RuleFile::parse(&text, RuleFileFormat::Toml, &anchors()).unwrap();
    let layer = RuleLayer::from_file(RuleSource::User, true, file);
    judged(command, RuleSet::new(vec![layer], anchors()), mode)
}

fn judged(command: &str, rules: RuleSet, mode: PermissionMode) -> Verdict {
    let plan = plan(command);
    let risk = risk::assess(&plan.effects);
    policy(rules, mode).verdict(&call(command), &plan, risk, Timestamp::UNIX_EPOCH)
}

fn policy(rules: RuleSet, mode: PermissionMode) -> Policy {
    Policy {
        stance: Supervision::Attended { auto_approve_read: true },
        mode,
        rules: Arc::new(rules),
    }
}

pub(crate) fn plan(command: &str) -> CallPlan {
    let context = shell::ShellContext {
        cwd: Path::new(WORKSPACE),
        home: Some(Path::new(HOME)),
        env: &[],
        own: &[],
        machine: &Fake,
    };
    let shell::CommandAnalysis { parts, mut effects, denials, .. } =
        shell::analyse(command, &context);
    effects.extend(denials.into_iter().map(|denial| Effect::Forbidden { why: denial.reason }));
    CallPlan { commands: parts, ..CallPlan::new(effects, "") }
}

pub(crate) fn anchors() -> PatternAnchors {
    PatternAnchors { root: WORKSPACE.into(), home: Some(HOME.into()) }
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
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let path = normalize_lexically(&cwd.join(path));
        let place = PathClass::from_path(&path, &[PathBuf::from(WORKSPACE)]);
        Some(EffectTarget::new(path, place))
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<EffectTarget>> {
        let hit = cwd == Path::new(WORKSPACE) && pattern.starts_with(".e");
        Some(hit.then(|| self.target(cwd, ".env")).flatten().into_iter().collect())
    }

    fn secrets_below(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        self.target(cwd, path)
    }

    /// What has no dot in its name is a folder, and all of them are empty.
    fn kind(&self, path: &Path) -> Option<TreeKind> {
        let is_file = path.extension().is_some() || path.ends_with(".env");
        Some(if is_file { TreeKind::File } else { TreeKind::Folder })
    }

    fn tree(&self, path: &Path) -> Option<Arc<FileTree>> {
        Some(Arc::new(FileTree { kind: self.kind(path)?, entries: Vec::new() }))
    }

    fn arrivals(&self, _: &Path, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn searched_secrets(&self, _: &Path, _: &Path, _: &SearchScope) -> Option<Vec<EffectTarget>> {
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

    fn git_tracked_secrets(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn git_tracked_links(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }
}

#[test]
fn a_folder_read_as_a_whole_asks_where_a_denial_lies_in_it() {
    let rules = "deny = ['Read(/private/**)', 'Edit(/keep/x)']";
    let says = |command| bash(command, rules, PermissionMode::Default).outcome;
    assert_eq!(says("grep -rn x src"), Allow);
    assert_eq!(says("grep -rn x ."), Ask);
    assert_eq!(says("grep -rn x private"), Deny);
    assert_eq!(says("cat private/a"), Deny);
    assert_eq!(says("ls"), Allow);
    let in_bypass = |command| bash(command, rules, PermissionMode::BypassPermissions).outcome;
    assert_eq!(in_bypass("rm -r keep"), Ask);
    assert_eq!(in_bypass("rm -r keep/x"), Deny);
    assert_eq!(in_bypass("rm -r other"), Allow);
}

#[test]
fn a_link_is_meant_by_either_name_to_deny_and_by_both_to_allow() {
    let linked = |outcome: &str, rule: &str| {
        let place = PathClass { side: WorkspaceSide::Inside, special: None };
        let target = EffectTarget::new("/ws/real/a", place).with_written_path("/ws/link/a".into());
        let plan = CallPlan::new(vec![Effect::Write(target)], "");
        let text = format!("[permissions]\n{outcome} = ['{rule}']");
        let file = RuleFile::parse(&text, RuleFileFormat::Toml, &anchors()).unwrap();
        let rules =
            RuleSet::new(vec![RuleLayer::from_file(RuleSource::User, true, file)], anchors());
        let risk = risk::assess(&plan.effects);
        let policy = policy(rules, PermissionMode::Default);
        policy.verdict(&call("x"), &plan, risk, Timestamp::UNIX_EPOCH).outcome
    };
    assert_eq!(linked("deny", "Edit(/link/**)"), Deny);
    assert_eq!(linked("deny", "Edit(/real/**)"), Deny);
    assert_eq!(linked("allow", "Edit(/link/**)"), Ask);
    assert_eq!(linked("allow", "Edit(/real/**)"), Ask);
    assert_eq!(linked("allow", "Edit(/*/a)"), Allow);
}
