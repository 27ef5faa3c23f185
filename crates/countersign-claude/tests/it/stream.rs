//! Cases 2, 7, 8 and 9: the stream of messages, whatever is in it and whoever does not read it.

use countersign_claude::{
    Message, Options, PermissionResult, Query, SessionEnd, StreamError, ToolRequest,
};
use serde_json::json;

use crate::fake::{ask_once, assistant, connect, result};

#[tokio::test]
async fn garbage_between_messages_costs_nothing_but_itself() {
    let (mut query, mut fake, uuid) = ask_once("hello", Options::new()).await;
    fake.0.write(b"Debugger attached.\n\n\xff\xfe\n  \r\n").await;
    fake.say(assistant("one")).await;
    fake.0.write(b"{\"type\":\"assistant\", broken\n").await;
    fake.0.write(b"[1,2]\n42\nnull\n").await;
    fake.0.write(format!("{}\r\n", assistant("two")).as_bytes()).await;
    fake.0.write(result(&uuid, "no newline at the end").to_string().as_bytes()).await;
    fake.exit(0).await;
    let mut seen = Vec::new();
    while let Some(message) = query.next().await {
        seen.push(match message {
            Ok(message) => message.text(),
            Err(StreamError::Malformed(_)) => "malformed".to_owned(),
            Err(error) => panic!("{error}"),
        });
    }
    assert_eq!(seen, ["one", "malformed", "two", "no newline at the end"]);
}

#[tokio::test]
async fn a_line_of_64_mib_is_a_message() {
    const LONG: usize = 64 * 1024 * 1024 - 200;
    let (query, mut fake, uuid) = ask_once("hello", Options::new()).await;
    let line = result(&uuid, "TEXT").to_string();
    let (before, after) = line.split_once("TEXT").unwrap();
    let line = [before.as_bytes(), &vec![b'x'; LONG], after.as_bytes()].concat();
    tokio::spawn(async move {
        fake.0.write(&line).await;
        fake.exit(0).await;
    });
    assert_eq!(query.result().await.unwrap().result.unwrap().len(), LONG);
}

#[tokio::test]
async fn a_line_over_the_limit_is_reported_and_the_session_goes_on() {
    let (client, mut fake) = connect(Options::new().line_limit(1000)).await;
    let mut turn = client.send("hello").unwrap();
    let uuid = fake.prompt().await;
    fake.say(assistant(&"x".repeat(5000))).await;
    fake.say(result(&uuid, "done")).await;
    let oversize = turn.next().await.unwrap().unwrap_err();
    assert!(matches!(oversize, StreamError::Oversize { bytes: 5000.., limit: 1000 }), "{oversize}");
    assert_eq!(turn.result().await.unwrap().result.as_deref(), Some("done"));
}

#[tokio::test]
async fn what_is_unknown_is_delivered_as_it_came() {
    let lines = [
        json!({ "type": "of_tomorrow", "deep": { "a": [1, null, 2.50] }, "uuid": "u" }),
        json!({ "type": "system", "subtype": "of_tomorrow", "x": 1 }),
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [
            { "type": "of_tomorrow", "y": 2 }, { "type": "text", "text": "known" },
        ] }, "error": "of_tomorrow" }),
        json!({ "type": "result", "subtype": "of_tomorrow", "is_error": false, "z": 3 }),
    ];
    let (mut query, mut fake, _) = ask_once("hello", Options::new()).await;
    for line in &lines {
        fake.say(line.clone()).await;
    }
    fake.exit(0).await;
    for line in lines {
        assert_eq!(query.next().await.unwrap().unwrap().value(), line);
    }
    assert!(query.next().await.is_none());
}

#[tokio::test]
async fn a_caller_that_never_reads_does_not_stop_ten_thousand_requests() {
    const REQUESTS: usize = 10_000;
    let decide = async |request: ToolRequest| PermissionResult::deny(request.request_id);
    let (client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    let unread = client.send("hello").unwrap();
    fake.prompt().await;
    let line = assistant(&"x".repeat(500));
    for number in 0..REQUESTS {
        fake.say(line.clone()).await;
        let request = json!({ "subtype": "can_use_tool", "tool_name": "Bash", "input": {} });
        fake.ask(&number.to_string(), request).await;
        assert_eq!(fake.answer().await["response"]["message"], number.to_string());
    }
    assert_eq!(client.backlog().messages(), REQUESTS);
    assert!(client.backlog().bytes() > REQUESTS * 500);
    drop(unread);
    assert_eq!((client.backlog().messages(), client.backlog().bytes()), (0, 0));
}

#[tokio::test]
async fn when_too_much_waits_only_partial_messages_are_dropped() {
    let (client, mut fake) = connect(Options::new().backlog_limit(1000)).await;
    let mut turn = client.send("hello").unwrap();
    let uuid = fake.prompt().await;
    let piece = json!({ "type": "stream_event", "event": { "type": "ping" } });
    fake.say(piece.clone()).await;
    fake.say(assistant(&"x".repeat(2000))).await;
    for _ in 0..5 {
        fake.say(piece.clone()).await;
    }
    fake.say(assistant("whole")).await;
    fake.say(result(&uuid, "done")).await;
    fake.ask("1", json!({ "subtype": "of_tomorrow" })).await;
    fake.answer().await;
    assert_eq!(client.backlog().dropped(), 5);
    let mut kinds = Vec::new();
    while let Some(message) = turn.next().await {
        kinds.push(message.unwrap().kind().to_owned());
    }
    assert_eq!(kinds, ["stream_event", "assistant", "assistant", "result"]);
}

#[tokio::test]
async fn a_failed_result_is_the_reason_the_cli_ended() {
    let (mut query, mut fake, uuid) = ask_once("hello", Options::new()).await;
    let mut failed = result(&uuid, "API Error: 529 overloaded");
    failed["is_error"] = json!(true);
    failed["api_error_status"] = json!(529);
    fake.say(failed).await;
    fake.state("idle").await;
    fake.exit(1).await;
    assert!(matches!(query.next().await, Some(Ok(Message::Result(_)))));
    let end = last(&mut query).await;
    assert_eq!(end.to_string(), "API Error: 529 overloaded");
    let SessionEnd::Failed(result, fault) = end else { panic!("{end:?}") };
    assert_eq!((result.api_error_status, fault), (Some(529), None));
}

#[tokio::test]
async fn the_known_fault_of_the_cli_is_explained() {
    let (mut query, mut fake, uuid) = ask_once("hello", Options::new()).await;
    let mut failed = result(&uuid, "API Error: 400 messages.1: `tool_use` ids must be unique");
    failed["is_error"] = json!(true);
    fake.say(failed).await;
    fake.exit(1).await;
    query.next().await.unwrap().unwrap();
    let end = last(&mut query).await.to_string();
    assert!(end.contains("a fault of Claude Code (known of version 2.1.19"), "{end}");
}

#[tokio::test]
async fn a_crash_after_a_good_result_is_a_crash() {
    let (mut query, mut fake, uuid) = ask_once("hello", Options::new()).await;
    fake.say(result(&uuid, "done")).await;
    fake.exit(139).await;
    query.next().await.unwrap().unwrap();
    assert_eq!(last(&mut query).await.to_string(), "the CLI ended with code 139");
}

#[tokio::test]
async fn a_failure_that_was_got_over_is_not_the_reason_of_a_later_crash() {
    let (mut query, mut fake, uuid) = ask_once("hello", Options::new()).await;
    let mut failed = result(&uuid, "API Error: 529 overloaded");
    failed["is_error"] = json!(true);
    fake.say(failed).await;
    fake.say(assistant("again")).await;
    fake.exit(1).await;
    assert_eq!(last(&mut query).await.to_string(), "the CLI ended with code 1");
}

#[tokio::test]
async fn an_end_without_a_result_is_an_error_even_with_code_0() {
    let (mut query, fake, _) = ask_once("hello", Options::new()).await;
    fake.exit(0).await;
    assert_eq!(last(&mut query).await.to_string(), "the CLI ended with code 0");
}

async fn last(query: &mut Query) -> SessionEnd {
    loop {
        match query.next().await {
            Some(Err(StreamError::Ended(end))) => {
                assert!(query.next().await.is_none());
                return end;
            }
            Some(Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}
