//! The conversation over REST: messages, sessions, interruption.

use reqwest::StatusCode;
use serde_json::json;

use crate::world::World;

const HELLO: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";

const WRITE: &str = r#"
[[script]]
[[script.turn]]
say = "I'll write it."
call = { tool = "Write", id = "toolu_1", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Done: {{result}}"
"#;

#[tokio::test]
async fn a_message_is_taken_and_stands_in_its_conversation() {
    let world = World::playing(HELLO).await;
    let mut stream = world.stream("").await;
    let body = json!({"content": "hi", "executor": "local", "session_id": "s-1", "mood": "good"});
    let (status, taken) = world.post("/my/projects/default/chat/messages", body).await;
    assert_eq!((status, &taken["success"]), (StatusCode::ACCEPTED, &json!(true)));
    assert_eq!(taken["session_id"], "s-1");
    stream.until("run.done").await;
    let said = world.get("/my/projects/default/sessions/s-1/messages").await;
    let [question, answer] = said["messages"].as_array().unwrap().as_slice() else {
        panic!("{said}")
    };
    assert_eq!(question["message_id"], taken["message_id"]);
    assert_eq!((&question["role"], &question["run_id"]), (&json!("user"), &taken["run_id"]));
    assert_eq!(answer["role"], "assistant");
    assert_eq!(answer["content"], json!([{"type": "text", "text": "hello"}]));
    let again = json!({"content": "and now?", "executor": "local", "session_id": "s-1"});
    let (status, next) = world.post("/my/projects/default/chat/messages", again).await;
    assert_eq!((status, &next["session_id"]), (StatusCode::ACCEPTED, &json!("s-1")));
    stream.until("run.done").await;
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/my/projects/default/sessions/s-1/messages?limit=3{cursor}");
        let page = world.get(&path).await;
        all.extend(page["messages"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(all.len(), 4);
    let sessions = world.get("/my/projects/default/sessions").await;
    assert_eq!(sessions["sessions"][0]["session_id"], "s-1");
}

#[tokio::test]
async fn what_cannot_be_asked_is_said() {
    let world = World::playing(HELLO).await;
    let path = "/my/projects/default/chat/messages";
    for (body, code) in [
        (json!({"content": " ", "executor": "local"}), "empty_prompt"),
        (json!({"executor": "local"}), "bad_request"),
        (json!({"content": 7, "executor": "local"}), "bad_request"),
        (json!({"content": "x", "executor": "nobody"}), "bad_request"),
        (json!({"content": "x", "executor": "claude-cli"}), "mode_unavailable"),
        (
            json!({"content": "x", "executor": "local", "permission_mode": "toolApproval"}),
            "contradiction",
        ),
        (json!({"content": "x", "executor": "local", "session_id": ""}), "bad_session_id"),
        (json!({"content": "x", "executor": "local", "session_id": "a\0b"}), "bad_session_id"),
        (json!({"content": "x\0", "executor": "local"}), "bad_request"),
        (json!([]), "bad_request"),
    ] {
        let (status, error) = world.post(path, body.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body} {error}");
        assert_eq!(error["error"]["code"], code, "{body} {error}");
    }
    let (status, _) = world.post("/my/projects/nope/chat/messages", json!({"content": "x"})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_interruption_takes_back_what_waits_and_ends_the_run() {
    let world = World::playing(WRITE).await;
    let mut stream = world.stream("").await;
    let session = world.say("write").await;
    let asked = stream.until("tool.approval_request").await;
    let busy = json!({"content": "more", "executor": "local", "session_id": session});
    let (status, error) = world.post("/my/projects/default/chat/messages", busy).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("busy")));
    let path = format!("/my/projects/default/sessions/{session}/interrupt");
    let (status, done) = world.post(&path, json!({})).await;
    assert_eq!((status, &done["interrupted"]), (StatusCode::OK, &json!(true)), "{done}");
    let decided = stream.until("tool.approval_decided").await;
    assert_eq!(decided.data["status"], "cancelled");
    assert_eq!(decided.data["approval_id"], asked.data["approval_id"]);
    let over = stream.until("run.error").await;
    assert_eq!(over.data["code"], "cancelled");
    assert!(!world.path("a.txt").exists());
    let (status, error) = world.post(&path, json!({})).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("no_run")));
    let (status, _) = world.post("/my/projects/default/sessions/nope/interrupt", json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
