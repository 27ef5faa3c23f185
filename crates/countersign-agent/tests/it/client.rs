//! What the client makes of what a server does.

use std::sync::Arc;
use std::time::Duration;

use countersign_agent::message::{MessageBlock, MessageThinking};
use countersign_agent::model::{AnswerStopReason, AnswerUsage, ModelError};
use countersign_agent::scripted::Scenario;
use countersign_agent::{AnthropicConnection, AnthropicModel, MessageToolResult, ModelMessage};
use countersign_gate::ManualClock;
use jiff::Timestamp;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::world::{World, ask_with, request, talk};

#[tokio::test]
async fn an_answer_comes_with_its_thought_its_text_and_its_calls() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        think = "They want two files. Grüße."
        say = "I'll read both."
        call = { tool = "Read", id = "toolu_{{i}}", input = { file_path = "{{cwd}}/{{i}}.txt" }, repeat = 2 }
        usage = { input_tokens = 100, output_tokens = 20, cache_read_input_tokens = 90 }
        chunk = 3
        "#,
    )
    .await;
    let reply = world.ask("go").await.unwrap();
    assert_eq!(reply.stop_reason, AnswerStopReason::ToolUse);
    assert_eq!(
        reply.usage,
        AnswerUsage {
            input_tokens: 100,
            output_tokens: 20,
            cache_read_input_tokens: 90,
            ..AnswerUsage::default()
        }
    );
    assert_eq!(
        serde_json::to_value(&reply.message.content[1..]).unwrap(),
        json!([
            {"type": "text", "text": "I'll read both."},
            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/w/1.txt"}},
            {"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/w/2.txt"}},
        ])
    );
    let MessageBlock::Thinking(MessageThinking { thinking, signature, .. }) =
        &reply.message.content[0]
    else {
        panic!("{:?}", reply.message.content);
    };
    assert_eq!(thinking, "They want two files. Grüße.");
    assert!(signature.as_ref().is_some_and(|it| !it.is_empty()));
}

#[tokio::test]
async fn a_conversation_with_thoughts_and_calls_stays_acceptable() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        think = "First one."
        call = { tool = "Read", input = { file_path = "a" } }
        [[script.turn]]
        expect = { result = '^content of a$', is_error = false }
        think = "Then another."
        say = "And"
        call = { tool = "Read", input = { file_path = "b" }, repeat = 3 }
        [[script.turn]]
        expect = { result = '^content of b$', count = 3 }
        say = "Done."
        "#,
    )
    .await;
    let mut messages = vec![ModelMessage::user("go")];
    let calls = talk(&world.client(), &mut messages, |call| {
        let path = call.input["file_path"].as_str().unwrap();
        MessageToolResult::ok(&call.id, format!("content of {path}"))
    })
    .await;
    assert_eq!(calls.len(), 4);
    assert_eq!(messages.last().unwrap().text(), "Done.");
    let last = world.recorded().last().unwrap();
    assert_eq!((last.status, last.place.as_deref()), (200, Some("script 1, turn 3")));
    assert_eq!(last.body.to_string().matches("cache_control").count(), 3);
    assert_eq!(last.body["system"][0]["cache_control"]["type"], "ephemeral");
}

#[tokio::test]
async fn what_passes_is_waited_for() {
    let world = World::playing(
        "[[script]]\n[[script.turn]]\nsay = 'at last'\nfail = { status = 529, times = 2 }",
    )
    .await;
    let (reply, waits) = world.insist("go").await;
    assert_eq!(reply.unwrap().message.text(), "at last");
    assert_eq!((waits.len(), world.recorded().len()), (2, 3));
}

#[tokio::test]
async fn a_connection_that_breaks_is_tried_again() {
    for cut in ["after_events = 0", "after_events = 4", "after_bytes = 333", "after_bytes = 900"] {
        let scenario = format!(
            "[[script]]\n[[script.turn]]\nsay = 'once and whole'\nchunk = 2\n\
             cut = {{ {cut}, times = 2 }}"
        );
        let world = World::playing(&scenario).await;
        let (reply, waits) = world.insist("go").await;
        assert_eq!(reply.unwrap().message.text(), "once and whole", "{cut}");
        assert_eq!(waits.len(), 2, "{cut}");
    }
}

#[tokio::test]
async fn the_server_says_how_long_to_wait() {
    let world = World::playing(
        "[[script]]\n[[script.turn]]\nsay = 'ok'\nfail = { status = 429, retry_after = 30 }",
    )
    .await;
    let (reply, waits) = world.insist("go").await;
    assert!(reply.is_ok());
    assert_eq!(waits, [Duration::from_secs(30)]);
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_is_typed() {
    let world = World::playing(
        "[[script]]\n[[script.turn]]\nsay = 'ok'\n\
         fail = { type = 'overloaded_error', after_events = 3 }",
    )
    .await;
    assert_eq!(world.ask("go").await.unwrap_err().code(), "overloaded");
    assert_eq!(world.ask("go").await.unwrap().message.text(), "ok");
}

#[tokio::test]
async fn each_refusal_has_its_code() {
    for (fail, code) in [
        ("status = 400", "bad_request"),
        ("status = 400, message = 'Your credit balance is too low to access it.'", "no_credit"),
        ("status = 400, message = 'prompt is too long: 1 > 0'", "too_long"),
        ("status = 401", "bad_api_key"),
        ("status = 402", "no_credit"),
        ("status = 403", "forbidden"),
        ("status = 404", "not_found"),
        ("status = 413", "too_long"),
        ("status = 429", "rate_limited"),
        ("status = 500", "server_error"),
        ("status = 529", "overloaded"),
    ] {
        let scenario =
            format!("[[script]]\n[[script.turn]]\nsay = 'ok'\nfail = {{ {fail}, times = 9 }}");
        let world = World::playing(&scenario).await;
        assert_eq!(world.ask("go").await.unwrap_err().code(), code, "{fail}");
    }
}

#[tokio::test]
async fn without_a_key_nothing_is_sent() {
    let world = World::playing("[[script]]\n[[script.turn]]\nsay = 'ok'").await;
    for key in ["", " \n"] {
        let asked = request(vec![ModelMessage::user("go")]);
        let error = ask_with(&world.client_with_key(key), asked, 1).await.unwrap_err();
        assert_eq!(error, ModelError::NoApiKey);
        assert!(error.hint().unwrap().contains("countersign demo"));
    }
    assert!(world.recorded().is_empty());
}

#[tokio::test]
async fn a_wrong_key_is_told_without_showing_it() {
    let world = World::playing("key = 'right'\n[[script]]\n[[script.turn]]\nsay = 'ok'").await;
    let asked = || request(vec![ModelMessage::user("go")]);
    let error = ask_with(&world.client_with_key("sk-s3cret"), asked(), 1).await.unwrap_err();
    assert_eq!(error.code(), "bad_api_key");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
    assert!(ask_with(&world.client_with_key("right"), asked(), 1).await.is_ok());
}

#[tokio::test]
async fn a_server_that_quotes_the_key_does_not_get_it_into_an_error() {
    let server = raw(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
         {\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no workspace for sk-s3cret\"}}",
    )
    .await;
    let error = ask_raw(&server).await.unwrap_err();
    assert_eq!(error.to_string(), "the model's server refused the request: no workspace for [key]");
}

#[tokio::test]
async fn nobody_there_is_a_network_error() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = ask_raw(&format!("http://{gone}")).await.unwrap_err();
    assert_eq!(error.code(), "network");
    assert!(error.to_string().contains(&gone.to_string()), "{error}");
    assert!(error.to_string().contains("refused"), "{error}");
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for_for_ever() {
    let scenario = Scenario::parse("[[script]]\n[[script.turn]]\nsay = 'ok'\ndelay_ms = 1000");
    // On this clock the delay never ends.
    let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
    let world = World::with_clock(scenario.unwrap(), clock).await;
    let connection = AnthropicConnection {
        base_url: world.url.clone(),
        key: Some("any".into()),
        idle_timeout: Duration::from_millis(50),
        ..AnthropicConnection::default()
    };
    let client = AnthropicModel::new(connection).unwrap();
    let error = ask_with(&client, request(vec![ModelMessage::user("go")]), 1).await.unwrap_err();
    assert_eq!(error.code(), "timed_out");
}

#[tokio::test]
async fn an_answer_in_one_piece_is_understood() {
    let server = raw(concat!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\n",
        "connection: close\r\n\r\n",
        r#"{"id":"msg","type":"message","role":"assistant","content":["#,
        r#"{"type":"text","text":"All at once."},"#,
        r#"{"type":"tool_use","id":"t","name":"Read","input":{"a":1}}],"#,
        r#""stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}"#,
    ))
    .await;
    let reply = ask_raw(&server).await.unwrap();
    assert_eq!(reply.message.text(), "All at once.");
    assert_eq!(reply.message.tool_uses().next().unwrap().input, json!({"a": 1}));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (3, 4));
}

#[tokio::test]
async fn what_is_not_the_api_is_said_to_be_so() {
    let page = raw("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<p>");
    let error = ask_raw(&page.await).await.unwrap_err();
    assert_eq!(error.code(), "protocol");
    assert!(error.to_string().contains("`text/html`"), "{error}");
    let broken =
        raw("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n<p>");
    assert_eq!(ask_raw(&broken.await).await.unwrap_err().code(), "protocol");
    let moved =
        raw("HTTP/1.1 302 Found\r\nlocation: http://elsewhere/\r\nconnection: close\r\n\r\n");
    assert_eq!(ask_raw(&moved.await).await.unwrap_err().code(), "bad_request");
}

async fn ask_raw(url: &str) -> Result<countersign_agent::ModelReply, ModelError> {
    let (base_url, key) = (url.to_owned(), Some("sk-s3cret".into()));
    let client = AnthropicModel::new(AnthropicConnection {
        base_url,
        key,
        ..AnthropicConnection::default()
    })
    .unwrap();
    ask_with(&client, request(vec![ModelMessage::user("go")]), 1).await
}

/// Starts a server that gives this answer to its first request, whatever it is.
async fn raw(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        // The body of a request ends with its outermost brace.
        while !request.ends_with(b"}") {
            assert_ne!(socket.read_buf(&mut request).await.unwrap(), 0);
        }
        socket.write_all(answer.as_bytes()).await.unwrap();
    });
    url
}
