//! A conversation cannot be bricked: what the model's API would refuse is neither stored nor sent, and what
//! is broken already is mended. The scripted model refuses what the API refuses.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::world::{World, name};

const READS: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Read", input = { file_path = "a.txt" } }
[[script.turn]]
say = "Seen."
"#;

const MESSAGES: &str = "/my/projects/default/chat/messages";

/// Sends prompts one after the other as fast as they are answered, busy or not; returns how many ran.
async fn hammer(world: &World, prompts: usize) -> usize {
    let mut ran = 0;
    for n in 0..prompts {
        let body =
            json!({"content": format!("prompt {n}"), "session_id": "s", "executor": "local"});
        let (status, said) = world.post(MESSAGES, body).await;
        match status {
            StatusCode::ACCEPTED => ran += 1,
            StatusCode::CONFLICT => assert_eq!(said["error"]["code"], "busy", "{said}"),
            other => panic!("{other}: {said}"),
        }
    }
    ran
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_prompts_of_two_clients_leave_a_conversation_that_goes_on() {
    let world = World::playing(READS).await;
    std::fs::write(world.path("a.txt"), "a").unwrap();
    let (one, two) = tokio::join!(hammer(&world, 500), hammer(&world, 500));
    assert!(one + two > 1, "{one} and {two} ran");
    while world.get("/my/projects/default/sessions").await["sessions"][0]["active"] == true {}
    let mut last = world.client().await;
    last.send(json!({"command": "run", "prompt": "last", "continue": true, "session_id": "s"}))
        .await;
    let end = last.until("result").await;
    assert_eq!(name(&end), "result/success", "{end}");
    let log = world.gate().store();
    let project = countersign_gate::Project::from_root(world.root.to_str().unwrap()).id;
    let head = log.head(&project).await.unwrap();
    let entries = log.entries(&project, 0, head, 1_000_000).await.unwrap();
    let failed =
        entries.iter().filter(|it| matches!(it.event, countersign_gate::Event::RunFailed { .. }));
    assert_eq!(failed.count(), 0, "no prompt was refused by the model");
}

/// As an earlier version left it: the result of a call twice, and a call without one.
fn break_conversation(world: &World) {
    world.sql(
        r#"UPDATE messages SET body = '{"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": "t", "content": "a"},
             {"type": "tool_result", "tool_use_id": "t", "content": "Interrupted", "is_error": true}]}'
           WHERE session_id = 's' AND position = 3;
           INSERT INTO messages (project_id, session_id, position, run_id, body, created_at)
             SELECT project_id, session_id, 5, run_id, '{"role": "assistant", "content": [
               {"type": "tool_use", "id": "open", "name": "Read", "input": {"file_path": "a.txt"}}]}', created_at
             FROM messages WHERE session_id = 's' AND position = 4;
           INSERT INTO messages (project_id, session_id, position, run_id, body, created_at)
             SELECT project_id, session_id, 6, run_id, '{"role": "user", "content": "and now?"}', created_at
             FROM messages WHERE session_id = 's' AND position = 4;"#,
    );
}

async fn broken() -> World {
    let reads = READS.replace("tool = \"Read\",", "tool = \"Read\", id = \"t\",");
    let go_on = "[[script]]\nprompt = 'go on'\n[[script.turn]]\nsay = \"Here I am.\"\n";
    let world = World::playing(&format!("{go_on}{reads}")).await;
    std::fs::write(world.path("a.txt"), "a").unwrap();
    let mut client = world.client().await;
    client.send(json!({"command": "run", "prompt": "look", "session_id": "s"})).await;
    client.until("result/success").await;
    break_conversation(&world);
    world
}

fn results(messages: &Value) -> Vec<Value> {
    let blocks = messages["messages"].as_array().unwrap().iter();
    let blocks = blocks.filter_map(|it| it["content"].as_array()).flatten();
    blocks.filter(|it| it["type"] == "tool_result").map(|it| it["tool_use_id"].clone()).collect()
}

#[tokio::test]
async fn a_broken_conversation_is_mended_when_it_is_opened_and_says_so() {
    let world = broken().await;
    let mut client = world.client().await;
    client.send(json!({"command": "resume", "after": 0, "session_id": "s"})).await;
    // The past run ends in a result, too.
    let notice = loop {
        let message = client.next().await;
        if name(&message) == "system/notice" {
            break message;
        }
    };
    let sentence = notice["content"]["message"].as_str().unwrap();
    assert!(
        sentence.contains("1 repeated tool result removed, 1 missing result added"),
        "{sentence}"
    );
    let messages = world.get("/my/projects/default/sessions/s/messages").await;
    assert_eq!(results(&messages), [json!("t"), json!("open")]);
}

#[tokio::test]
async fn a_broken_conversation_goes_on_with_the_next_prompt() {
    let world = broken().await;
    let mut client = world.client().await;
    client
        .send(json!({"command": "run", "prompt": "go on", "continue": true, "session_id": "s"}))
        .await;
    let seen = client.gather("result").await;
    assert_eq!(name(seen.last().unwrap()), "result/success", "{seen:#?}");
    assert!(seen.iter().any(|it| name(it) == "system/notice"), "{seen:#?}");
}
