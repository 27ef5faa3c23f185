//! The client's tools on the client's machine: the same checks again, and then they run.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use countersign_core::{Preview, Risk};
use countersign_tools::{ClientRoot, ClientSide, Environment, ToolError, ToolInfo, Toolbox};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::{World, assert_has};

#[tokio::test]
async fn a_file_comes_back_to_the_letter() {
    let world = here();
    for text in ["", "one\r\ntwo\r\n", "no end", "naïve 試🦀\n", "a\u{1b}[2Kb\r", "\u{2028}"] {
        world.write("a.txt", text);
        let report = report(&world, "read_file", json!({"path": "a.txt"})).await;
        let expected = json!({"success": true, "stdout": text, "stderr": null, "exit_code": null});
        assert_eq!(report, expected);
    }
    world.write("wide.txt", b"\xff\xfeh\0i\0");
    assert_eq!(stdout(&world, "read_file", json!({"path": "wide.txt"})).await, "hi");
}

#[tokio::test]
async fn what_is_written_is_what_was_said() {
    let world = here();
    for text in ["", "one\r\ntwo", "naïve 試\n"] {
        let input = json!({"path": "new/deep/a.txt", "content": text});
        let said = stdout(&world, "write_file", input).await;
        let count = text.chars().count();
        assert_eq!(said, format!("Wrote {count} characters to new/deep/a.txt"));
        assert_eq!(world.text("new/deep/a.txt"), text);
    }
    world.write("wide.txt", b"\xff\xfeh\0i\0");
    world.set_mode("wide.txt", 0o640);
    stdout(&world, "write_file", json!({"path": "wide.txt", "content": "yo"})).await;
    assert_eq!(
        (world.bytes("wide.txt"), world.mode("wide.txt")),
        (b"\xff\xfey\0o\0".to_vec(), 0o640)
    );
}

#[tokio::test]
async fn ten_megabytes_go_both_ways_and_more_is_said_clearly() {
    let world = here();
    let large = "x".repeat(10 * 1024 * 1024);
    stdout(&world, "write_file", json!({"path": "large", "content": large})).await;
    let back = stdout(&world, "read_file", json!({"path": "large"})).await;
    assert!(back == large);
    world.write("larger", format!("{large}y"));
    let said = world.fails("read_file", json!({"path": "larger"})).await;
    assert_has(&said, "`larger` has 10.4 MB, which is too much to handle at once");
    let input = json!({"path": "new", "content": format!("{large}y")});
    assert_has(&world.fails("write_file", input).await, "the limit is 10.4 MB");
    assert!(!world.path("new").exists());
}

#[tokio::test]
async fn what_is_no_text_is_said_not_mangled() {
    let world = here();
    world.write("latin", b"caf\xe9\n");
    world.write("zero", b"a\0b");
    let fails = async |path: &str| world.fails("read_file", json!({"path": path})).await;
    assert_has(&fails("latin").await, "`latin` is in an encoding that is neither UTF-8 nor");
    assert_has(&fails("zero").await, "`zero` is a binary file");
    world.fifo("pipe");
    assert_has(&fails("pipe").await, "`pipe` is a FIFO");
    assert_has(&fails("gone").await, "`gone` does not exist");
    assert_has(&fails(".").await, "is a folder; list_directory shows what is in it");
}

#[tokio::test]
async fn a_folder_is_listed_as_it_is() {
    let world = here();
    world.write("src/main.rs", "12345");
    world.write(".env", "k=v");
    world.write("a\nb\u{1b}[2K", "");
    world.link("/etc", "door");
    world.fifo("pipe");
    fs::write(world.root.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "").unwrap();
    let report = report(&world, "list_directory", json!({"path": "."})).await;
    assert_eq!(
        report["stdout"], ".env\na\\nb\\u{1b}[2K\ncaf\\xe9\ndoor\npipe\nsrc/\n",
        "one line per name, whatever is in it"
    );
    let entry = |name: &str, kind: &str, size: Option<u64>| json!({"name": name, "type": kind, "size": size});
    let expected = json!([
        entry(".env", "file", Some(3)),
        entry("a\nb\u{1b}[2K", "file", Some(0)),
        entry("caf\\xe9", "file", Some(0)),
        entry("door", "link", None),
        entry("pipe", "other", None),
        entry("src", "directory", None),
    ]);
    assert_eq!(report["entries"], expected);
    assert_eq!((&report["success"], &report["exit_code"]), (&json!(true), &Value::Null));
    let fails = async |path: &str| world.fails("list_directory", json!({"path": path})).await;
    assert_has(&fails("src/main.rs").await, "`src/main.rs` is a file, not a folder");
    assert_has(&fails("gone").await, "`gone` does not exist");
    assert_has(&fails("door").await, "leads out of the project's folder");
    fs::create_dir(world.path("empty")).unwrap();
    assert_eq!(stdout(&world, "list_directory", json!({"path": "empty"})).await, "");
}

#[tokio::test]
async fn very_many_entries_are_cut_and_told() {
    let world = here();
    for number in 0..5_003 {
        fs::write(world.path(&format!("f{number:05}")), "").unwrap();
    }
    let report = report(&world, "list_directory", json!({"path": "."})).await;
    assert_eq!(report["entries"].as_array().unwrap().len(), 5_000);
    assert!(report["stdout"].as_str().unwrap().ends_with("f04999\n… [3 more entries not shown]\n"));
}

#[tokio::test]
async fn nothing_outside_is_reached() {
    let world = here();
    fs::write(world.outside.join("secret"), "s").unwrap();
    world.link(&world.outside, "door");
    world.link(world.outside.join("secret"), "file");
    world.link(".env", "notes.txt");
    world.write(".env", "k=v");
    let outside = world.outside.join("secret").display().to_string();
    let ways = ["../outside/secret", &outside, "a/../../outside/secret", "door/secret", "file"];
    for path in ways {
        for (tool, input) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "mine"})),
            ("list_directory", json!({"path": path})),
            ("execute_command", json!({"command": "true", "cwd": path})),
        ] {
            let said = world.fails(tool, input).await;
            assert!(said.contains("lies outside") || said.contains("leads out"), "{tool}: {said}");
        }
    }
    assert_has(&world.fails("read_file", json!({"path": "notes.txt"})).await, "holds secrets");
    for path in ["a\0", "a\nb", "", "~/x"] {
        assert!(world.run("read_file", json!({"path": path})).await.is_err(), "{path:?}");
    }
    assert_eq!(fs::read_to_string(world.outside.join("secret")).unwrap(), "s");
    let inside = world.path(".env").display().to_string();
    assert_eq!(stdout(&world, "read_file", json!({"path": inside})).await, "k=v");
}

#[tokio::test]
async fn a_link_that_was_swapped_in_meanwhile_leads_nowhere() {
    let world = here();
    world.write("dir/a", "a");
    fs::write(world.outside.join("a"), "theirs").unwrap();
    for (tool, input) in [
        ("read_file", json!({"path": "dir/a"})),
        ("write_file", json!({"path": "dir/a", "content": "mine"})),
        ("list_directory", json!({"path": "dir"})),
        ("execute_command", json!({"command": "touch", "args": ["b"], "cwd": "dir"})),
    ] {
        let permit = world.permitted(tool, input).unwrap();
        fs::rename(world.path("dir"), world.path("kept")).unwrap();
        world.link(&world.outside, "dir");
        assert!(world.run_permit(permit).await.is_err(), "{tool}");
        fs::remove_file(world.path("dir")).unwrap();
        fs::rename(world.path("kept"), world.path("dir")).unwrap();
    }
    assert_eq!(fs::read_to_string(world.outside.join("a")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 1);
}

/// While a folder and a link take turns at one name, what lies behind the link stays out of reach.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_race_of_links_lets_nothing_out() {
    let world = Arc::new(here());
    world.write("real/a", "mine");
    fs::write(world.outside.join("a"), "theirs").unwrap();
    world.link("real", "dir");
    let stop = CancellationToken::new();
    let swapping = tokio::task::spawn_blocking({
        let (world, stop) = (world.clone(), stop.clone());
        move || {
            while !stop.is_cancelled() {
                for to in [world.path("real"), world.outside.clone()] {
                    world.link(to, "next");
                    fs::rename(world.path("next"), world.path("dir")).unwrap();
                }
            }
        }
    });
    for _ in 0..300 {
        if let Ok(output) = world.run("read_file", json!({"path": "dir/a"})).await {
            assert!(!output.content.contains("theirs"), "{}", output.content);
        }
        let _ = world.run("write_file", json!({"path": "dir/a", "content": "mine"})).await;
    }
    stop.cancel();
    swapping.await.unwrap();
    assert_eq!(fs::read_to_string(world.outside.join("a")).unwrap(), "theirs");
}

#[tokio::test]
async fn what_vanished_or_may_not_be_written_is_said() {
    let world = here();
    world.write("gone", "x");
    let permit = world.permitted("read_file", json!({"path": "gone"})).unwrap();
    fs::remove_file(world.path("gone")).unwrap();
    assert_has(&world.run_permit(permit).await.unwrap_err().to_string(), "does not exist");
    world.write("fixed", "x");
    world.set_mode("fixed", 0o444);
    let said = world.fails("write_file", json!({"path": "fixed", "content": "y"})).await;
    assert_has(&said, "`fixed` is read-only; ask the user before you change its mode");
    assert_eq!(world.text("fixed"), "x");
    let missing = json!({"command": "true", "cwd": "nowhere"});
    assert_has(&world.fails("execute_command", missing).await, "does not exist");
}

#[tokio::test]
async fn a_change_is_bound_to_the_file_that_was_shown() {
    let world = here();
    world.write("a", "one\n");
    let input = json!({"path": "a", "content": "two\n"});
    let call = world.call("write_file", input.clone());
    let Preview::Diff(shown) = world.tool("write_file").preview(&call).unwrap() else {
        panic!("no diff")
    };
    assert_eq!(shown.diff.lines[2..], ["@@ -1 +1 @@", "-one", "+two"]);
    let permit = world.shown("write_file", input, Preview::Diff(shown));
    world.write("a", "something else\n");
    assert!(matches!(world.run_permit(permit).await, Err(ToolError::Drift { .. })));
    assert_eq!(world.text("a"), "something else\n");
}

#[tokio::test]
async fn the_server_runs_none_of_them() {
    let mut world = World::new();
    world.write("a", "x");
    let there = ClientSide::from(ClientRoot::new(&world.root));
    world.toolbox = Toolbox::client(&there, environment());
    for (tool, input) in [
        ("read_file", json!({"path": "a"})),
        ("write_file", json!({"path": "a", "content": "y"})),
        ("list_directory", json!({"path": "."})),
        ("execute_command", json!({"command": "touch", "args": ["b"]})),
    ] {
        let said = world.fails(tool, input).await;
        assert_eq!(
            said,
            format!("`{tool}` runs on the client's machine; the server only judges it")
        );
    }
    assert_eq!((world.names(), world.text("a")), (vec!["a".to_owned()], "x".to_owned()));
}

#[tokio::test]
async fn they_are_told_of_as_s2_has_it() {
    let world = here();
    let mut told = Vec::new();
    for tool in world.toolbox.iter() {
        let info = ToolInfo::for_tool(tool.as_ref()).await;
        assert!(info.description.len() > 100);
        let fields = info.parameters.as_object().unwrap();
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, field)| format!("{name}:{}", field["type"].as_str().unwrap()))
            .collect();
        let asks = info.requires_approval;
        assert_eq!(info.name, tool.name());
        told.push((tool.name(), fields.join(" "), asks, info.risk_level, info.timeout_seconds));
    }
    let path = || "path:string".to_owned();
    let command = "command:string args:array timeout:integer cwd:string".to_owned();
    let expected = [
        ("read_file", path(), false, Risk::Low, 0),
        ("write_file", "path:string content:string".to_owned(), true, Risk::Medium, 300),
        ("list_directory", path(), false, Risk::Low, 0),
        ("execute_command", command, true, Risk::Medium, 300),
    ];
    assert_eq!(told, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever path is put together of what is there: both sides mean the same one, and what the
    /// client reaches lies in the folder.
    #[test]
    fn no_path_reaches_out(
        parts in proptest::collection::vec(
            prop_oneof![
                Just(".."), Just("."), Just(""), Just("dir"), Just("door"), Just("up"), Just("in"),
                Just("a"), Just("loop"), Just("/"), Just("outside"), Just("ws"), Just(".env"),
            ],
            0..7,
        ),
    ) {
        let world = here();
        world.write("dir/a", "mine");
        fs::write(world.outside.join("a"), "theirs").unwrap();
        for (to, name) in [("..", "up"), ("dir", "in"), ("loop", "loop"), ("dir/../dir/a", "a")] {
            world.link(to, name);
        }
        world.link(&world.outside, "door");
        let path = parts.join("/");
        let judged = world.plan("read_file", json!({"path": path}));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let run = |tool, input| runtime.block_on(world.run(tool, input));
        let read = run("read_file", json!({"path": path}));
        if let Ok(output) = &read {
            prop_assert!(judged.is_ok(), "{path}: the server would not have let it pass");
            prop_assert!(output.content.contains("mine"), "{path}: {}", output.content);
        }
        let _ = run("write_file", json!({"path": path, "content": "mine"}));
        prop_assert_eq!(fs::read_to_string(world.outside.join("a")).unwrap(), "theirs");
        prop_assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 1);
        prop_assert_eq!(fs::read_dir(world.root.parent().unwrap()).unwrap().count(), 2);
    }
}

/// A world whose tools are those of a client, on this machine.
pub(crate) fn here() -> World {
    let mut world = World::new();
    let side = ClientSide::for_local_machine(&world.root, []).unwrap();
    world.toolbox = Toolbox::client(&side, environment());
    world
}

pub(crate) fn environment() -> Environment {
    Environment::from(vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())])
}

pub(crate) async fn report(world: &World, tool: &str, input: Value) -> Value {
    let output = world.run(tool, input).await.unwrap();
    let report: Value = serde_json::from_str(&output.content).unwrap();
    assert_eq!(report["success"], !output.is_error);
    report
}

pub(crate) async fn stdout(world: &World, tool: &str, input: Value) -> String {
    let report = report(world, tool, input).await;
    assert_eq!(report["success"], true, "{report}");
    report["stdout"].as_str().unwrap().to_owned()
}
