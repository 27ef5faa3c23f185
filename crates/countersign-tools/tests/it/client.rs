use countersign_core::shell::Finding;
use countersign_core::{Effect, Invalid, Preview, Risk, risk};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn files_of_the_project_are_judged_without_looking() {
    let world = World::new();
    check(&world, "read_file", json!({"path": "src/main.rs"}), Risk::Low);
    check(&world, "read_file", json!({"path": ".env"}), Risk::High);
    check(&world, "list_directory", json!({"path": "src/.."}), Risk::Low);
    check(&world, "write_file", json!({"path": "a", "content": "x"}), Risk::Medium);
    check(&world, "write_file", json!({"path": ".git/config", "content": "x"}), Risk::High);
    // A link here says nothing about the other machine.
    world.link("/etc", "door");
    check(&world, "read_file", json!({"path": "door/hosts"}), Risk::Low);
}

#[test]
fn what_lies_outside_is_invalid() {
    let world = World::new();
    for path in ["../x", "/etc/passwd", "a/../../x"] {
        for tool in ["read_file", "list_directory"] {
            let Invalid(text) = world.plan(tool, json!({"path": path})).unwrap_err();
            assert_has(&text, "lies outside the project");
        }
    }
    let cwd = json!({"command": "ls", "cwd": ".."});
    assert_has(&world.plan("execute_command", cwd).unwrap_err().0, "lies outside the project");
    assert!(world.plan("write_file", json!({"path": ".", "content": ""})).is_err());
}

#[test]
fn a_command_is_its_words_and_nothing_in_them() {
    let world = World::new();
    let input = json!({"command": "echo", "args": ["a; rm -rf /", "$(x)", "it's"]});
    let plan = world.plan("execute_command", input.clone()).unwrap();
    assert_eq!(plan.commands.len(), 1);
    let words: Vec<_> = plan.commands[0].argv.iter().map(|word| word.shown().to_owned()).collect();
    assert_eq!(words, ["echo", "a; rm -rf /", "$(x)", "it's"]);
    assert!(matches!(plan.commands[0].finding, Finding::Unproven { .. }));
    assert_eq!(risk::assess(&plan.effects), Risk::High);
    let Preview::Command(shown) = world.preview("execute_command", input).unwrap() else {
        panic!("no command")
    };
    assert_eq!(shown.command, r"'echo' 'a; rm -rf /' '$(x)' 'it'\''s'");
    assert_eq!((shown.cwd, shown.timeout_ms), (world.root.display().to_string(), 60_000));
}

#[test]
fn floors_hold_on_every_machine() {
    let world = World::new();
    for input in [
        json!({"command": "rm", "args": ["-rf", "/"]}),
        json!({"command": "bash", "args": ["-c", "rm -rf /"]}),
        json!({"command": "curl", "args": ["http://169.254.169.254/"]}),
    ] {
        let plan = world.plan("execute_command", input.clone()).unwrap();
        let forbidden = plan.effects.iter().any(|it| matches!(it, Effect::Forbidden { .. }));
        assert!(forbidden, "{input}");
    }
}

#[test]
fn limits_are_said_clearly() {
    let world = World::new();
    let fails = |tool, input, says| assert_has(&world.plan(tool, input).unwrap_err().0, says);
    fails("execute_command", json!({"command": " "}), "`command` is empty");
    fails("execute_command", json!({"command": "ls "}), "blanks at an end");
    fails("execute_command", json!({"command": "ls\nrm"}), "control character");
    fails("execute_command", json!({"command": "ls", "args": ["a\0"]}), "`args[0]` holds a NUL");
    fails("execute_command", json!({"command": "ls", "args": vec!["a"; 1025]}), "limit is 1024");
    let long = json!({"command": "ls", "args": ["x".repeat(33_000)]});
    fails("execute_command", long, "the limit is 32768");
    fails("execute_command", json!({"command": "ls", "timeout": 4000}), "at most 3600 seconds");
    fails("read_file", json!({"path": "x".repeat(4097)}), "the limit is 4096");
    let large = json!({"path": "a", "content": "x".repeat(11 * 1024 * 1024)});
    fails("write_file", large, "`content` has 11.5 MB, the limit is 10.4 MB");
}

#[track_caller]
fn check(world: &World, tool: &str, input: Value, risk: Risk) {
    let plan = world.plan(tool, input.clone()).unwrap();
    assert_eq!(risk::assess(&plan.effects), risk, "{tool} {input}");
    assert!(world.preview(tool, input).is_ok());
}
