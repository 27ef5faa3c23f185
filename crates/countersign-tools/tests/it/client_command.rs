//! `execute_command` on the client's machine: no shell, its own bounds, heard while it runs.

use std::fs;

use countersign_tools::{ClientSide, ExecuteCommand, OutputListener, ToolError, Toolbox};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client_here::{environment, here, report, stdout};
use crate::kin::Kin;
use crate::world::assert_has;

#[tokio::test]
async fn words_reach_the_program_as_they_are() {
    let world = here();
    let words = ["a b", "$HOME", "*", "; touch x", "`id`", "$(id)", "\"", "'", "", "é\n", ">out"];
    let mut args = vec!["%s|"];
    args.extend(words);
    let input = json!({"command": "printf", "args": args});
    let expected: String = words.iter().map(|word| format!("{word}|")).collect();
    let report = report(&world, "execute_command", input).await;
    let expected = json!({"success": true, "stdout": expected, "stderr": "", "exit_code": 0});
    assert_eq!(report, expected);
    assert!(world.names().is_empty(), "no shell had a look at them");
    for line in ["echo a", "echo;ls", "$SHELL", "echo|cat"] {
        let said = world.fails("execute_command", json!({"command": line})).await;
        assert_eq!(said, format!("Command not found: {line}"));
    }
}

#[tokio::test]
async fn a_program_tells_how_it_ended() {
    let world = here();
    let sh = |line: &str| json!({"command": "sh", "args": ["-c", line]});
    let ended = async |input| report(&world, "execute_command", input).await;
    let expected = |code: Option<i32>, stderr: &str| json!({"success": false, "stdout": "out\n", "stderr": stderr, "exit_code": code});
    assert_eq!(ended(sh("echo out; echo err >&2; exit 3")).await, expected(Some(3), "err\n"));
    assert_eq!(ended(sh("echo out; kill -9 $$")).await, expected(None, "Ended by SIGKILL"));
    let slow = json!({"command": "sh", "args": ["-c", "echo out; exec sleep 1000"], "timeout": 1});
    assert_eq!(ended(slow).await, expected(None, "Command timed out after 1s"));
    let said = world.fails("execute_command", json!({"command": "./missing"})).await;
    assert_eq!(said, "Command not found: ./missing");
    world.write("tool", "#!/bin/sh\npwd; echo $#\n");
    let plain = world.fails("execute_command", json!({"command": "./tool"})).await;
    assert_has(&plain, "could not run `./tool`: Permission denied");
    world.set_mode("tool", 0o755);
    let run = stdout(&world, "execute_command", json!({"command": "./tool", "args": ["a"]})).await;
    assert_eq!(run, format!("{}\n1\n", world.root.display()));
    fs::create_dir(world.path("sub")).unwrap();
    let below = json!({"command": "../tool", "cwd": "sub"});
    assert_has(&stdout(&world, "execute_command", below).await, "/sub\n0\n");
}

#[tokio::test]
async fn a_program_sees_the_chosen_environment_and_no_input() {
    let world = here();
    let seen = stdout(&world, "execute_command", json!({"command": "env"})).await;
    assert_eq!(seen, "PATH=/usr/local/bin:/usr/bin:/bin\n");
    assert_eq!(stdout(&world, "execute_command", json!({"command": "cat"})).await, "");
}

#[tokio::test]
async fn all_kin_end_when_time_is_up_and_on_cancel() {
    let script = "exec 9>alive; trap '' TERM; sleep 1000 & echo up >&9; wait";
    let input =
        |timeout: u64| json!({"command": "bash", "args": ["-c", script], "timeout": timeout});
    let world = here();
    let kin = Kin::watch(&world);
    let ended = report(&world, "execute_command", input(1)).await;
    assert_has(ended["stderr"].as_str().unwrap(), "Command timed out after 1s");
    kin.gone().await;

    let world = here();
    let mut kin = Kin::watch(&world);
    let cancel = CancellationToken::new();
    let running = world.run_cancellable("execute_command", input(1000), cancel.clone());
    let (result, ()) = tokio::join!(running, async {
        kin.up().await;
        cancel.cancel();
    });
    assert!(matches!(result, Err(ToolError::Interrupted)));
    kin.gone().await;
}

#[tokio::test]
async fn output_is_heard_while_it_comes_and_kept_at_both_ends() {
    let mut world = here();
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let listener = OutputListener::new(move |call, piece: &str| {
        assert_eq!(call, uuid::Uuid::nil().into());
        let _ = sender.send(piece.to_owned());
    });
    let side = ClientSide::for_local_machine(&world.root, []).unwrap();
    let tool = ExecuteCommand::new(side).with_environment(environment()).with_listener(listener);
    world.toolbox = world.toolbox.clone().with(tool);
    world.fifo("go");
    // It goes on only once somebody has heard its first word; `é` comes in two pieces.
    let script =
        "printf 'first caf\\303'; read x <go; printf '\\251'; yes 0123456789 | head -c 200000";
    let input = json!({"command": "bash", "args": ["-c", script]});
    let go = world.path("go");
    let (report, first) = tokio::join!(report(&world, "execute_command", input), async {
        let first = heard.recv().await.unwrap();
        tokio::task::spawn_blocking(move || fs::write(go, "\n").unwrap()).await.unwrap();
        first
    });
    assert_eq!(first, "first caf");
    world.toolbox = Toolbox::default();
    let mut rest = String::new();
    while let Some(piece) = heard.recv().await {
        rest.push_str(&piece);
    }
    assert!(rest.starts_with("é0123456789\n"));
    assert_eq!(rest.len(), 200_002, "everything was heard");
    let kept = report["stdout"].as_str().unwrap();
    assert!(kept.starts_with("first café0123") && kept.chars().count() < 30_100);
    assert_has(kept, "characters cut");
}

#[tokio::test]
async fn the_client_denies_by_itself() {
    let mut world = here();
    let own = world.outside.join("own");
    let side = ClientSide::for_local_machine(&world.root, [own.clone()]).unwrap();
    world.toolbox = Toolbox::client(&side, environment());
    let input = json!({"command": "touch", "args": [own.join("x").display().to_string()]});
    assert_has(&world.fails("execute_command", input).await, "the client does not run this");
}
