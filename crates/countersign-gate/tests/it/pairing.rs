//! Calls and their results in the record: none is answered twice, none is left open, what is broken is mended.

use countersign_core::Event;
use countersign_gate::{ConversationRepair, Gate, NewRun, NewRunMessage, RunEnd};
use serde_json::{Value, json};

use crate::world::{World, new_run};

fn calls(ids: &[&str]) -> NewRunMessage {
    let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {}});
    json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()}).into()
}

fn results(ids: &[&str]) -> NewRunMessage {
    let result = |id: &&str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    json!({"role": "user", "content": ids.iter().map(result).collect::<Vec<_>>()}).into()
}

/// The ids of all results that a conversation holds, in order.
async fn answered(gate: &Gate) -> Vec<String> {
    let messages = gate.store().messages(&"p".into(), &"s".into()).await.unwrap();
    let blocks = messages.iter().filter_map(|it| it.get("content")?.as_array()).flatten();
    blocks.filter_map(|it| Some(it.get("tool_use_id")?.as_str()?.to_owned())).collect()
}

#[tokio::test]
async fn a_second_result_of_a_call_is_not_stored() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    journal.record(vec![calls(&["a", "b"]), results(&["a"])], vec![]).await.unwrap();
    journal.record(vec![results(&["a", "b", "z"])], vec![]).await.unwrap();
    journal.record(vec![results(&["a"])], vec![]).await.unwrap();
    assert_eq!(answered(&world.gate).await, ["a", "b"]);
    assert_eq!(world.gate.store().messages(&"p".into(), &"s".into()).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_prompt_answers_what_the_run_before_it_left_open_and_nothing_else() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    journal.record(vec![calls(&["a", "b"]), results(&["b"])], vec![]).await.unwrap();
    journal.end(RunEnd::Failed, vec![], vec![]).await.unwrap();
    // What a driver read before the conversation was its own does not count.
    let stale = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "b", "content": "Interrupted", "is_error": true},
        {"type": "text", "text": "go on"}]});
    let run = NewRun { message: stale, ..new_run("s") };
    world.gate.begin_run(run).await.unwrap().unwrap();
    assert_eq!(answered(&world.gate).await, ["a", "b"]);
}

#[tokio::test]
async fn a_broken_conversation_is_mended_once_and_the_log_tells_of_it() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let whole = vec![calls(&["a"]), results(&["a"]), calls(&["b"]), results(&["b"])];
    journal.record(whole, vec![]).await.unwrap();
    assert_eq!(
        mended(&world.gate).await,
        ConversationRepair::default(),
        "one that goes on is left alone"
    );
    journal.end(RunEnd::Done, vec![], vec![]).await.unwrap();
    assert_eq!(mended(&world.gate).await, ConversationRepair::default(), "nothing is broken");
    let twice = r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]}"#;
    world.database.sql(&format!("UPDATE messages SET body = '{twice}' WHERE position = 5"));
    assert_eq!(mended(&world.gate).await, ConversationRepair { removed: 1, added: 0, moved: 0 });
    assert_eq!(mended(&world.gate).await, ConversationRepair::default());
    assert_eq!(answered(&world.gate).await, ["a"], "`b` is answered with the next prompt");
    let store = world.gate.store();
    let head = store.head(&"p".into()).await.unwrap();
    let last = store.entries(&"p".into(), head - 1, head, 1).await.unwrap().remove(0);
    assert_eq!(last.event, Event::ConversationMended { removed: 1, added: 0 });
    world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    assert_eq!(answered(&world.gate).await, ["a", "b"]);
    let messages: Vec<Value> = store.messages(&"p".into(), &"s".into()).await.unwrap();
    assert_eq!(messages.len(), 5);
}

async fn mended(gate: &Gate) -> ConversationRepair {
    gate.repair_conversation(&"p".into(), &"s".into(), None).await.unwrap()
}
