//! The stream: nothing lost, nothing twice, over reconnects, slow readers and restarts.

use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::stream::{Event, Stream, request};
use crate::world::World;

const WRITE: &str = r#"
[[script]]
[[script.turn]]
say = "I'll write it."
call = { tool = "Write", id = "toolu_1", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Done."
"#;

/// Many entries: each turn says something long.
const LONG: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Bash", id = "toolu_{{i}}", input = { command = "echo {{i}}" }, repeat = 60 }
[[script.turn]]
say = "Done."
"#;

async fn approve(world: &World, event: &Event) {
    let id = event.data["approval_id"].as_str().unwrap();
    let path = format!("/my/projects/default/approvals/{id}/approve");
    let (status, body) = world.post(&path, json!({"decision": "approved"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

fn logged(events: &[Event]) -> Vec<(u64, String)> {
    events.iter().filter_map(|it| Some((it.id?, it.name.clone()))).collect()
}

#[tokio::test]
async fn a_run_is_told_from_the_message_to_the_end() {
    let world = World::playing(WRITE).await;
    let mut stream = world.stream("").await;
    let headers = stream.response.headers().clone();
    assert_eq!(headers["content-type"], "text/event-stream");
    assert_eq!(headers["cache-control"], "no-cache, no-transform");
    assert_eq!(headers["x-accel-buffering"], "no");
    assert!(!headers.contains_key("content-encoding"));
    let session = world.say("go").await;
    let mut told = stream.gather("tool.approval_request").await;
    let asked = told.last().unwrap().clone();
    approve(&world, &asked).await;
    told.extend(stream.gather("run.done").await);
    let names: Vec<_> = logged(&told).into_iter().map(|(_, name)| name).collect();
    assert_eq!(
        names,
        [
            "run.started",
            "chat.message",
            "chat.message",
            "tool.use",
            "tool.approval_request",
            "tool.approval_decided",
            "tool.state",
            "tool.state",
            "tool.result",
            "chat.message",
            "run.done",
        ]
    );
    assert!(told.iter().any(|it| it.name == "chat.delta" && it.id.is_none()));
    for event in &told {
        assert!(event.data["timestamp"].as_str().unwrap().ends_with('Z'), "{event:?}");
        assert_eq!(event.data["session_id"], session.as_str());
        assert!(event.data["run_id"].is_string());
    }
    // S2's fields, with S2's meaning.
    assert_eq!(
        (&asked.data["tool_name"], &asked.data["risk_level"], &asked.data["timeout_seconds"]),
        (&json!("Write"), &json!("MEDIUM"), &json!(300))
    );
    assert!(asked.data["description"].as_str().unwrap().contains("a.txt"));
    let of_message = |role: &str| {
        let said = told.iter().filter(|it| it.name == "chat.message" && it.data["role"] == role);
        said.map(|it| it.data["content"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of_message("user"), ["go"]);
    assert_eq!(of_message("assistant"), ["I'll write it.", "Done."]);
    assert_eq!(stream.comments.first().map(String::as_str), Some("countersign"));
}

#[tokio::test]
async fn who_comes_back_misses_nothing_and_sees_nothing_twice() {
    let world = World::playing(WRITE).await;
    let mut whole = world.stream("").await;
    world.say("go").await;
    let mut all = whole.gather("tool.approval_request").await;
    approve(&world, all.last().unwrap()).await;
    all.extend(whole.gather("run.done").await);
    let all = logged(&all);
    for (at, _) in &all {
        let rest: Vec<_> = all.iter().filter(|(id, _)| id > at).cloned().collect();
        if rest.is_empty() {
            continue;
        }
        for mut stream in [
            Stream::open(&world, "", Some(*at)).await,
            world.stream(&format!("?after={at}")).await,
            // Who comes back knows better than its address.
            Stream::open(&world, "?after=0", Some(*at)).await,
        ] {
            assert_eq!(logged(&stream.gather("run.done").await), rest);
        }
    }
    let mut again = world.stream("?after=0").await;
    let told = again.gather("run.done").await;
    assert_eq!(logged(&told), all);
    let asked = told.iter().find(|it| it.name == "tool.approval_request").unwrap();
    assert_eq!(asked.data["status"], "completed", "what is over is said to be");
    let world = world.restarted().await;
    let mut again = world.stream("?after=0").await;
    assert_eq!(logged(&again.gather("run.done").await), all);
}

#[tokio::test]
async fn a_number_that_is_not_there_is_refused() {
    let world = World::playing(WRITE).await;
    for (query, last) in [
        ("?after=7", None),
        ("", Some(7)),
        ("?after=x", None),
        ("?after=-1", None),
        ("?after=1e3", None),
    ] {
        let answer = request(&world, query, last).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
        let error: Value = answer.json().await.unwrap();
        assert_eq!(error["error"]["code"], "bad_cursor", "{query}");
    }
}

#[tokio::test]
async fn numbers_that_are_forgotten_are_a_gap_that_is_told() {
    let world = World::playing(WRITE).await;
    let mut stream = world.stream("").await;
    world.say("go").await;
    let asked = stream.until("tool.approval_request").await;
    approve(&world, &asked).await;
    let last = stream.until("run.done").await.id.unwrap();
    world.sql("DELETE FROM events WHERE seq <= 4");
    let mut late = world.stream("?after=1&executor=none").await;
    let gap = late.next().await.unwrap();
    assert_eq!((gap.name.as_str(), &gap.data), ("stream.gap", &json!({"from": 2, "to": 4})));
    let rest = logged(&late.gather("run.done").await);
    assert_eq!(rest.first().unwrap().0, 5);
    assert_eq!(rest.last().unwrap().0, last);
    world.sql("DELETE FROM events");
    let mut late = world.stream("?after=1&executor=none").await;
    let gap = late.next().await.unwrap();
    assert_eq!(gap.data, json!({"from": 2, "to": last}));
    world.say("go").await;
    assert_eq!(late.next().await.unwrap().id, Some(last + 1));
}

#[tokio::test]
async fn a_filter_leaves_one_conversation() {
    let world = World::playing("[[script]]\n[[script.turn]]\nsay = 'hello'\n").await;
    let mut all = world.stream("").await;
    let mut one = world.stream("?session_id=mine").await;
    let send = async |session: &str| {
        let body = json!({"content": "hi", "executor": "local", "session_id": session});
        world.post("/my/projects/default/chat/messages", body).await;
    };
    send("other").await;
    all.until("run.done").await;
    send("mine").await;
    all.until("run.done").await;
    for event in one.gather("run.done").await {
        assert_eq!(event.data["session_id"], "mine");
    }
}

#[tokio::test]
async fn a_slow_reader_slows_only_itself_and_loses_nothing() {
    let world = World::playing(LONG).await;
    // Opened, and not read from until everything has happened.
    let mut slow = world.stream("").await;
    let mut fast = world.stream("").await;
    for _ in 0..4 {
        world.say("go").await;
        let mut told = Vec::new();
        loop {
            let event = fast.next().await.unwrap();
            if event.name == "tool.approval_request" {
                approve(&world, &event).await;
            }
            let is_over = event.name == "run.done";
            told.push(event);
            if is_over {
                break;
            }
        }
    }
    let head = fast.last_id.unwrap();
    let mut numbers = Vec::new();
    while numbers.last() != Some(&head) {
        numbers.extend(slow.next().await.unwrap().id);
    }
    let first = numbers[0];
    assert_eq!(numbers, (first..=head).collect::<Vec<_>>());
}

#[tokio::test]
async fn many_listeners_all_see_one_request() {
    let world = World::playing(WRITE).await;
    let mut streams = join_all((0..200).map(|_| world.stream(""))).await;
    world.say("go").await;
    let asked = join_all(streams.iter_mut().map(|it| it.until("tool.approval_request"))).await;
    assert!(asked.windows(2).all(|two| two[0] == two[1]));
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let world = World::playing(WRITE).await;
    let mut stream = world.stream("").await;
    // One that reads nothing does not hold the server.
    let _silent = world.stream("").await;
    let world = world.restarted().await;
    assert_eq!(stream.next().await, None);
    let mut next = world.stream("").await;
    world.say("go").await;
    next.until("tool.approval_request").await;
}

#[tokio::test]
async fn a_token_in_the_address_opens_the_stream_and_nothing_beside_it() {
    let world = World::playing(WRITE).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let status = async |path: &str| http.get(world.url(path)).send().await.unwrap().status();
    let token = crate::world::TOKEN;
    let stream = "/my/projects/default/chat/stream";
    assert_eq!(status(&format!("{stream}?token={token}")).await, StatusCode::OK);
    assert_eq!(status(&format!("{stream}?token=wrong")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(stream).await, StatusCode::UNAUTHORIZED);
    let beside = format!("/my/projects/default/approvals?token={token}");
    assert_eq!(status(&beside).await, StatusCode::UNAUTHORIZED);
}
