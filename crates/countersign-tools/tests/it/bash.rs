use std::time::Duration;

use countersign_core::{Effect, Preview, ToolOutput};
use countersign_tools::ToolError;
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::kin::Kin;
use crate::world::{World, assert_has};

#[tokio::test]
async fn output_comes_first_then_errors_then_the_code() {
    let world = World::new();
    assert_eq!(run(&world, "echo hi").await, ToolOutput::ok("hi"));
    assert_eq!(run(&world, "true").await, ToolOutput::ok("(no output)"));
    let failed = run(&world, "echo out; echo err >&2; exit 3").await;
    assert_eq!(failed, ToolOutput::error("out\nerr\nExit code 3"));
    assert_eq!(run(&world, "kill -SEGV $$").await, ToolOutput::error("Ended by SIGSEGV"));
    assert_eq!(run(&world, "printf 'a\\xffb'").await, ToolOutput::ok("a\u{fffd}b"));
}

#[tokio::test]
async fn it_runs_in_the_working_directory_and_reads_nothing() {
    let world = World::new();
    let root = world.root.display().to_string();
    assert_eq!(run(&world, "pwd; cat").await, ToolOutput::ok(root));
    let gone = world.path("gone");
    let error = world.run_in(&gone, "Bash", json!({"command": "ls"})).await.unwrap_err();
    assert_has(&error.to_string(), "gone` does not exist any more");
}

#[tokio::test]
async fn it_sees_only_the_environment_it_was_given() {
    let names = run(&World::new(), "env | cut -d= -f1 | sort").await.content;
    assert_eq!(names.lines().collect::<Vec<_>>(), ["PATH", "PWD", "SHLVL", "_"]);
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_tells_what_it_had() {
    let world = World::new();
    let input = json!({"command": "echo so far; sleep 1000", "timeout": 1500});
    let output = world.run("Bash", input).await.unwrap();
    assert_eq!(output, ToolOutput::error("so far\nCommand timed out after 1.500s"));
}

#[tokio::test]
async fn all_kin_end_on_timeout_even_those_that_ignore_the_request() {
    let world = World::new();
    let mut kin = Kin::watch(&world);
    let stubborn = "exec 9>alive; trap '' TERM; (sleep 1000; sleep 1000) & echo up >&9; wait";
    let output = world.run("Bash", json!({"command": stubborn, "timeout": 1500})).await.unwrap();
    assert_has(&output.content, "timed out");
    kin.up().await;
    kin.gone().await;
}

#[tokio::test]
async fn all_kin_end_on_cancel() {
    let world = World::new();
    let mut kin = Kin::watch(&world);
    let cancel = CancellationToken::new();
    let stubborn = "exec 9>alive; trap '' TERM; sleep 1000 & echo up >&9; wait";
    let running = world.run_cancellable("Bash", json!({"command": stubborn}), cancel.clone());
    let (result, ()) = tokio::join!(running, async {
        kin.up().await;
        cancel.cancel();
    });
    assert!(matches!(result, Err(ToolError::Interrupted)));
    kin.gone().await;
}

#[tokio::test]
async fn all_kin_end_when_nobody_waits_any_more() {
    let world = World::new();
    let mut kin = Kin::watch(&world);
    let command = "exec 9>alive; sleep 1000 & echo up >&9; wait";
    {
        let running = world.run("Bash", json!({"command": command}));
        tokio::select! {
            _ = running => panic!("it should not end"),
            () = kin.up() => {}
        }
    }
    kin.gone().await;
}

#[tokio::test]
async fn the_background_does_not_hold_the_call_and_does_not_outlive_it() {
    let world = World::new();
    let mut kin = Kin::watch(&world);
    let command = "exec 9>alive; sleep 1000 & echo up >&9; echo done";
    let output = timeout(Duration::from_secs(20), run(&world, command)).await.unwrap();
    assert_eq!(output, ToolOutput::ok("done"));
    kin.up().await;
    kin.gone().await;
}

#[tokio::test]
async fn those_who_heed_the_request_may_clean_up() {
    let world = World::new();
    let command = "trap 'echo cleaned; exit 0' TERM; echo up; sleep 1000 & wait";
    let output = world.run("Bash", json!({"command": command, "timeout": 1500})).await.unwrap();
    assert_eq!(output, ToolOutput::error("up\ncleaned\nCommand timed out after 1.500s"));
}

#[tokio::test]
async fn a_flood_keeps_its_ends_in_little_memory() {
    let world = World::new();
    let before = peak_memory();
    let flood = "echo first; head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last";
    let output = run(&world, flood).await;
    let grown = peak_memory() - before;
    assert!(output.content.starts_with("first\nxxx") && output.content.ends_with("xxx\nlast"));
    assert_has(&output.content, &format!("… [{} characters cut] …", 1_000_000_012 - 30_000));
    assert!(output.content.chars().count() < 30_100);
    assert!(grown < 32_000, "{grown} kB");
}

#[tokio::test]
async fn both_streams_have_their_share_of_the_answer() {
    let world = World::new();
    let command = "head -c 50000 /dev/zero | tr '\\0' o; head -c 10000 /dev/zero | tr '\\0' e >&2";
    let content = run(&world, command).await.content;
    assert_eq!(content.matches('o').count(), 20_000);
    assert_eq!(content.matches("ee").count(), 5_000);
    assert_has(&content, "[30000 characters cut]");
}

#[test]
fn a_command_asks_says_what_it_would_do_and_is_shown_whole() {
    let world = World::new();
    let input =
        json!({"command": "sudo ls > out.txt", "description": "Lists files", "timeout": 1000});
    let plan = world.plan("Bash", input.clone()).unwrap();
    let [part] = plan.commands.as_slice() else { panic!("{plan:?}") };
    assert_eq!(
        (part.text.as_str(), part.wrappers.as_slice()),
        ("sudo ls > out.txt", &["sudo".into()][..])
    );
    let written = world.root.join("out.txt");
    let writes = |effect: &Effect| matches!(effect, Effect::Write(it) if it.path == written);
    assert!(plan.effects.iter().any(writes));
    let Preview::Command(shown) = world.preview("Bash", input).unwrap() else {
        panic!("no command")
    };
    assert_eq!((shown.command.as_str(), shown.timeout_ms), ("sudo ls > out.txt", 1000));
    assert_eq!(shown.description.as_deref(), Some("Lists files"));
    assert_eq!(shown.cwd, world.root.display().to_string());
    assert_eq!(shown.warnings, ["It runs with the rights of another user (`sudo`)."]);
}

/// Never executed here: only planned.
#[test]
fn what_would_destroy_the_system_or_touch_the_gates_own_state_is_forbidden() {
    let world = World::new();
    let forbidden = |command: &str| {
        let plan = world.plan("Bash", json!({"command": command})).unwrap();
        plan.effects.iter().any(|effect| matches!(effect, Effect::Forbidden { .. }))
    };
    for command in ["rm -rf /", "sudo rm -rf --no-preserve-root /", "dd if=/dev/zero of=/dev/sda"] {
        assert!(forbidden(command), "{command}");
    }
    for command in ["ls", "rm -rf build", "echo 'rm -rf /'"] {
        assert!(!forbidden(command), "{command}");
    }
}

/// Returns the most memory this process ever used, in kilobytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

async fn run(world: &World, command: &str) -> ToolOutput {
    world.run("Bash", json!({"command": command})).await.unwrap()
}
