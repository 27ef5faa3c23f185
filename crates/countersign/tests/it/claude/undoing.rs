//! What Claude Code's own tools do to files is put back like what ours do: its runs, and the CLI started
//! by hand with our hook.

use serde_json::{Value, json};

use super::cell::in_a_cell;
use super::guarded::World;
use super::modes::{last_words, start, until_over, written};
use crate::world::Serving;

in_a_cell! {
    async fn a_run_is_put_back_whole() {
        let world = World::new().await;
        let server = world.serve();
        put(&world, "a.txt", "one\n");
        put(&world, "gone.txt", "precious\n");
        let session = start(&world, &server, json!({"content": "edit a.txt"})).await;
        for tool in ["Edit", "Bash"] {
            let asked = world.asked(&server).await;
            assert_eq!(asked["tool_name"], tool, "{asked}");
            approve(&world, &server, &asked).await;
        }
        last_words(&world, &server, &session).await;
        assert_eq!((written(&world, "a.txt").as_deref(), written(&world, "gone.txt")), (Some("two\n"), None));
        let run = latest(&world, &server).await["run_id"].as_str().unwrap().to_owned();
        let shown = undo(&world, &server, &format!("runs/{run}/undo")).await;
        assert_eq!(actions(&shown), [("a.txt", "restore"), ("gone.txt", "restore")], "{shown}");
        assert_eq!(written(&world, "a.txt").as_deref(), Some("one\n"));
        assert_eq!(written(&world, "gone.txt").as_deref(), Some("precious\n"));
    }

    async fn a_command_is_read_in_the_folder_that_the_shell_has_gone_to() {
        let world = World::new().await;
        let server = world.serve();
        std::fs::create_dir(world.work().join("sub")).unwrap();
        put(&world, "gone.txt", "not that one\n");
        put(&world, "sub/gone.txt", "precious\n");
        let session = start(&world, &server, json!({"content": "step into sub"})).await;
        let asked = world.asked(&server).await;
        approve(&world, &server, &asked).await;
        last_words(&world, &server, &session).await;
        assert_eq!(written(&world, "sub/gone.txt"), None, "{asked}");
        let shown = undo(&world, &server, &of_call(&latest(&world, &server).await)).await;
        assert_eq!(actions(&shown), [("sub/gone.txt", "restore")], "{shown}");
        assert_eq!(written(&world, "sub/gone.txt").as_deref(), Some("precious\n"));
    }

    async fn of_a_call_that_a_person_changed_their_file_is_put_back() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        let asked = world.asked(&server).await;
        let edited = json!({"file_path": "b.txt", "content": "mine\n"});
        let decision = json!({"decision": "approved", "edited_input": edited});
        world.decide(&server, &asked, "approve", decision).await;
        last_words(&world, &server, &session).await;
        assert_eq!(world.names(), ["b.txt"]);
        let call = latest(&world, &server).await;
        let shown = undo(&world, &server, &of_call(&call)).await;
        assert_eq!(actions(&shown), [("b.txt", "delete")], "{shown}");
        assert_eq!(world.names(), [""; 0]);
    }

    async fn unattended_runs_can_be_put_back_as_well() {
        let world = World::new().await;
        let server = world.serve();
        let bypass = json!({"content": "write a.txt", "permission_mode": "bypassPermissions"});
        let session = start(&world, &server, bypass).await;
        last_words(&world, &server, &session).await;
        assert_eq!(world.names(), ["a.txt"]);
        undo(&world, &server, &of_call(&latest(&world, &server).await)).await;
        assert_eq!(world.names(), [""; 0]);
    }

    async fn what_the_hook_let_pass_and_a_person_then_refused_leaves_nothing() {
        let world = World::new().await;
        let server = world.serve();
        world.add_setting("permissions", json!({"ask": ["Write"]}));
        let rules = json!({"rules": [{"effect": "allow", "rule": "Write(a.txt)"}]});
        world.put(&server, "rules", &rules).await;
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        let asked = world.asked(&server).await;
        world.decide(&server, &asked, "reject", json!({"reason": "no"})).await;
        last_words(&world, &server, &session).await;
        let calls = world.get(&server, "tools/executions").await;
        let calls = calls["executions"].as_array().unwrap();
        assert_eq!(calls.len(), 2, "let pass, then asked for: {calls:?}");
        for call in calls {
            assert_eq!(refusal(&world, &server, &of_call(call)).await, "nothing_to_undo", "{call}");
        }
    }

    async fn what_a_call_had_done_when_its_run_was_stopped_is_put_back() {
        let world = World::new().await;
        let server = world.serve();
        put(&world, "gone.txt", "precious\n");
        let command = "run rm gone.txt && tail -f /dev/null";
        let session = start(&world, &server, json!({"content": command})).await;
        let asked = world.asked(&server).await;
        approve(&world, &server, &asked).await;
        while written(&world, "gone.txt").is_some() {
            tokio::task::yield_now().await;
        }
        let stop = format!("sessions/{session}/interrupt");
        let (status, answer) = world.post(&server, &stop, &json!({})).await;
        assert!((200..300).contains(&status), "{answer}");
        until_over(&world, &server, &session).await;
        let shown = undo(&world, &server, &of_call(&latest(&world, &server).await)).await;
        assert_eq!(actions(&shown), [("gone.txt", "restore")], "{shown}");
        assert_eq!(written(&world, "gone.txt").as_deref(), Some("precious\n"));
    }

    async fn of_a_call_that_was_broken_off_nobody_says_what_it_left() {
        let world = World::new().await;
        let server = world.serve();
        put(&world, "gone.txt", "precious\n");
        put(&world, "kept.txt", "as it was\n");
        // It takes the one, and never comes to the other.
        let command = "run rm gone.txt && tail -f /dev/null && rm kept.txt";
        let session = start(&world, &server, json!({"content": command})).await;
        let asked = world.asked(&server).await;
        approve(&world, &server, &asked).await;
        while written(&world, "gone.txt").is_some() {
            tokio::task::yield_now().await;
        }
        // As by `kill -9`.
        drop(server);
        let server = world.serve();
        until_over(&world, &server, &session).await;
        let shown = world.get(&server, &of_call(&latest(&world, &server).await)).await;
        assert_eq!(actions(&shown), [("gone.txt", "refused"), ("kept.txt", "nothing")], "{shown}");
    }

    async fn what_the_cli_changed_by_hand_is_put_back_if_countersign_was_asked() {
        let world = World::new().await;
        let server = world.serve();
        world.install(&server.url);
        let person = async { approve(&world, &server, &world.asked(&server).await).await };
        let (said, ()) = tokio::join!(world.claude("write a.txt", &[]), person);
        assert_eq!(world.names(), ["a.txt"], "{said}");
        let call = latest(&world, &server).await;
        assert_eq!(call["status"], "completed", "{call}");
        let shown = undo(&world, &server, &of_call(&call)).await;
        assert_eq!(actions(&shown), [("a.txt", "delete")], "{shown}");
        assert_eq!(world.names(), [""; 0]);
    }
}

fn put(world: &World, name: &str, content: &str) {
    std::fs::write(world.work().join(name), content).unwrap();
}

async fn approve(world: &World, server: &Serving, asked: &Value) {
    world.decide(server, asked, "approve", json!({"decision": "approved"})).await;
}

/// The call that was made last.
async fn latest(world: &World, server: &Serving) -> Value {
    world.get(server, "tools/executions").await["executions"][0].clone()
}

fn of_call(call: &Value) -> String {
    format!("tools/{}/undo", call["tool_id"].as_str().unwrap())
}

/// Looks at an undo, has it done, and returns what was shown.
async fn undo(world: &World, server: &Serving, path: &str) -> Value {
    let shown = world.get(server, path).await;
    let (status, done) = world.post(server, path, &json!({"digest": shown["digest"]})).await;
    assert_eq!((status, &done["left"]), (200, &json!([])), "{done}");
    shown
}

fn actions(shown: &Value) -> Vec<(&str, &str)> {
    let files = shown["files"].as_array().unwrap().iter();
    files
        .map(|file| (file["file_path"].as_str().unwrap(), file["action"].as_str().unwrap()))
        .collect()
}

/// Why there is nothing to look at.
async fn refusal(world: &World, server: &Serving, path: &str) -> String {
    let (_, refused) = world.post(server, path, &json!({"digest": ""})).await;
    refused["error"]["code"].as_str().unwrap_or_default().to_owned()
}
