//! A database that says no: whoever decided is told, nothing is half-decided, and the same decision
//! counts once the database takes it.

use serde_json::{Value, json};

use crate::world::{Client, World};

const TWO: &str = r#"
[[script]]
[[script.turn]]
call = [
    { tool = "Write", id = "w1", input = { file_path = "1.txt", content = "1" } },
    { tool = "Write", id = "w2", input = { file_path = "2.txt", content = "2" } },
]
[[script.turn]]
say = "Done."
"#;

const BREAK: &str = "CREATE TRIGGER broken BEFORE UPDATE ON tool_executions
    BEGIN SELECT RAISE(ABORT, 'out of order'); END";
const MEND: &str = "DROP TRIGGER broken";

#[tokio::test]
async fn a_decision_that_cannot_be_recorded_is_told_and_counts_when_made_again() {
    let (world, mut client, [first, second]) = asked().await;
    world.sql(BREAK);
    client.decide(&first, true, None).await;
    let error = client.until("error").await;
    assert_store(&error, &first);
    assert!(!world.path("1.txt").exists());
    world.sql(MEND);
    client.decide(&first, true, None).await;
    client.decide(&second, true, None).await;
    client.until("result/success").await;
    assert_eq!(world.file("1.txt"), "1");
}

/// Who approves all waits for each of them: none is left without an answer.
#[tokio::test]
async fn of_all_that_could_not_be_approved_each_is_told() {
    let (world, mut client, asked) = asked().await;
    world.sql(BREAK);
    client.approve_all(&asked.each_ref()).await;
    let answered = client.until("approve_all_answered").await;
    let answers = answered["content"]["answers"].as_array().unwrap();
    let told: Vec<_> =
        answers.iter().map(|it| (&it["request_id"], &it["outcome"], &it["code"])).collect();
    let (refused, store) = (json!("refused"), json!("store"));
    let expected: Vec<_> = asked.iter().map(|it| (&it["request_id"], &refused, &store)).collect();
    assert_eq!(told, expected);
    world.sql(MEND);
    client.approve_all(&asked.each_ref()).await;
    client.until("result/success").await;
    assert_eq!((world.file("1.txt"), world.file("2.txt")), ("1".into(), "2".into()));
}

async fn asked() -> (World, Client, [Value; 2]) {
    let world = World::playing(TWO).await;
    let mut client = world.client().await;
    client.run("go").await;
    let requests =
        [client.until("tool_approval_request").await, client.until("tool_approval_request").await];
    (world, client, requests)
}

#[track_caller]
fn assert_store(error: &Value, request: &Value) {
    assert_eq!(error["request_id"], request["request_id"], "{error}");
    assert_eq!(error["content"]["code"], "store");
    let sentence = error["content"]["message"].as_str().unwrap();
    assert!(sentence.contains("nothing was changed"), "{sentence}");
}
