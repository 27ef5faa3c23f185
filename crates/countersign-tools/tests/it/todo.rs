use countersign_core::ToolCall;
use serde_json::json;

use crate::world::{World, assert_has};

#[tokio::test]
async fn what_was_noted_is_read_back() {
    let world = World::new();
    let todos = json!({"todos": [
        {"content": "Read the code", "status": "completed"},
        {"content": "Run the tests", "activeForm": "Running the tests", "status": "in_progress"},
        {"content": "Write it up", "status": "pending", "priority": "low", "id": "3"},
        {"content": "Dance", "status": "cancelled"},
    ]});
    let list = "1 of 4 are done:\n[x] Read the code\n[>] Running the tests\n[ ] Write it up (low)\n\
                [-] Dance\n";
    let noted = world.ok("TodoWrite", todos).await;
    assert_eq!(noted, format!("The tasks are noted. {list}"));
    assert_eq!(world.ok("TodoRead", json!({})).await, list);
    world.ok("TodoWrite", json!({"todos": []})).await;
    assert_eq!(world.ok("TodoRead", json!({})).await, "The list is empty.");
}

#[tokio::test]
async fn each_conversation_and_each_child_in_it_has_a_list_of_its_own() {
    let world = World::new();
    let one = json!({"todos": [{"content": "a", "status": "pending"}]});
    world.ok("TodoWrite", one).await;
    let call = || world.call("TodoRead", json!({}));
    for other in [
        ToolCall { session: "other".into(), ..call() },
        ToolCall { project: "other".into(), ..call() },
        ToolCall { agent: Some("main/explore".into()), ..call() },
    ] {
        let read = world.run_call(other).await.unwrap();
        assert_has(&read.content, "No tasks are noted here");
    }
    assert_has(&world.ok("TodoRead", json!({})).await, "[ ] a");
}

#[tokio::test]
async fn a_task_has_to_say_something_and_not_too_much() {
    let world = World::new();
    let task = |content: &str| json!({"todos": [{"content": content, "status": "pending"}]});
    assert_has(&world.fails("TodoWrite", task(" ")).await, "`todos[0].content` is empty");
    assert_has(&world.fails("TodoWrite", task(&"x".repeat(2001))).await, "say it shorter");
    let many: Vec<_> = (0..201).map(|_| json!({"content": "a", "status": "pending"})).collect();
    assert_has(&world.fails("TodoWrite", json!({"todos": many})).await, "at most 200");
    let odd = json!({"todos": [{"content": "a", "status": "paused"}]});
    assert_has(&world.fails("TodoWrite", odd).await, "unknown variant `paused`");
}
