//! Calls as Claude Code makes them.

use countersign_core::{Effect, Preview, Risk, risk};
use countersign_tools::asks_by_itself;
use serde_json::{Value, json};

use crate::world::{World, assert_has};

/// Every tool that 2.1.325 offers, with every field its schema has.
#[test]
fn every_tool_of_claude_code_can_be_planned_with_all_its_fields() {
    let world = World::with_file("a.txt", "one\n");
    world.write("n.ipynb", r#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#);
    for (tool, input) in [
        (
            "Agent",
            json!({"description": "a", "prompt": "b", "subagent_type": "c", "model": "opus",
                   "effort": "low", "run_in_background": true, "isolation": "worktree"}),
        ),
        (
            "Bash",
            json!({"command": "ls", "timeout": 1000, "description": "a", "run_in_background": true,
                   "dangerouslyDisableSandbox": false}),
        ),
        (
            "Edit",
            json!({"file_path": "a.txt", "old_string": "one", "new_string": "two", "replace_all": true}),
        ),
        (
            "Read",
            json!({"file_path": "a.txt", "offset": 1, "limit": 2, "pages": "1-2", "allow_large": true}),
        ),
        ("Write", json!({"file_path": "a.txt", "content": "x"})),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "new_source": "x", "cell_type": "code", "edit_mode": "insert"}),
        ),
        ("WebFetch", json!({"url": "https://example.com/", "prompt": "x"})),
        ("WebSearch", json!({"query": "x", "allowed_domains": ["example.com"]})),
        ("ListAgents", json!({"channel": "a", "q": "b"})),
        ("ReportFindings", json!({"level": "a", "findings": []})),
        ("ScheduleWakeup", json!({"delaySeconds": 60, "reason": "a", "prompt": "b"})),
        ("Skill", json!({"skill": "a", "args": "b"})),
        ("ToolSearch", json!({"query": "a", "max_results": 5})),
        ("AskUserQuestion", json!({"questions": []})),
        ("EnterPlanMode", json!({})),
        ("ExitPlanMode", json!({"plan": "a"})),
        ("CronCreate", json!({"cron": "* * * * *", "prompt": "a"})),
        ("CronDelete", json!({"id": "a"})),
        ("CronList", json!({})),
        (
            "Monitor",
            json!({"command": "ls", "description": "a", "timeout_ms": 1, "persistent": true}),
        ),
        ("TaskStop", json!({"task_id": "a"})),
    ] {
        let planner = world.catalogue.planner(tool).unwrap_or_else(|| panic!("{tool}"));
        let call = world.call(tool, input);
        planner.plan(&call).unwrap_or_else(|error| panic!("{tool}: {error}"));
        planner.preview(&call).unwrap_or_else(|error| panic!("{tool}: {error}"));
    }
}

#[test]
fn what_it_keeps_for_itself_is_low_and_what_asks_itself_is_left_to_it() {
    let world = World::new();
    let risk = |tool: &str| risk::assess(&world.plan(tool, json!({})).unwrap().effects);
    for tool in [
        "BashOutput",
        "KillShell",
        "TaskCreate",
        "TaskList",
        "ToolSearch",
        "CronList",
        "SendMessage",
        "TeamCreate",
        "LSP",
    ] {
        assert_eq!(risk(tool), Risk::Low, "{tool}");
        assert!(!asks_by_itself(tool), "{tool}");
    }
    for tool in ["AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "Skill"] {
        assert_eq!(risk(tool), Risk::High, "{tool}");
        assert!(asks_by_itself(tool), "{tool}");
    }
    for tool in ["CronCreate", "PowerShell", "EnterWorktree", "RemoteTrigger"] {
        assert_eq!(risk(tool), Risk::High, "{tool}");
    }
}

#[test]
fn a_name_nobody_knows_is_opaque_and_a_known_one_is_itself() {
    let world = World::new();
    let plan = |tool: &str, input: Value| {
        world.catalogue.planner_of_any(tool).plan(&world.call(tool, input))
    };
    for tool in ["Frobnicate", "", "read", "mcp__*__x", "Read\u{202e}"] {
        let plan = plan(tool, json!({"a": 1})).unwrap();
        assert!(matches!(plan.effects.as_slice(), [Effect::Opaque { .. }]), "{tool}");
        assert!(!plan.summary.contains('\u{202e}'));
    }
    assert_has(&plan("Frobnicate", json!([])).unwrap_err().0, "expected an object");
    assert_has(&plan("Read", json!({"file_path": 1})).unwrap_err().0, "file_path");
}

#[test]
fn fields_and_values_that_only_it_knows_are_no_reason_to_refuse() {
    let world = World::with_file("a.txt", "one\n");
    for (tool, input) in [
        ("Bash", json!({"command": "ls", "timeout": 3_000_000, "run_in_background": true})),
        ("Bash", json!({"command": "ls", "timeout": 0})),
        ("Read", json!({"file_path": "a.txt", "offset": 0})),
        ("Read", json!({"file_path": "a.txt", "pages": [1], "limit": 0})),
        ("Grep", json!({"pattern": "one", "context": 3, "-o": true})),
        ("Grep", json!({"pattern": "[", "path": "."})),
        ("Agent", json!({"description": "a", "prompt": "b", "team_name": "c", "name": "d"})),
        ("Glob", json!({"pattern": "*.txt", "new_in_2027": {"a": [1]}})),
    ] {
        let planner = world.catalogue.planner(tool).unwrap_or_else(|| panic!("{tool}"));
        let call = world.call(tool, input);
        planner.plan(&call).unwrap_or_else(|error| panic!("{tool}: {error}"));
        planner.preview(&call).unwrap_or_else(|error| panic!("{tool}: {error}"));
    }
}

#[test]
fn a_field_nobody_knows_is_shown_to_the_person() {
    let world = World::new();
    let bash = world.catalogue.planner("Bash").unwrap();
    let call = world.call("Bash", json!({"command": "ls", "on_host": "x", "offset": 1}));
    assert_has(&bash.plan(&call).unwrap().summary, "the field `on_host` is not known here");
    let Preview::Command(preview) = bash.preview(&call).unwrap() else { panic!("no command") };
    assert_eq!(preview.warnings, ["the field `on_host` is not known here"]);
}

#[test]
fn fields_that_carry_effects_are_read_strictly() {
    let world = World::new();
    for (tool, input) in [
        ("Bash", json!({"command": ["ls"]})),
        ("Bash", json!({"command": "ls", "dangerouslyDisableSandbox": 1})),
        ("Read", json!({"file_path": 1})),
        ("Grep", json!({"pattern": "x", "path": ["a"]})),
        ("LSP", json!({"filePath": 1})),
    ] {
        assert_has(&world.plan(tool, input).unwrap_err().0, "expected a");
    }
    let out = world.plan("Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}));
    assert!(out.unwrap().effects.contains(&Effect::LeavesSandbox));
}

#[test]
fn a_command_that_is_watched_is_judged_as_one_and_goes_on() {
    let world = World::new();
    let plan = world.plan("Monitor", json!({"command": "rm -rf /"})).unwrap();
    assert!(plan.effects.iter().any(|effect| matches!(effect, Effect::Forbidden { .. })));
    assert!(plan.effects.iter().any(|effect| matches!(effect, Effect::RunsLater { .. })));
    assert_eq!(plan.commands.len(), 1);
    assert_has(&world.plan("Monitor", json!({"command": ["ls"]})).unwrap_err().0, "`command`");
}
