//! Calls that a client runs: signals, leases, results, and what happens when somebody goes.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::stream::{Event, Stream};
use crate::world::World;

const READ: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "read_file", id = "toolu_1", input = { path = "a.txt" } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

const RUN: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "execute_command", id = "toolu_1", input = { command = "npm", args = ["test"], timeout = 30 } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

async fn say(world: &World) -> String {
    let body = json!({"content": "go"});
    let (status, taken) = world.post("/my/projects/default/chat/messages", body).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{taken}");
    taken["session_id"].as_str().unwrap().to_owned()
}

fn tool(event: &Event, rest: &str) -> String {
    format!("/my/projects/default/tools/{}{rest}", event.data["tool_id"].as_str().unwrap())
}

async fn approve(world: &World, event: &Event) {
    let id = event.data["approval_id"].as_str().unwrap();
    let path = format!("/my/projects/default/approvals/{id}/approve");
    let (status, body) = world.post(&path, json!({"decision": "approved"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
}

fn completed(stdout: &str) -> Value {
    let result = json!({"success": true, "stdout": stdout, "stderr": null, "exit_code": 0});
    json!({"status": "completed", "result": result})
}

/// A client written only from S2's words: no client id, no lease.
#[tokio::test]
async fn the_founding_documents_client_gets_its_signal_and_its_result_is_taken() {
    let world = World::playing(RUN).await;
    let mut stream = world.stream("").await;
    say(&world).await;
    let asked = stream.until("tool.approval_request").await;
    assert_eq!(
        (&asked.data["tool_name"], &asked.data["origin"], &asked.data["timeout_seconds"]),
        (&json!("execute_command"), &json!("client"), &json!(300)),
    );
    approve(&world, &asked).await;
    let decided = stream.until("tool.approval_decided").await;
    assert_eq!(decided.data["waiting_for"], "client");
    let signal = stream.until("tool.execution_signal").await;
    assert_eq!(signal.data["tool_id"], asked.data["tool_id"]);
    assert_eq!(signal.data["tool_name"], "execute_command");
    let params = json!({"command": "npm", "args": ["test"], "timeout": 30});
    assert_eq!(signal.data["tool_params"], params);
    assert!(signal.data["lease"]["token"].is_string());
    let (status, taken) = world.post(&tool(&signal, "/result"), completed("all green")).await;
    assert_eq!(
        (status, &taken),
        (
            StatusCode::OK,
            &json!({"success": true, "tool_id": asked.data["tool_id"], "status": "completed",
                "message": "Tool result processed"})
        )
    );
    let ack = stream.until("tool.result_ack").await;
    assert_eq!(
        (&ack.data["tool_id"], &ack.data["status"]),
        (&asked.data["tool_id"], &json!("received"))
    );
    let heard = stream.until("tool.result").await;
    assert_eq!(
        (&heard.data["content"], &heard.data["is_error"]),
        (&json!("all green"), &json!(false))
    );
    stream.until("run.done").await;
    let (status, _) = world.post(&tool(&signal, "/result"), completed("all green")).await;
    assert_eq!(status, StatusCode::OK, "the same again");
    let (status, other) = world.post(&tool(&signal, "/result"), completed("all red")).await;
    assert_eq!(
        (status, &other["error"]["code"]),
        (StatusCode::CONFLICT, &json!("already_settled"))
    );
    assert_eq!(other["execution"]["result"]["stdout"], "all green", "{other}");
    let refused = stream.until("tool.result_refused").await;
    assert_eq!(refused.data["tool_id"], asked.data["tool_id"]);
    let one = world.get(&tool(&signal, "")).await;
    assert_eq!((&one["status"], &one["result"]["exit_code"]), (&json!("completed"), &json!(0)));
}

#[tokio::test]
async fn what_is_harmless_runs_at_once_and_a_failure_reaches_the_model() {
    let world = World::playing(READ).await;
    let mut stream = world.stream("?client_id=c1").await;
    say(&world).await;
    let told = stream.gather("tool.execution_signal").await;
    assert!(!told.iter().any(|it| it.name == "tool.approval_request"), "{told:#?}");
    let failed = json!({"status": "failed", "error": "ENOENT: no such file"});
    let (status, body) = world.post(&tool(told.last().unwrap(), "/result"), failed).await;
    assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("failed")), "{body}");
    let heard = stream.until("tool.result").await;
    assert_eq!(
        (&heard.data["content"], &heard.data["is_error"]),
        (&json!("ENOENT: no such file"), &json!(true))
    );
    stream.until("run.done").await;
}

#[tokio::test]
async fn without_a_client_a_call_waits_and_says_so() {
    let world = World::playing(READ).await;
    let mut watcher = world.stream("?executor=none").await;
    say(&world).await;
    let state = watcher.until("tool.state").await;
    assert_eq!(
        (&state.data["status"], &state.data["waiting_for"], &state.data["client_connected"]),
        (&json!("approved"), &json!("client"), &json!(false))
    );
    let (status, refused) = world.post(&tool(&state, "/result"), completed("x")).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::CONFLICT, &json!("not_started")));
    assert_eq!(refused["execution"]["waiting_for"], "client");
    let mut client = world.stream("?client_id=late").await;
    let signal = client.until("tool.execution_signal").await;
    assert_eq!(signal.data["tool_id"], state.data["tool_id"]);
    world.post(&tool(&signal, "/result"), completed("x")).await;
    let told = watcher.gather("run.done").await;
    assert!(!told.iter().any(|it| it.name == "tool.execution_signal"), "only for who has it");
}

#[tokio::test]
async fn of_several_clients_the_first_runs_the_calls_and_when_it_goes_the_next() {
    let world = World::playing(READ).await;
    let mut first = world.stream("?client_id=one").await;
    first.comment().await;
    world.until_client("one").await;
    let mut second = world.stream("?client_id=two").await;
    say(&world).await;
    let signal = first.until("tool.execution_signal").await;
    world.post(&tool(&signal, "/result"), completed("x")).await;
    let told = second.gather("run.done").await;
    assert!(!told.iter().any(|it| it.name == "tool.execution_signal"), "{told:#?}");
    drop(first);
    world.until_client("two").await;
    say(&world).await;
    let signal = second.until("tool.execution_signal").await;
    world.post(&tool(&signal, "/result"), completed("x")).await;
    second.until("run.done").await;
}

#[tokio::test]
async fn a_client_that_comes_back_hears_again_of_what_it_has() {
    let world = World::playing(READ).await;
    let mut stream = world.stream("?client_id=c1").await;
    say(&world).await;
    let told = stream.gather("tool.execution_signal").await;
    let signal = told.last().unwrap();
    let before = signal.id.unwrap() - 1;
    // With the number it had before the signal, and without any.
    let mut again = Stream::open(&world, "?client_id=c1", Some(before)).await;
    let replayed = again.until("tool.execution_signal").await;
    assert_eq!((&replayed.data["tool_id"], replayed.id), (&signal.data["tool_id"], signal.id));
    assert_eq!(replayed.data["lease"]["token"], signal.data["lease"]["token"]);
    assert_eq!(stream.next_of("tool.execution_signal").await, None, "its older stream is over");
    let mut anew = world.stream("?client_id=c1").await;
    let unheard = anew.until("tool.execution_signal").await;
    assert_eq!(unheard.data["lease"]["token"], signal.data["lease"]["token"]);
    let mut other = world.stream("?client_id=c2&after=0").await;
    world.post(&tool(signal, "/result"), completed("x")).await;
    let told = other.gather("run.done").await;
    assert!(!told.iter().any(|it| it.name == "tool.execution_signal"));
}

#[tokio::test]
async fn a_lease_is_renewed_by_who_has_it_and_shows_output_as_it_comes() {
    let world = World::playing(READ).await;
    let mut stream = world.stream("?client_id=c1").await;
    say(&world).await;
    let signal = stream.until("tool.execution_signal").await;
    for lease in [signal.data["lease"]["token"].clone(), signal.data["lease"].clone()] {
        let body = json!({"lease": lease, "output": "line 1\n"});
        let (status, body) = world.post(&tool(&signal, "/lease"), body).await;
        assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("executing")), "{body}");
        assert_eq!(body["lease"]["token"], signal.data["lease"]["token"]);
        assert!(ends(&body["lease"]) >= ends(&signal.data["lease"]), "{body} {signal:?}");
        let output = stream.until("tool.output").await;
        assert_eq!((&output.data["text"], output.id), (&json!("line 1\n"), None));
    }
    let foreign = json!({"lease": "guess"});
    let (status, error) = world.post(&tool(&signal, "/lease"), foreign).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("foreign_lease")));
    let (status, error) = world.post(&tool(&signal, "/lease"), json!({})).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (StatusCode::CONFLICT, &json!("not_yours")),
        "{error}"
    );
    let mut late = completed("x");
    late["lease"] = json!("guess");
    let (status, error) = world.post(&tool(&signal, "/result"), late.clone()).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("foreign_lease")));
    let refused = stream.until("tool.result_refused").await;
    assert!(refused.data["reason"].as_str().unwrap().contains("somebody else"), "{refused:?}");
    late["lease"] = signal.data["lease"].clone();
    let (status, _) = world.post(&tool(&signal, "/result"), late).await;
    assert_eq!(status, StatusCode::OK);
    stream.until("run.done").await;
}

#[tokio::test]
async fn a_result_that_is_none_is_refused_and_the_call_goes_on() {
    let world = World::playing(READ).await;
    let mut stream = world.stream("").await;
    say(&world).await;
    let signal = stream.until("tool.execution_signal").await;
    for wrong in [
        json!({}),
        json!({"status": "done"}),
        json!({"status": "completed"}),
        json!({"status": "completed", "result": "text"}),
        json!({"status": "completed", "result": {"success": "yes"}}),
        json!({"status": "completed", "result": {"exit_code": 1.5}}),
        json!({"status": "failed"}),
        json!({"status": "failed", "error": 7}),
        json!({"status": "completed", "result": {}, "lease": 7}),
        json!({"status": "completed", "result": {}, "lease": {}}),
        json!([]),
    ] {
        let (status, error) = world.post(&tool(&signal, "/result"), wrong.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong} {error}");
    }
    for id in ["nope", "018f0000-0000-7000-8000-000000000000"] {
        let path = format!("/my/projects/default/tools/{id}/result");
        let (status, error) = world.post(&path, completed("x")).await;
        assert_eq!(
            (status, &error["error"]["code"]),
            (StatusCode::NOT_FOUND, &json!("unknown_execution"))
        );
    }
    let large = completed(&"x".repeat(6 * 1024 * 1024));
    let (status, _) = world.post(&tool(&signal, "/result"), large).await;
    assert_eq!(status, StatusCode::OK, "what a client read may be long");
    stream.until("run.done").await;
}

#[tokio::test]
async fn an_interrupted_run_gives_up_what_the_client_has_and_its_result_comes_too_late() {
    let world = World::playing(READ).await;
    let mut stream = world.stream("?client_id=c1").await;
    let session = say(&world).await;
    let signal = stream.until("tool.execution_signal").await;
    let path = format!("/my/projects/default/sessions/{session}/interrupt");
    world.post(&path, json!({})).await;
    let state = stream.until("tool.state").await;
    assert_eq!(
        (&state.data["status"], &state.data["error_type"]),
        (&json!("failed"), &json!("interrupted"))
    );
    let (status, error) = world.post(&tool(&signal, "/result"), completed("x")).await;
    assert_eq!(status, StatusCode::CONFLICT, "{error}");
    let lease = json!({"lease": signal.data["lease"]});
    let (status, _) = world.post(&tool(&signal, "/lease"), lease).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_server_that_dies_leaves_the_call_to_its_client_and_the_run_goes_on() {
    let world = World::playing(READ).await;
    let mut stream = world.stream("?client_id=c1").await;
    say(&world).await;
    let signal = stream.until("tool.execution_signal").await;
    let world = world.killed().await;
    let mut stream = Stream::open(&world, "?client_id=c1", signal.id).await;
    let (status, body) = world.post(&tool(&signal, "/result"), completed("late but good")).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let told = stream.gather("run.done").await;
    let said = told.iter().rfind(|it| it.name == "chat.message").unwrap();
    assert_eq!(said.data["content"], "Heard: late but good");
    assert!(!told.iter().any(|it| it.name == "tool.execution_signal"), "never a second run");
}

#[tokio::test]
async fn the_conversation_stays_with_the_executor_it_was_begun_with() {
    let world = World::playing("[[script]]\n[[script.turn]]\nsay = 'hello'\n").await;
    let mut stream = world.stream("?executor=none").await;
    let send = async |body: Value| world.post("/my/projects/default/chat/messages", body).await;
    send(json!({"content": "x", "session_id": "a", "executor": "local"})).await;
    let tools = |event: Event| event.data["tools"].as_array().unwrap().len();
    assert_eq!(tools(stream.until("run.started").await), 6);
    stream.until("run.done").await;
    send(json!({"content": "x", "session_id": "a"})).await;
    assert_eq!(tools(stream.until("run.started").await), 6);
    stream.until("run.done").await;
    send(json!({"content": "x", "session_id": "b"})).await;
    let started = stream.until("run.started").await;
    let four = json!(["read_file", "write_file", "list_directory", "execute_command"]);
    assert_eq!(started.data["tools"], four);
}

#[tokio::test]
async fn a_client_has_a_name_that_can_be_one() {
    let world = World::playing(READ).await;
    for query in ["?client_id=", "?client_id=a%20b", "?client_id=a:b", "?executor=me"] {
        let answer = crate::stream::request(&world, query, None).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
    }
    let long = format!("?client_id={}", "x".repeat(65));
    assert_eq!(crate::stream::request(&world, &long, None).await.status(), StatusCode::BAD_REQUEST);
}

/// When a lease ends: texts of moments do not sort like moments.
fn ends(lease: &Value) -> jiff::Timestamp {
    lease["expires_at"].as_str().unwrap().parse().unwrap()
}
