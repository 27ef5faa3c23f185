//! Connections that drop, pages that reload, servers that restart: nothing is lost.

use serde_json::{Value, json};

use crate::world::{World, name};

const TALK: &str = r#"
[[script]]
prompt = 'write'
[[script.turn]]
say = "One."
call = { tool = "Write", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Two."

[[script]]
[[script.turn]]
say = "I remember: {{prompt}}."
"#;

#[tokio::test]
async fn a_run_goes_on_without_its_client_and_who_comes_back_sees_it_all() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let init = client.next().await;
    let session = init["session_id"].clone();
    drop(client);
    let mut back = world.client().await;
    let request = back.until("tool_approval_request").await;
    back.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    assert_eq!(back.next().await["content"]["active"], true);
    back.decide(&request, true, None).await;
    let told = back.gather("result/success").await;
    let told = logged(&told);
    assert_eq!(
        told,
        [
            "system/init",
            "user/prompt",
            "assistant/text",
            "assistant/tool_use",
            "tool_approval_resolved",
            "user/tool_result",
            "assistant/text",
            "result/success"
        ]
    );
    assert_eq!(world.file("a.txt"), "a");
}

#[tokio::test]
async fn resuming_after_a_number_gives_what_came_after_it_once() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("hello").await;
    let all = client.gather("result/success").await;
    let middle = all.iter().find(|message| name(message) == "assistant/text").unwrap();
    let mut other = world.client().await;
    other.send(json!({"command": "resume", "after": middle["seq"]})).await;
    let resumed = other.next().await;
    assert_eq!(name(&resumed), "system/resumed");
    assert_eq!(resumed["content"]["head"], all.last().unwrap()["seq"]);
    assert_eq!(logged(&[other.next().await]), ["result/success"]);
    assert_eq!(name(&other.next().await), "system/caught_up");
    // What comes now comes to it too, also from runs it did not start.
    client.run("more").await;
    assert_eq!(logged(&other.gather("result/success").await).len(), 4);
}

/// A page that opens a new conversation names it itself, and hears nothing of the others.
#[tokio::test]
async fn a_conversation_that_has_not_begun_can_be_watched() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    let mut page = world.client().await;
    page.send(json!({"command": "resume", "after": 0, "session_id": "mine"})).await;
    assert_eq!(name(&page.next().await), "system/resumed");
    assert_eq!(name(&page.next().await), "system/caught_up");
    page.send(json!({"command": "run", "prompt": "hello", "session_id": "mine"})).await;
    let init = page.next().await;
    assert_eq!((name(&init).as_str(), &init["session_id"]), ("system/init", &json!("mine")));
    page.until("result/success").await;
}

#[tokio::test]
async fn a_plain_client_hears_of_its_own_runs_and_of_everybodys_requests() {
    let world = World::playing(TALK).await;
    let (mut one, mut two) = (world.client().await, world.client().await);
    one.run("write").await;
    let request = two.next().await;
    assert_eq!(name(&request), "tool_approval_request");
    two.decide(&request, true, None).await;
    assert_eq!(name(&two.next().await), "tool_approval_resolved");
    one.until("result/success").await;
    two.run("hello").await;
    assert_eq!(name(&two.next().await), "system/init", "nothing of the other run in between");
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_restart() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("hello").await;
    let first = client.gather("result/success").await;
    let world = world.restarted().await;
    let mut client = world.client().await;
    client.send(json!({"command": "run", "prompt": "and now", "continue": true})).await;
    let second = client.gather("result/success").await;
    assert_eq!(first[0]["session_id"], second[0]["session_id"]);
    assert!(second[0]["seq"].as_u64() > first[0]["seq"].as_u64(), "one log, one count");
}

#[tokio::test]
async fn a_server_told_to_stop_takes_back_what_waits_and_says_so() {
    let world = World::playing(TALK).await;
    let mut client = world.client().await;
    client.run("write").await;
    let request = client.until("tool_approval_request").await;
    let session = request["session_id"].clone();
    let world = world.restarted().await;
    let mut client = world.client().await;
    client.send(json!({"command": "resume", "after": 0, "session_id": session})).await;
    let told = logged(&client.gather("result/error").await);
    assert!(told.contains(&"tool_approval_resolved".to_owned()), "{told:?}");
    client.send(json!({"command": "run", "prompt": "write", "continue": true})).await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
}

/// The names of the messages that are in the log, in order; numbers must rise.
fn logged(messages: &[Value]) -> Vec<String> {
    let logged: Vec<_> = messages.iter().filter(|message| message["seq"].is_u64()).collect();
    assert!(logged.is_sorted_by_key(|message| message["seq"].as_u64()), "{logged:?}");
    logged.into_iter().map(name).collect()
}
