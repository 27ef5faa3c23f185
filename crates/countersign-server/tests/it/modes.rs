//! Modes, what a refused run looks like, and what a plain client hears.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Client, World, name};

const TALK: &str = r#"
[[script]]
prompt = 'write'
[[script.turn]]
call = { tool = "Write", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Done."

[[script]]
[[script.turn]]
say = "hello"
"#;

async fn settle(world: &World, enabled: Value) {
    let body = json!({"settings": {"tool_approval_enabled": enabled}});
    let (status, said) = world.ask(Method::PATCH, "/my/projects/default", Some(body)).await;
    assert_eq!(status, StatusCode::OK, "{said}");
}

async fn resumed(client: &mut Client, session: &Value) -> Value {
    client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    client.until("system/resumed").await["content"].clone()
}

#[tokio::test]
async fn a_run_that_names_no_mode_follows_the_settings_and_then_the_conversation() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    settle(&world, json!(false)).await;
    client.send(json!({"command": "run", "prompt": "write"})).await;
    let done = client.gather("result/success").await;
    assert!(
        done.iter().all(|it| name(it) != "tool_approval_request"),
        "the switch is off: {done:#?}"
    );
    let session = done[0]["session_id"].clone();
    let opened = resumed(&mut world.client().await, &session).await;
    assert_eq!(
        (&opened["permission_mode"], &opened["default_mode"]),
        (&json!("bypassPermissions"), &json!("bypassPermissions"))
    );
    // What the settings said is not what the person chose: it ends with them.
    settle(&world, json!(null)).await;
    let opened = resumed(&mut world.client().await, &session).await;
    assert_eq!(opened["default_mode"], "sdk");
    std::fs::remove_file(world.path("a.txt")).unwrap();
    let go_on =
        json!({"command": "run", "prompt": "write", "continue": true, "session_id": session});
    client.send(go_on).await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    let list = world.get("/my/projects/default/sessions").await;
    assert_eq!(list["sessions"][0]["permission_mode"], "sdk");
    let new = resumed(&mut world.client().await, &json!("a-new-one")).await;
    assert_eq!((&new["permission_mode"], &new["default_mode"]), (&Value::Null, &json!("sdk")));
}

#[tokio::test]
async fn a_conversation_keeps_the_mode_that_was_chosen_unless_the_settings_forbid_it() {
    let world = World::playing(TALK).await;
    let body = json!({"content": "hello", "executor": "local", "permission_mode": "bypassPermissions",
        "session_id": "s"});
    let mut stream = world.stream("").await;
    let (status, taken) = world.post("/my/projects/default/chat/messages", body).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{taken}");
    stream.until("run.done").await;
    let world = world.restarted().await;
    let mut stream = world.stream("").await;
    let again = json!({"content": "write", "session_id": "s"});
    let (status, taken) = world.post("/my/projects/default/chat/messages", again.clone()).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{taken}");
    stream.until("run.done").await;
    assert_eq!(world.file("a.txt"), "a", "nobody was asked, as chosen before the restart");
    std::fs::remove_file(world.path("a.txt")).unwrap();
    settle(&world, json!(true)).await;
    world.post("/my/projects/default/chat/messages", again).await;
    stream.until("tool.approval_request").await;
    assert!(!world.path("a.txt").exists());
}

#[tokio::test]
async fn a_change_of_settings_is_pushed_to_the_sockets_of_its_project_only() {
    let world = World::playing(TALK).await;
    let shop = world.project("shop").await;
    let mut here = world.client().await;
    let mut there = world.client_with(&format!("&project={shop}")).await;
    for client in [&mut here, &mut there] {
        client.send(json!({"command": "resume", "after": 0})).await;
        client.until("system/caught_up").await;
    }
    let off = json!({"settings": {"tool_approval_enabled": false}});
    world.ask(Method::PATCH, &format!("/my/projects/{shop}"), Some(off)).await;
    let told = there.until("system/settings").await;
    assert_eq!(
        (&told["content"]["approvals"], &told["content"]["default_mode"]),
        (&json!("off"), &json!("bypassPermissions"))
    );
    settle(&world, json!(true)).await;
    assert_eq!(here.until("system/settings").await["content"]["approvals"], "kept");
}

#[tokio::test]
async fn a_refused_run_does_not_look_like_the_end_of_the_one_that_goes_on() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let request = client.until("tool_approval_request").await;
    let (session, run) = (&request["session_id"], &request["run_id"]);
    let busy = json!({"command": "run", "prompt": "more", "continue": true, "session_id": session});
    for (command, code) in [
        (busy, "busy"),
        (json!({"command": "run", "prompt": " "}), "empty_prompt"),
        (json!({"command": "run", "prompt": "x", "cwd": "/nowhere"}), "bad_cwd"),
    ] {
        client.send(command).await;
        let refused = client.next().await;
        assert_eq!(
            (
                name(&refused),
                &refused["content"]["code"],
                &refused["session_id"],
                &refused["run_id"]
            ),
            ("error".to_owned(), &json!(code), session, run),
            "{refused}"
        );
    }
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    client.send(json!({"command": "run", "prompt": " "})).await;
    let refused = client.until("result/error").await;
    assert_eq!(refused["content"]["code"], "empty_prompt", "nothing goes on: this is its result");
}

#[tokio::test]
async fn a_plain_client_that_comes_back_and_approves_hears_what_comes_of_it() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    client.until("tool_approval_request").await;
    drop(client);
    let mut back = world.client().await;
    let request = back.until("tool_approval_request").await;
    back.decide(&request, true, None).await;
    let heard: Vec<_> = back.gather("result/success").await.iter().map(name).collect();
    for part in ["tool_approval_resolved", "user/tool_result", "assistant/text"] {
        assert!(heard.iter().any(|it| it == part), "{part}: {heard:?}");
    }
}

#[tokio::test]
async fn the_diffs_of_several_files_stand_one_after_the_other_in_diff_lines() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** Add File: b.txt\n+b\n*** End Patch";
    world.hand_in("default", "ApplyPatch", json!({"patch": patch})).await;
    let request = client.until("tool_approval_request").await;
    assert_eq!(request["preview_type"], "multi_diff");
    let lines = json!([
        "--- a/a.txt",
        "+++ b/a.txt",
        "@@ -0,0 +1 @@",
        "+a",
        "--- a/b.txt",
        "+++ b/b.txt",
        "@@ -0,0 +1 @@",
        "+b"
    ]);
    assert_eq!(request["diff_lines"], lines);
    let listed = world.get("/my/approvals").await["approvals"][0].clone();
    assert_eq!(listed["diff_lines"], lines);
}

#[tokio::test]
async fn an_answer_that_may_have_no_token_and_a_setting_for_the_other_engine_are_refused() {
    let world = World::playing(TALK).await;
    let body = json!({"content": "hello", "executor": "local", "max_tokens": 0});
    let (status, said) = world.post("/my/projects/default/chat/messages", body).await;
    assert_eq!(
        (status, &said["error"]["code"]),
        (StatusCode::BAD_REQUEST, &json!("bad_max_tokens"))
    );
}
