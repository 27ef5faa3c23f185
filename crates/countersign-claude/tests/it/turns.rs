//! Case 12: which messages belong to which prompt.

use countersign_claude::{Options, TurnError, TurnStream, UserPrompt};
use serde_json::json;

use crate::fake::{assistant, connect, result};

#[tokio::test]
async fn each_turn_gets_its_own_messages_and_nothing_else() {
    let (client, mut fake) = connect(Options::new()).await;
    let mut rest = client.unsolicited();
    let (first, second) = (client.send("one").unwrap(), client.send("two").unwrap());
    let (one, two) = (fake.prompt().await, fake.prompt().await);
    assert_eq!((one.as_str(), two.as_str()), (first.uuid(), second.uuid()));
    fake.lifecycle(&one, "started").await;
    fake.lifecycle(&two, "queued").await;
    fake.say(assistant("first")).await;
    fake.say(result(&one, "first")).await;
    fake.lifecycle(&one, "completed").await;
    // A turn nobody asked for, while the second prompt waits.
    fake.say(assistant("background")).await;
    let mut unasked = result("", "background");
    unasked.as_object_mut().unwrap().remove("user_message_uuid");
    unasked["origin"] = json!({ "kind": "task-notification" });
    fake.say(unasked).await;
    fake.lifecycle(&two, "started").await;
    fake.say(assistant("second")).await;
    fake.say(result(&two, "second")).await;
    assert_eq!(texts(first).await, ["first", "first"]);
    assert_eq!(texts(second).await, ["second", "second"]);
    let mut others = Vec::new();
    while others.len() < 3 {
        others.push(rest.next().await.unwrap().unwrap().text());
    }
    assert_eq!(others, ["", "background", "background"]);
}

#[tokio::test]
async fn a_cli_that_tells_no_starts_is_taken_in_order() {
    let (client, mut fake) = connect(Options::new()).await;
    let (first, second) = (client.send("one").unwrap(), client.send("two").unwrap());
    for text in ["first", "second"] {
        fake.say(assistant(text)).await;
        let mut end = result("", text);
        end.as_object_mut().unwrap().remove("user_message_uuid");
        fake.say(end).await;
    }
    assert_eq!(texts(first).await, ["first", "first"]);
    assert_eq!(texts(second).await, ["second", "second"]);
}

#[tokio::test]
async fn prompts_taken_into_one_turn_share_its_messages() {
    let (client, mut fake) = connect(Options::new()).await;
    let (first, second) = (client.send("one").unwrap(), client.send("two").unwrap());
    for turn in [&first, &second] {
        fake.lifecycle(turn.uuid(), "started").await;
    }
    fake.say(assistant("both")).await;
    let mut end = result(first.uuid(), "both");
    end["user_message_uuids"] = json!([first.uuid(), second.uuid()]);
    fake.say(end).await;
    assert_eq!(texts(first).await, ["both", "both"]);
    assert_eq!(texts(second).await, ["both", "both"]);
}

#[tokio::test]
async fn a_prompt_taken_into_a_running_turn_ends_with_its_result() {
    let (client, mut fake) = connect(Options::new()).await;
    let (first, second) = (client.send("one").unwrap(), client.send("two").unwrap());
    fake.lifecycle(first.uuid(), "started").await;
    fake.say(assistant("working")).await;
    fake.lifecycle(second.uuid(), "started").await;
    fake.say(assistant("both")).await;
    fake.lifecycle(second.uuid(), "completed").await;
    let mut end = result(first.uuid(), "done");
    end["user_message_uuids"] = json!([first.uuid(), second.uuid()]);
    fake.say(end).await;
    fake.lifecycle(first.uuid(), "completed").await;
    fake.state("idle").await;
    assert_eq!(texts(first).await, ["working", "both", "done"]);
    assert_eq!(texts(second).await, ["both", "done"]);
}

#[tokio::test]
async fn a_prompt_that_got_no_result_is_over_when_the_cli_comes_to_rest() {
    let (client, mut fake) = connect(Options::new()).await;
    let (first, second) = (client.send("/clear").unwrap(), client.send("later").unwrap());
    fake.lifecycle(first.uuid(), "started").await;
    fake.lifecycle(first.uuid(), "completed").await;
    fake.state("idle").await;
    assert!(matches!(first.result().await, Err(TurnError::Cancelled)));
    fake.lifecycle(second.uuid(), "started").await;
    fake.say(result(second.uuid(), "done")).await;
    assert_eq!(texts(second).await, ["done"]);
}

#[tokio::test]
async fn an_interrupt_returns_its_receipt_and_the_stale_result_stays_with_its_turn() {
    let (client, mut fake) = connect(Options::new()).await;
    let slow = client.send("slow").unwrap();
    let (next, dropped) = (client.send("next").unwrap(), client.send("dropped").unwrap());
    for _ in 0..3 {
        fake.prompt().await;
    }
    fake.lifecycle(slow.uuid(), "started").await;
    let (receipt, ()) = tokio::join!(client.interrupt(), async {
        let request = fake.expect("interrupt").await;
        let receipt = json!({ "still_queued": [next.uuid()], "cancelled": [dropped.uuid()] });
        fake.reply(&request, receipt).await;
    });
    let receipt = receipt.unwrap();
    assert_eq!(receipt.still_queued, [next.uuid()]);
    assert_eq!(receipt.cancelled, [dropped.uuid()]);
    fake.lifecycle(dropped.uuid(), "cancelled").await;
    let mut stale = result(slow.uuid(), "");
    stale["subtype"] = json!("error_during_execution");
    stale["is_error"] = json!(true);
    fake.say(stale).await;
    fake.lifecycle(slow.uuid(), "cancelled").await;
    fake.lifecycle(next.uuid(), "started").await;
    fake.say(assistant("next")).await;
    fake.say(result(next.uuid(), "next")).await;
    assert!(slow.result().await.unwrap().is_error);
    assert!(matches!(dropped.result().await, Err(TurnError::Cancelled)));
    assert_eq!(texts(next).await, ["next", "next"]);
}

#[tokio::test]
async fn the_text_of_a_turn_is_what_the_model_said_to_the_caller() {
    let (client, mut fake) = connect(Options::new()).await;
    let turn = client.send(UserPrompt::text("hello")).unwrap();
    let uuid = fake.prompt().await;
    fake.say(assistant("One.")).await;
    let mut nested = assistant("from below");
    nested["parent_tool_use_id"] = json!("toolu_1");
    fake.say(nested).await;
    fake.say(json!({ "type": "user", "message": { "role": "user", "content": "tool" } })).await;
    fake.say(assistant("Two.")).await;
    fake.say(result(&uuid, "Two.")).await;
    assert_eq!(turn.text().await.unwrap(), "One.\nTwo.");
}

#[tokio::test]
async fn a_turn_that_is_dropped_holds_up_nobody() {
    let (client, mut fake) = connect(Options::new()).await;
    drop(client.send("one").unwrap());
    let second = client.send("two").unwrap();
    let (one, two) = (fake.prompt().await, fake.prompt().await);
    fake.lifecycle(&one, "started").await;
    fake.say(assistant("unheard")).await;
    fake.say(result(&one, "")).await;
    fake.lifecycle(&two, "started").await;
    fake.say(result(&two, "heard")).await;
    assert_eq!(texts(second).await, ["heard"]);
    assert_eq!(client.backlog().messages(), 0);
}

#[tokio::test]
async fn rewinding_returns_what_it_changed() {
    let (client, mut fake) = connect(Options::new().file_checkpointing()).await;
    let (rewind, ()) = tokio::join!(client.rewind_files("u"), async {
        let plan = fake.expect("rewind_files").await;
        assert_eq!(plan["request"]["dry_run"], true);
        let changes = json!({
            "canRewind": true, "filesChanged": ["a.txt"], "insertions": 1, "deletions": 2,
        });
        fake.reply(&plan, changes).await;
        let done = fake.expect("rewind_files").await;
        assert_eq!(done["request"].get("dry_run"), None);
        fake.reply(&done, json!({ "canRewind": true, "skippedLinks": 0 })).await;
    });
    let rewind = rewind.unwrap();
    assert_eq!(
        (rewind.can_rewind, rewind.files_changed, rewind.insertions, rewind.deletions),
        (true, vec!["a.txt".to_owned()], 1, 2)
    );
}

async fn texts(mut turn: TurnStream) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(message) = turn.next().await {
        let message = message.unwrap();
        if message.kind() != "command_lifecycle" {
            texts.push(message.text());
        }
    }
    texts
}
