//! Case 6: when the CLI's input is closed. Too early, and every later hook, permission and tool call
//! fails inside the CLI; never, and the run never ends.

use std::time::Duration;

use countersign_claude::{
    ControlError, HookEvent, HookMatcher, McpServer, Options, PermissionResult,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::fake::{Fake, ask_once, assistant, connect, result};

fn guarded() -> Options {
    Options::new().can_use_tool(async |_| PermissionResult::allow())
}

fn task(subtype: &str, fields: Value) -> Value {
    let mut line = json!({ "type": "system", "subtype": subtype, "task_id": "a" });
    line.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
    line
}

#[tokio::test]
async fn a_run_that_is_never_asked_anything_closes_its_input_at_once() {
    let (_query, mut fake, _) = ask_once("hello", Options::new()).await;
    fake.closed().await;
}

#[tokio::test]
async fn a_run_that_may_be_asked_keeps_its_input_open_until_idle() {
    let logging = || HookMatcher::logging(HookEvent::Stop, |_| {});
    let here = || McpServer::new("here", "1");
    for options in
        [guarded(), Options::new().hook(logging()), Options::new().sdk_mcp_server(here())]
    {
        let (query, mut fake, uuid) = ask_once("hello", options).await;
        fake.state("running").await;
        fake.say(result(&uuid, "done")).await;
        assert_open(&mut fake).await;
        fake.state("idle").await;
        fake.closed().await;
        fake.exit(0).await;
        assert_eq!(query.result().await.unwrap().result.as_deref(), Some("done"));
    }
}

#[tokio::test]
async fn a_background_agent_keeps_the_run_open_past_the_first_result() {
    let (_query, mut fake, uuid) = ask_once("hello", guarded()).await;
    fake.say(task("task_started", json!({ "task_type": "local_agent" }))).await;
    fake.say(result(&uuid, "it works")).await;
    assert_open(&mut fake).await;
    fake.say(task("task_notification", json!({ "status": "completed" }))).await;
    fake.closed().await;
}

#[tokio::test]
async fn an_agent_whose_end_comes_only_as_an_update_ends_too() {
    let (_query, mut fake, uuid) = ask_once("hello", guarded()).await;
    fake.say(task("task_started", json!({ "task_type": "local_workflow" }))).await;
    fake.say(result(&uuid, "it works")).await;
    fake.say(task("task_updated", json!({ "patch": { "status": "running" } }))).await;
    assert_open(&mut fake).await;
    fake.say(task("task_updated", json!({ "patch": { "status": "killed" } }))).await;
    fake.closed().await;
}

#[tokio::test]
async fn a_shell_that_never_ends_does_not_keep_an_older_cli_open() {
    let (_query, mut fake, uuid) = ask_once("hello", guarded()).await;
    fake.say(task("task_started", json!({ "task_type": "local_bash" }))).await;
    fake.say(result(&uuid, "it runs")).await;
    fake.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_cli_that_never_comes_to_rest_is_given_the_ceiling() {
    let options = guarded().background_ceiling(Some(Duration::from_mins(3)));
    let (_query, mut fake, uuid) = ask_once("hello", options).await;
    fake.state("running").await;
    fake.say(result(&uuid, "done")).await;
    let since = Instant::now();
    fake.closed().await;
    assert_eq!(since.elapsed().as_secs(), 180);
}

#[tokio::test(start_paused = true)]
async fn the_ceiling_does_not_run_while_somebody_is_at_work() {
    let options = guarded().background_ceiling(Some(Duration::from_mins(1)));
    let (_query, mut fake, uuid) = ask_once("hello", options).await;
    fake.state("running").await;
    fake.say(result(&uuid, "done")).await;
    fake.say(task("task_started", json!({ "task_type": "local_agent" }))).await;
    assert_open(&mut fake).await;
    tokio::time::advance(Duration::from_hours(1)).await;
    assert_open(&mut fake).await;
    fake.say(task("task_notification", json!({ "status": "completed" }))).await;
    fake.say(assistant("it is done")).await;
    assert_open(&mut fake).await;
    tokio::time::advance(Duration::from_hours(1)).await;
    assert_open(&mut fake).await;
    fake.state("requires_action").await;
    fake.say(result(&uuid, "done")).await;
    assert_open(&mut fake).await;
    tokio::time::advance(Duration::from_hours(1)).await;
    assert_open(&mut fake).await;
    fake.state("idle").await;
    fake.closed().await;
}

#[tokio::test]
async fn what_comes_after_the_result_is_still_delivered() {
    let (mut query, mut fake, uuid) = ask_once("hello", guarded()).await;
    fake.state("running").await;
    fake.say(result(&uuid, "done")).await;
    fake.state("idle").await;
    fake.closed().await;
    fake.say(json!({ "type": "prompt_suggestion", "suggestion": "and now?" })).await;
    fake.exit(0).await;
    let mut kinds = Vec::new();
    while let Some(message) = query.next().await {
        kinds.push(message.unwrap().kind().to_owned());
    }
    assert_eq!(kinds, ["result", "prompt_suggestion"]);
}

#[tokio::test]
async fn a_run_that_hears_nothing_any_more_says_so_at_once() {
    let (query, mut fake, _) = ask_once("hello", Options::new()).await;
    fake.closed().await;
    let error = query.interrupt().await.unwrap_err();
    assert!(matches!(error, ControlError::InputClosed), "{error}");
}

#[tokio::test]
async fn a_run_can_be_interrupted_while_it_may_be_asked() {
    let (query, mut fake, _) = ask_once("hello", guarded()).await;
    let (receipt, ()) = tokio::join!(query.interrupt(), async {
        let request = fake.expect("interrupt").await;
        fake.reply(&request, json!({ "still_queued": [] })).await;
    });
    assert_eq!(receipt.unwrap().still_queued, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn who_leaves_a_model_at_work_stops_it_first() {
    let (query, mut fake, _) = ask_once("hello", guarded()).await;
    drop(query);
    fake.expect("interrupt").await;
    fake.closed().await;
    // One that hears nothing any more is asked to end at once.
    let begun = Instant::now();
    let (query, mut fake, _) = ask_once("hello", Options::new()).await;
    drop(query);
    fake.0.wait_for_stop_request().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    // One at rest has its time to write its transcript.
    let (client, mut fake) = connect(Options::new()).await;
    drop(client);
    fake.closed().await;
    fake.0.wait_for_stop_request().await;
    assert_eq!(begun.elapsed().as_secs(), 5);
}

/// Asks something, whose answer shows that all before was read and the input is open.
async fn assert_open(fake: &mut Fake) {
    fake.ask("open", json!({ "subtype": "of_tomorrow" })).await;
    assert_eq!(fake.answer().await["request_id"], "open");
    // The task that would close it has had its chance.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    fake.ask("still", json!({ "subtype": "of_tomorrow" })).await;
    assert_eq!(fake.answer().await["request_id"], "still");
}
