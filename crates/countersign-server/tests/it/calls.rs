//! `tools/calls`: any other agent asks, waits, runs it itself and reports.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::world::World;

const NOTHING: &str = "[[script]]\n[[script.turn]]\nsay = 'hello'\n";
const CALLS: &str = "/my/projects/default/tools/calls";

fn write(id: &str, content: &str) -> Value {
    json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": content},
        "tool_use_id": id, "session_id": "s"})
}

fn path(call: &Value, rest: &str) -> String {
    format!("/my/projects/default/tools/{}{rest}", call["tool_id"].as_str().unwrap())
}

async fn decide(world: &World, call: &Value, verb: &str, body: Value) {
    let id = call["approval_id"].as_str().unwrap();
    let path = format!("/my/projects/default/approvals/{id}/{verb}");
    let (status, body) = world.post(&path, body).await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

/// The hook says the same when it judges by itself (`hook/answers.rs`).
#[tokio::test]
async fn the_mode_of_a_call_says_what_becomes_of_asking() {
    let world = World::playing(NOTHING).await;
    for (mode, said) in [
        ("default", "awaiting_approval"),
        ("acceptEdits", "approved"),
        ("plan", "failed"),
        ("dontAsk", "failed"),
    ] {
        let mut call = write(mode, "x");
        call["mode"] = mode.into();
        let (status, call) = world.post(CALLS, call).await;
        assert_eq!((status, &call["status"]), (StatusCode::OK, &json!(said)), "{mode}: {call}");
        if said == "failed" {
            assert_eq!(call["error_type"], "denied", "{mode}: {call}");
        }
    }
    let mut bypass = write("bypass", "x");
    bypass["mode"] = "bypassPermissions".into();
    let (status, refused) = world.post(CALLS, bypass).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "nobody may ask for that: {refused}");
}

/// Without the known status it would wait until the call is run.
#[tokio::test]
async fn a_decision_that_came_before_the_question_is_not_waited_for() {
    let world = World::playing(NOTHING).await;
    let (_, call) = world.post(CALLS, write("t1", "x")).await;
    decide(&world, &call, "approve", json!({"decision": "approved"})).await;
    let known = path(&call, "?wait_seconds=300&known_status=awaiting_approval");
    assert_eq!(world.get(&known).await["status"], "approved");
    let unknown = path(&call, "?known_status=decided");
    assert_eq!(world.get(&unknown).await["error"]["code"], "bad_query");
}

#[tokio::test]
async fn a_call_is_judged_asked_approved_and_reported_and_never_run_here() {
    let world = World::playing(NOTHING).await;
    let mut stream = world.stream("?executor=none").await;
    let (status, call) = world.post(CALLS, write("t1", "x")).await;
    assert_eq!((status, &call["status"]), (StatusCode::OK, &json!("awaiting_approval")), "{call}");
    assert_eq!((&call["risk_level"], &call["origin"]), (&json!("MEDIUM"), &json!("api")));
    let asked = stream.until("tool.approval_request").await;
    assert_eq!(
        (&asked.data["approval_id"], &asked.data["origin"]),
        (&call["approval_id"], &json!("api"))
    );
    let waited = path(&call, "?wait_seconds=5");
    let polling = world.get(&waited);
    let deciding = decide(&world, &call, "approve", json!({"decision": "approved"}));
    let (polled, ()) = tokio::join!(polling, deciding);
    assert_eq!((&polled["status"], &polled["waiting_for"]), (&json!("approved"), &json!("caller")));
    assert_eq!(polled["tool_input"], write("t1", "x")["tool_input"]);
    let done = json!({"status": "completed", "result": {"success": true, "stdout": "ok"}});
    let (status, taken) = world.post(&path(&call, "/result"), done.clone()).await;
    assert_eq!((status, &taken["status"]), (StatusCode::OK, &json!("completed")), "{taken}");
    let (status, _) = world.post(&path(&call, "/result"), done).await;
    assert_eq!(status, StatusCode::OK);
    stream.until("tool.result_ack").await;
    assert!(!world.path("a.txt").exists(), "the server never executes it");
    let listed = world.get("/my/projects/default/tools/executions?session=s").await;
    assert_eq!(listed["executions"][0]["result"]["stdout"], "ok");
}

#[tokio::test]
async fn what_is_harmless_is_approved_at_once_and_what_no_tool_can_run_fails() {
    let world = World::playing(NOTHING).await;
    std::fs::write(world.path("a.txt"), "x").unwrap();
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "a.txt"}});
    let (_, call) = world.post(CALLS, read).await;
    assert_eq!(
        (&call["status"], &call["risk_level"]),
        (&json!("approved"), &json!("LOW")),
        "{call}"
    );
    assert!(call.get("approval_id").is_none(), "nobody was asked: {call}");
    for wrong in [
        json!({"tool_name": "Read", "tool_input": {"path": "a.txt"}}),
        json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}),
    ] {
        let (status, call) = world.post(CALLS, wrong.clone()).await;
        assert_eq!((status, &call["status"]), (StatusCode::OK, &json!("failed")), "{wrong} {call}");
        assert!(call["error"].is_string() && call["error_type"].is_string(), "{call}");
    }
}

#[tokio::test]
async fn a_tool_that_nobody_knows_asks() {
    let world = World::playing(NOTHING).await;
    let (_, call) = world.post(CALLS, json!({"tool_name": "Fly", "tool_input": {"to": "x"}})).await;
    assert_eq!(
        (&call["status"], &call["risk_level"]),
        (&json!("awaiting_approval"), &json!("HIGH"))
    );
}

#[tokio::test]
async fn relative_paths_start_at_the_folder_that_is_given() {
    let world = World::playing(NOTHING).await;
    std::fs::create_dir(world.path("sub")).unwrap();
    let call = |cwd: Value| json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x"}, "cwd": cwd});
    let (_, made) = world.post(CALLS, call(json!(world.path("sub")))).await;
    let id = made["approval_id"].as_str().unwrap();
    let asked = world.get(&format!("/my/projects/default/approvals/{id}")).await;
    assert_eq!(asked["status"], "awaiting_approval", "{asked}");
    for outside in ["/", "..", "missing"] {
        let (status, error) = world.post(CALLS, call(json!(outside))).await;
        assert_eq!((status, &error["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("bad_cwd")));
    }
}

#[tokio::test]
async fn the_same_call_again_is_the_same_and_another_is_a_conflict() {
    let world = World::playing(NOTHING).await;
    let (_, call) = world.post(CALLS, write("t1", "x")).await;
    let (status, again) = world.post(CALLS, write("t1", "x")).await;
    assert_eq!((status, &again["tool_id"]), (StatusCode::OK, &call["tool_id"]));
    let (status, other) = world.post(CALLS, write("t1", "y")).await;
    assert_eq!((status, &other["error"]["code"]), (StatusCode::CONFLICT, &json!("other_call")));
    assert_eq!(other["execution"]["tool_id"], call["tool_id"]);
    let (_, next) = world.post(CALLS, write("t2", "y")).await;
    assert_ne!(next["tool_id"], call["tool_id"]);
    let edited = json!({"edited_input": {"file_path": "a.txt", "content": "edited"}});
    decide(&world, &call, "approve", edited.clone()).await;
    let (status, again) = world.post(CALLS, write("t1", "x")).await;
    assert_eq!((status, &again["status"]), (StatusCode::OK, &json!("approved")), "{again}");
    assert_eq!(again["tool_input"], edited["edited_input"], "as approved");
    let waiting = world.get("/my/projects/default/approvals?status=pending").await;
    assert_eq!(waiting["approvals"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_call_of_a_subagent_says_whose_it_is() {
    let world = World::playing(NOTHING).await;
    let mut wanted = write("t1", "x");
    wanted["agent"] = json!("Explore");
    let (status, call) = world.post(CALLS, wanted.clone()).await;
    assert_eq!((status, &call["agent"]), (StatusCode::OK, &json!("Explore")), "{call}");
    let waiting = world.get("/my/projects/default/approvals?status=pending").await;
    assert_eq!(waiting["approvals"][0]["agent"], "Explore");
    let (_, own) = world.post(CALLS, write("t2", "x")).await;
    assert_eq!(own.get("agent"), None);
    wanted["agent"] = json!("a\nb");
    let (status, _) = world.post(CALLS, wanted).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_rejection_is_what_the_waiting_caller_hears() {
    let world = World::playing(NOTHING).await;
    let mut stream = world.stream("?executor=none").await;
    let mut wanted = write("t1", "x");
    wanted["wait_seconds"] = json!(60);
    let deciding = async {
        let asked = stream.until("tool.approval_request").await;
        decide(&world, &asked.data, "reject", json!({"reason": "not today"})).await;
    };
    let ((_, call), ()) = tokio::join!(world.post(CALLS, wanted), deciding);
    assert_eq!((&call["status"], &call["feedback"]), (&json!("rejected"), &json!("not today")));
    assert_eq!(call["error"], "User rejected: not today");
    let done = json!({"status": "completed", "result": {}});
    let (status, refused) = world.post(&path(&call, "/result"), done).await;
    assert_eq!(
        (status, &refused["execution"]["status"]),
        (StatusCode::CONFLICT, &json!("rejected"))
    );
}

#[tokio::test]
async fn waiting_ends_with_its_time_and_with_the_server() {
    let world = World::playing(NOTHING).await;
    let (_, call) = world.post(CALLS, write("t1", "x")).await;
    let begun = Instant::now();
    let polled = world.get(&path(&call, "?wait_seconds=1")).await;
    assert_eq!(polled["status"], "awaiting_approval");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    for wrong in ["301", "-1", "x", "1.5", "99999999999999999999999"] {
        let answer = world.get(&path(&call, &format!("?wait_seconds={wrong}"))).await;
        assert_eq!(answer["success"], false, "{wrong}");
    }
    let url = world.url(&path(&call, "?wait_seconds=300"));
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let polling = tokio::spawn(http.get(url).bearer_auth(crate::world::TOKEN).send());
    // It is being waited for as soon as the server counts one more connection than ours.
    tokio::task::yield_now().await;
    let _world = world.restarted().await;
    if let Ok(answer) = polling.await.unwrap() {
        assert_eq!(answer.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn a_caller_may_take_a_lease_and_then_nobody_else_can() {
    let world = World::playing(NOTHING).await;
    std::fs::write(world.path("a.txt"), "x").unwrap();
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "a.txt"}});
    let (_, call) = world.post(CALLS, read).await;
    let (status, lent) = world.post(&path(&call, "/lease"), json!({})).await;
    assert_eq!((status, &lent["status"]), (StatusCode::OK, &json!("executing")), "{lent}");
    let (status, second) = world.post(&path(&call, "/lease"), json!({})).await;
    assert_eq!((status, &second["error"]["code"]), (StatusCode::CONFLICT, &json!("not_yours")));
    assert_eq!(second["execution"]["status"], "executing");
    let (status, _) = world.post(&path(&call, "/lease"), json!({"lease": lent["lease"]})).await;
    assert_eq!(status, StatusCode::OK);
    let done = json!({"status": "completed", "result": {}, "lease": lent["lease"]["token"]});
    let (status, _) = world.post(&path(&call, "/result"), done).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn a_call_that_cannot_be_read_is_refused() {
    let world = World::playing(NOTHING).await;
    for wrong in [
        json!({}),
        json!({"tool_name": "Read"}),
        json!({"tool_name": "Read", "tool_input": "a.txt"}),
        json!({"tool_name": "Read", "tool_input": null}),
        json!({"tool_name": "", "tool_input": {}}),
        json!({"tool_name": "a\0b", "tool_input": {}}),
        json!({"tool_name": "Read", "tool_input": {}, "wait_seconds": 301}),
        json!({"tool_name": "Read", "tool_input": {}, "wait_seconds": 1.5}),
        json!({"tool_name": "Read", "tool_input": {}, "wait_seconds": "5"}),
        json!({"tool_name": "Read", "tool_input": {}, "session_id": "a\nb"}),
        json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": ""}),
    ] {
        let (status, error) = world.post(CALLS, wrong.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong} {error}");
    }
    let none = world.get("/my/projects/default/tools/executions").await;
    assert_eq!(none["executions"], json!([]));
    for id in ["nope", "018f0000-0000-7000-8000-000000000000"] {
        let answer = world.get(&format!("/my/projects/default/tools/{id}")).await;
        assert_eq!(answer["error"]["code"], "unknown_execution");
    }
}
