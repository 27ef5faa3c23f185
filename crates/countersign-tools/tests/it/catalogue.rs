use countersign_core::{CallPlan, Effect, InvalidCall, Risk, risk};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn every_name_is_known_to_the_letter_and_no_other() {
    let world = World::new();
    for name in [
        "Read",
        "Write",
        "Edit",
        "MultiEdit",
        "NotebookEdit",
        "ApplyPatch",
        "Bash",
        "Glob",
        "Grep",
        "ListDir",
        "Diagnostics",
        "WebFetch",
        "WebSearch",
        "TodoWrite",
        "TodoRead",
        "Task",
        "read_file",
        "write_file",
        "list_directory",
        "execute_command",
        "mcp__files__read",
    ] {
        assert!(world.catalogue.planner(name).is_some(), "{name}");
    }
    for name in ["", "read", "bash", "UnknownTool", "mcp__files", "mcp____x", "Read "] {
        assert!(world.catalogue.planner(name).is_none(), "{name}");
    }
}

#[test]
fn a_field_that_is_not_known_is_refused_by_every_tool_of_ours() {
    let world = World::with_file("n.ipynb", "{}");
    let plan = |tool: &str, input: Value| {
        let call = world.call(tool, input);
        match world.toolbox.get(tool) {
            Some(ours) => ours.plan(&call),
            None => world.planner(tool).plan(&call),
        }
    };
    for (tool, input) in [
        ("MultiEdit", json!({"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}]})),
        ("NotebookEdit", json!({"notebook_path": "n.ipynb", "new_source": "x"})),
        ("ApplyPatch", json!({"patch": "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n"})),
        ("ListDir", json!({"path": ".", "ignore": ["*.o"]})),
        ("WebFetch", json!({"url": "https://example.com/", "prompt": "x"})),
        ("TodoWrite", json!({"todos": [{"content": "a", "status": "in_progress"}]})),
        ("TodoRead", json!({})),
        ("read_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a", "content": "x"})),
        ("list_directory", json!({"path": "."})),
        ("execute_command", json!({"command": "ls", "args": ["-l"]})),
    ] {
        plan(tool, input.clone()).unwrap_or_else(|error| panic!("{tool}: {error}"));
        let mut more = input;
        more["surprise"] = json!(1);
        assert_has(&plan(tool, more).unwrap_err().0, "surprise");
        for other in [json!([]), json!(["a", "b"]), json!("a"), json!(null)] {
            assert_has(&plan(tool, other.clone()).unwrap_err().0, "expected an object");
            assert_has(&world.plan(tool, other).unwrap_err().0, "expected an object");
        }
    }
}

#[test]
fn notes_and_lists_inside_are_low() {
    let world = World::new();
    let low = |tool, input| assert_eq!(risk_of(world.plan(tool, input)), Some((Risk::Low, false)));
    low("TodoRead", json!({}));
    low("TodoWrite", json!({"todos": []}));
    low("ListDir", json!({"path": "."}));
    assert_eq!(risk_of(world.plan("ListDir", json!({"path": ".."}))), Some((Risk::Medium, false)));
}

#[test]
fn the_web_is_high_and_the_cloud_s_credentials_are_out_of_reach() {
    let world = World::new();
    let fetch = |url: &str| world.plan("WebFetch", json!({"url": url, "prompt": "x"}));
    let plan = fetch("https://EXAMPLE.com./a").unwrap();
    assert_eq!(plan.effects, [Effect::Net { host: Some("example.com".to_owned()) }]);
    let near = fetch("http://2130706433/").unwrap();
    assert!(matches!(near.effects.as_slice(), [Effect::Net { .. }, Effect::Opaque { .. }]));
    for url in ["http://169.254.169.254/", "file:///etc/passwd", "http://metadata.google.internal"]
    {
        assert_eq!(risk_of(fetch(url)), Some((Risk::High, true)), "{url}");
    }
    assert_has(&fetch("https://evil.example\0.google.com/").unwrap_err().0, "NUL");
    assert_has(&fetch("https://a\\@b/").unwrap_err().0, "backslash");
}

#[test]
fn a_child_never_has_more_authority_than_its_parent() {
    let world = World::new();
    let start = |field: &str, value: Value| {
        let mut input = json!({"description": "x", "prompt": "y"});
        input[field] = value;
        risk_of(world.plan("Task", input))
    };
    assert_eq!(start("model", json!("opus")), Some((Risk::High, false)));
    assert_eq!(start("mode", json!("plan")), Some((Risk::High, false)));
    assert_eq!(start("permissionMode", json!("default")), Some((Risk::High, false)));
    assert_eq!(start("permissionMode", json!("bypassPermissions")), Some((Risk::High, true)));
    assert_eq!(start("permissionMode", json!(["plan"])), Some((Risk::High, true)));
    assert_eq!(start("mode", json!("acceptEdits")), Some((Risk::High, true)));
    assert_eq!(start("allowedTools", json!(["Bash"])), Some((Risk::High, true)));
    assert_eq!(start("tools", json!("*")), Some((Risk::High, true)));
    assert_eq!(start("whatever", json!(1)), Some((Risk::High, false)));
    let input = json!({"description": "x", "prompt": "y", "isolation": "remote"});
    let effects = world.plan("Agent", input).unwrap().effects;
    assert!(matches!(effects.as_slice(), [Effect::SpawnAgent { .. }, Effect::Opaque { .. }]));
}

#[test]
fn what_an_mcp_tool_does_is_not_known() {
    let world = World::new();
    let plan = world.plan("mcp__files__read", json!({"any": ["thing"]})).unwrap();
    let [Effect::Opaque { why }] = plan.effects.as_slice() else { panic!("{plan:?}") };
    assert_eq!(why, "what the MCP tool `read` of the server `files` does is not known");
}

#[test]
fn what_is_no_file_is_neither_read_nor_written() {
    let world = World::new();
    world.fifo("pipe");
    for (tool, input) in [
        ("Read", json!({"file_path": "pipe"})),
        ("Write", json!({"file_path": "pipe", "content": ""})),
        ("Edit", json!({"file_path": "pipe", "old_string": "a", "new_string": "b"})),
        ("Grep", json!({"pattern": "x", "path": "pipe"})),
        ("Read", json!({"file_path": "/dev/zero"})),
    ] {
        let InvalidCall(text) = world.plan(tool, input).unwrap_err();
        assert_has(&text, "only regular files are touched");
    }
}

#[test]
fn a_filter_that_looks_like_an_option_is_refused() {
    let world = World::new();
    for (field, value) in [("glob", "--pre=./x"), ("glob", "*.rs -x"), ("type", "-x")] {
        let mut input = json!({"pattern": "x"});
        input[field] = value.into();
        assert_has(&world.plan("Grep", input).unwrap_err().0, "looks like an option");
    }
    assert!(world.plan("Grep", json!({"pattern": "--pre=./x", "glob": "!a-b"})).is_ok());
}

fn risk_of(plan: Result<CallPlan, InvalidCall>) -> Option<(Risk, bool)> {
    let effects = plan.ok()?.effects;
    let forbidden = effects.iter().any(|effect| matches!(effect, Effect::Forbidden { .. }));
    Some((risk::assess(&effects), forbidden))
}
