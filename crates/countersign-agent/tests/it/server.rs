//! What other clients see of the scripted server.

use std::sync::Arc;

use countersign_agent::scripted::{Scenario, ScriptedModel};
use countersign_gate::ManualClock;
use jiff::Timestamp;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::world::World;

const HELLO: &str = "[[script]]\n[[script.turn]]\nsay = 'Hello there'\nchunk = 6\n\
                     call = { tool = 'Read', id = 't', input = { file_path = 'a' } }";

#[tokio::test]
async fn a_stream_looks_like_the_real_one() {
    let world = World::playing(HELLO).await;
    let body = json!({"model": "m", "max_tokens": 9, "stream": true, "tools": [{"name": "Read"}],
        "messages": [{"role": "user", "content": "hi"}]});
    let response = post(&world, "/v1/messages", &body).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
    assert!(response.headers()["request-id"].to_str().unwrap().starts_with("req_"));
    let text = response.text().await.unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert!(text.contains(r#"{"type":"input_json_delta","partial_json":"{\"file"}"#), "{text}");
    assert!(text.contains(r#""delta":{"stop_reason":"tool_use","stop_sequence":null}"#), "{text}");
}

#[tokio::test]
async fn without_streaming_the_answer_is_one_object() {
    let world = World::playing(HELLO).await;
    let body = json!({"model": "m", "max_tokens": 9, "tools": [{"name": "Read"}],
        "messages": [{"role": "user", "content": "hi"}]});
    let answer: Value = post(&world, "/v1/messages", &body).await.json().await.unwrap();
    assert_eq!(answer["role"], "assistant");
    assert_eq!(
        answer["content"],
        json!([
            {"type": "text", "text": "Hello there"},
            {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}},
        ])
    );
    assert_eq!(answer["stop_reason"], "tool_use");
}

#[tokio::test]
async fn who_offers_no_tools_gets_no_calls() {
    let world = World::playing(HELLO).await;
    let body =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]});
    let answer: Value = post(&world, "/v1/messages", &body).await.json().await.unwrap();
    assert_eq!(answer["content"], json!([{"type": "text", "text": "Hello there"}]));
    assert_eq!(answer["stop_reason"], "end_turn");
}

#[tokio::test]
async fn what_the_api_refuses_is_refused_in_its_words() {
    let world = World::playing(HELLO).await;
    let body = json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]},
        {"role": "user", "content": "and?"},
    ]});
    let response = post(&world, "/v1/messages", &body).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let answer: Value = response.json().await.unwrap();
    assert_eq!(
        (&answer["type"], &answer["error"]),
        (
            &json!("error"),
            &json!({
                "type": "invalid_request_error",
                "message": "messages.1: `tool_use` ids were found without `tool_result` blocks \
                    immediately after: t1. Each `tool_use` block must have a corresponding \
                    `tool_result` block in the next message.",
            })
        )
    );
    assert_eq!(world.recorded().last().unwrap().status, 400);
}

#[tokio::test]
async fn a_request_that_is_none_is_recorded_too() {
    let world = World::playing("key = 'k'\n[[script]]\n[[script.turn]]\nsay = 'x'").await;
    let client = Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/v1/messages", world.url);
    let send = async |key: Option<&str>, version: bool, body: &'static str| {
        let mut request = client.post(&url).body(body);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if version {
            request = request.header("anthropic-version", "2023-06-01");
        }
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    for (key, version, body, status, words) in [
        (None, true, "{}", 401, "x-api-key header is required"),
        (Some("no"), true, "{}", 401, "invalid x-api-key"),
        (Some("k"), false, "{}", 400, "anthropic-version: header is required"),
        (Some("k"), true, "{", 400, "not valid JSON"),
        (Some("k"), true, "{}", 400, "model: Field required"),
    ] {
        let (came, text) = send(key, version, body).await;
        assert_eq!(came, status, "{text}");
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(world.recorded().len(), 5);
}

#[tokio::test]
async fn the_requests_can_be_read_over_http_without_the_key() {
    let world = World::playing("key = 'k3y'\n[[script]]\n[[script.turn]]\nsay = 'x'").await;
    let body =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]});
    let client = Client::builder().no_proxy().build().unwrap();
    let asked = client
        .post(format!("{}/v1/messages", world.url))
        .header("x-api-key", "k3y")
        .header("anthropic-version", "2023-06-01")
        .json(&body);
    assert_eq!(asked.send().await.unwrap().status(), 200);
    let text = get(&world, "/requests").await.text().await.unwrap();
    assert!(!text.contains("k3y"));
    let requests: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        requests,
        json!({"requests": [{"at": "1970-01-01T00:00:00Z", "path": "/v1/messages", "status": 200,
            "place": "script 1, turn 1", "body": body}]})
    );
}

#[tokio::test]
async fn clients_that_look_around_find_what_they_look_for() {
    let world = World::playing(HELLO).await;
    let client = Client::builder().no_proxy().build().unwrap();
    assert_eq!(client.head(&world.url).send().await.unwrap().status(), 200);
    assert_eq!(get(&world, "/v1/nothing").await.status(), 404);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let count: Value = post(&world, "/v1/messages/count_tokens", &body).await.json().await.unwrap();
    assert!(count["input_tokens"].as_u64().unwrap() > 5);
}

#[tokio::test]
async fn answers_on_their_way_do_not_hold_up_the_end() {
    let scenario = "pace_ms = 10\n[[script]]\nprompt = 'slow'\n[[script.turn]]\nsay = 'x'\n\
                    delay_ms = 10\n[[script]]\n[[script.turn]]\nsay = 'x'";
    // On this clock nothing ever comes to an end by itself.
    let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
    let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), clock.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/messages", listener.local_addr().unwrap());
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn({
        let (model, shutdown) = (model.clone(), shutdown.clone());
        async move { model.serve(listener, shutdown).await }
    });
    let ask = |prompt: &'static str| {
        let body = json!({"model": "m", "max_tokens": 9, "stream": true,
            "messages": [{"role": "user", "content": prompt}]});
        let client = Client::builder().no_proxy().build().unwrap();
        let request = client.post(&url).header("anthropic-version", "2023-06-01").json(&body);
        tokio::spawn(async move { request.send().await.unwrap().text().await })
    };
    let (slow, streaming) = (ask("slow"), ask("quick"));
    while clock.sleepers() < 2 {
        tokio::task::yield_now().await;
    }
    shutdown.cancel();
    serving.await.unwrap().unwrap();
    assert!(slow.await.unwrap().unwrap().contains("shutting down"));
    assert!(!streaming.await.unwrap().unwrap().contains("message_stop"));
}

async fn post(world: &World, path: &str, body: &Value) -> Response {
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("{}{path}", world.url));
    request.header("anthropic-version", "2023-06-01").json(body).send().await.unwrap()
}

async fn get(world: &World, path: &str) -> Response {
    let client = Client::builder().no_proxy().build().unwrap();
    client.get(format!("{}{path}", world.url)).send().await.unwrap()
}
