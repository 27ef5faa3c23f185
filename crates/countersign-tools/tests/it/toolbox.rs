use countersign_tools::{
    Bash, Environment, FixedSearch, NeedsApproval, Read, Tool, Toolbox, WebSearch, Workspace,
};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn the_coding_tools_are_six() {
    let toolbox = Toolbox::coding(&workspace(), Environment::default());
    let names: Vec<_> = toolbox.names().collect();
    assert_eq!(names, ["Read", "Write", "Edit", "Bash", "Glob", "Grep"]);
}

#[test]
fn all_tools_are_the_six_and_the_others() {
    let world = World::new();
    let names: Vec<_> = world.toolbox.names().collect();
    let (six, others) = names.split_at(6);
    assert_eq!(six, ["Read", "Write", "Edit", "Bash", "Glob", "Grep"]);
    assert_eq!(
        others,
        [
            "MultiEdit",
            "ApplyPatch",
            "NotebookEdit",
            "ListDir",
            "WebFetch",
            "Diagnostics",
            "TodoWrite",
            "TodoRead",
            "Task"
        ]
    );
}

#[tokio::test]
async fn what_changes_something_asks_and_what_looks_does_not() {
    let world = World::new();
    let mut asking = Vec::new();
    for tool in world.toolbox.iter() {
        if tool.needs_approval(&json!({})).await {
            asking.push(tool.name());
        }
    }
    assert_eq!(asking, ["Write", "Edit", "Bash", "MultiEdit", "ApplyPatch", "NotebookEdit"]);
}

#[tokio::test]
async fn asking_is_a_flag_or_a_look_at_the_parameters() {
    let workspace = workspace();
    let never = Bash::new(workspace.clone(), Environment::default()).with_needs_approval(false);
    assert!(!never.needs_approval(&json!({"command": "rm"})).await);
    let sometimes = Bash::new(workspace.clone(), Environment::default())
        .with_needs_approval(NeedsApproval::when(|params| params["command"] != "ls"));
    assert!(!sometimes.needs_approval(&json!({"command": "ls"})).await);
    assert!(sometimes.needs_approval(&json!({"command": "rm"})).await);
    let later =
        Read::new(workspace).with_needs_approval(NeedsApproval::when_async(|params| async move {
            tokio::task::yield_now().await;
            params["file_path"] == ".env"
        }));
    assert!(later.needs_approval(&json!({"file_path": ".env"})).await);
}

#[tokio::test]
async fn a_tool_of_the_same_name_takes_the_place() {
    let workspace = workspace();
    let toolbox = Toolbox::coding(&workspace, Environment::default())
        .with(Read::new(workspace).with_needs_approval(true));
    assert_eq!(toolbox.names().next(), Some("Read"));
    assert_eq!(toolbox.iter().count(), 6);
    assert!(toolbox.get("Read").unwrap().needs_approval(&json!({})).await);
    assert!(toolbox.get("read").is_none());
}

#[test]
fn schemas_are_closed_and_plain() {
    let engine = FixedSearch::default();
    let world = World::new().with_tool(WebSearch::with_engine(engine));
    for tool in world.toolbox.iter() {
        let schema = tool.input_schema();
        assert_eq!(schema["type"], "object", "{}", tool.name());
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name());
        assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            assert!(field["type"].is_string(), "{} {name}: {field}", tool.name());
            assert!(field["description"].is_string(), "{} {name}", tool.name());
            assert!(field.get("format").is_none() && field.get("anyOf").is_none());
        }
        assert!(tool.description().len() > 200);
    }
    let schema = World::new().tool("Grep").input_schema();
    let modes = &schema["properties"]["output_mode"]["enum"];
    assert_eq!(modes, &json!(["files_with_matches", "content", "count"]));
    assert_eq!(schema["required"], json!(["pattern"]));
}

#[test]
fn a_wrong_input_is_told_by_field() {
    check("Read", json!({}), "missing field `file_path`");
    check("Read", json!({"file_path": "a", "offset": 0}), "`offset`: expected a positive integer");
    check("Read", json!({"file_path": "a", "limit": "5"}), "`limit`: expected a positive integer");
    check("Read", json!({"path": "a"}), "unknown field `path`, expected one of `file_path`");
    check("Read", json!({"file_path": ""}), "the path is empty");
    check("Write", json!({"file_path": "a\0", "content": ""}), "NUL");
    check("Write", json!({"file_path": 3, "content": ""}), "`file_path`: expected a string");
    check("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "x"}), "are the same");
    check("Bash", json!({"command": " "}), "`command` is empty");
    check("Bash", json!({"command": "a\0b"}), "NUL");
    check("Bash", json!({"command": "ls", "timeout": 600_001}), "at most 600000");
    check("Glob", json!({"pattern": "a{"}), "`pattern`");
    check("Glob", json!({"pattern": "../*.rs"}), "give that folder in `path`");
    check("Grep", json!({"pattern": "a("}), "unclosed group");
    check("Grep", json!({"pattern": "a\nb"}), "set `multiline` to true");
    check("Grep", json!({"pattern": "a", "output_mode": "x"}), "unknown variant `x`");
    check("Grep", json!({"pattern": "a", "-C": 5000}), "at most 1000 lines");
    check("Grep", json!("pattern"), "expected an object");
}

#[test]
fn a_plan_says_in_one_sentence_what_would_happen() {
    let summary = |tool, input| World::new().plan(tool, input).unwrap().summary;
    assert_eq!(summary("Read", json!({"file_path": "x"})), "Read `x`");
    assert_eq!(summary("Write", json!({"file_path": "x", "content": ""})), "Write `x`");
    let edit = json!({"file_path": "x", "old_string": "a", "new_string": "b"});
    assert_eq!(summary("Edit", edit), "Edit `x`");
    assert_eq!(summary("Bash", json!({"command": "a\nb"})), "Run `a⏎b`");
    assert_eq!(summary("Glob", json!({"pattern": "*.rs"})), "Find `*.rs` in `.`");
    let grep = json!({"pattern": "re", "path": "dir"});
    assert_eq!(summary("Grep", grep), "Search for `re` in `dir`");
}

#[track_caller]
fn check(tool: &str, input: Value, expected: &str) {
    let world = World::new();
    let call = world.call(tool, input);
    assert_has(&world.tool(tool).plan(&call).unwrap_err().0, expected);
    assert_has(&world.tool(tool).preview(&call).unwrap_err().0, expected);
}

fn workspace() -> Workspace {
    Workspace::new([std::env::temp_dir()]).unwrap()
}
