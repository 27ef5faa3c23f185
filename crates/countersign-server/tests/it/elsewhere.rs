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
    assert!(refused.data["reason"].as_str().unwrap().contains("another client"), "{refused:?}");
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
    for query in
        ["?client_id=", "?client_id=a%20b", "?client_id=a:b", "?executor=", "?executor=a:b"]
    {
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

const WRITE: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "write_file", id = "toolu_1", input = { path = "a.txt", content = "one\nthree\n" } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

const LIST: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "execute_command", id = "toolu_1", input = { command = "ls", args = ["src"] } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

fn preimage(client: &str) -> Value {
    json!({"client_id": client, "root": "/home/me/shop", "path": "/home/me/shop/a.txt",
        "digest": "d-1", "content": "one\ntwo\n"})
}

/// What people see is the file of the client that will write, and nobody else can say what that is.
#[tokio::test]
async fn a_decision_is_bound_to_the_file_that_the_executing_client_shows() {
    let world = World::playing(WRITE).await;
    let mut laptop = world.stream("?executor=laptop&preimages=true").await;
    world.until_client("laptop").await;
    let mut tower = world.stream("?executor=tower&preimages=true").await;
    let told = tower.until("executor.role").await;
    assert_eq!(told.data["role"], "standing_by");
    let mut onlooker = world.stream("?executor=none").await;
    say(&world).await;
    let wanted = laptop.until("tool.preview_request").await;
    assert_eq!(
        (&wanted.data["tool_name"], &wanted.data["tool_params"]["path"]),
        (&json!("write_file"), &json!("a.txt"))
    );
    let path = tool(&wanted, "/preimage");
    let (status, refused) = world.post(&path, preimage("tower")).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::CONFLICT, &json!("not_asked")));
    let (status, body) = world.post(&path, json!({"client_id": "laptop", "root": ""})).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("bad_preimage")));
    let (status, taken) = world.post(&path, preimage("laptop")).await;
    assert_eq!(
        (status, taken),
        (StatusCode::OK, json!({"success": true, "tool_id": wanted.data["tool_id"]}))
    );
    let asked = onlooker.until("tool.approval_request").await;
    assert_eq!(asked.data["tool_id"], wanted.data["tool_id"]);
    assert_eq!(asked.data["preview_type"], "diff");
    let lines: Vec<_> = asked.data["diff_lines"].as_array().unwrap().iter().skip(3).collect();
    assert_eq!(lines, [" one", "-two", "+three"]);
    assert_eq!(asked.data["reasons"], json!(["changes `/home/me/shop/a.txt`"]));
    let (status, _) = world.post(&path, preimage("laptop")).await;
    assert_eq!(status, StatusCode::CONFLICT, "it is said once");
    approve(&world, &asked).await;
    let signal = laptop.until("tool.execution_signal").await;
    let expected = json!([{"path": "/home/me/shop/a.txt", "digest": "d-1"}]);
    assert_eq!(signal.data["preimages"], expected);
    let changed = json!({"status": "failed", "error": "`a.txt` is another one",
        "error_type": "file_changed"});
    let (status, _) = world.post(&tool(&signal, "/result"), changed).await;
    assert_eq!(status, StatusCode::OK);
    let told = onlooker.gather("run.done").await;
    let heard = told.iter().find(|it| it.name == "tool.result").unwrap();
    assert_eq!(heard.data["content"], "`a.txt` is another one");
    assert!(!told.iter().any(|it| it.name == "tool.preview_request"), "only for who is asked");
    let one = world.get(&tool(&signal, "")).await;
    assert_eq!((&one["status"], &one["error_type"]), (&json!("failed"), &json!("file_changed")));
}

#[tokio::test]
async fn a_client_that_shows_nothing_still_works_and_the_card_says_so() {
    let world = World::playing(WRITE).await;
    let mut stream = world.stream("").await;
    world.until_some_client().await;
    say(&world).await;
    let told = stream.gather("tool.approval_request").await;
    assert!(!told.iter().any(|it| it.name == "tool.preview_request"));
    let asked = told.last().unwrap();
    assert_eq!(asked.data["preview_type"], "generic");
    let unknown =
        "the content of the client's file is not known (the client does not show its files)";
    assert_eq!(asked.data["reasons"], json!(["changes `a.txt`", unknown]));
    approve(&world, asked).await;
    let signal = stream.until("tool.execution_signal").await;
    assert_eq!(signal.data["preimages"], Value::Null);
    world.post(&tool(&signal, "/result"), completed("x")).await;
    stream.until("run.done").await;
}

#[tokio::test]
async fn a_client_that_does_not_answer_holds_nothing_up_for_long() {
    let world = World::playing(WRITE).await;
    let mut stream = world.stream("?executor=laptop&preimages=true").await;
    world.until_client("laptop").await;
    say(&world).await;
    let wanted = stream.until("tool.preview_request").await;
    let asked = stream.until("tool.approval_request").await;
    let reasons = asked.data["reasons"].as_array().unwrap();
    assert_eq!(
        reasons.last().unwrap(),
        "the content of the client's file is not known (the client did not answer in time)"
    );
    let (status, _) = world.post(&tool(&wanted, "/preimage"), preimage("laptop")).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_client_with_a_name_goes_before_one_without_which_is_told_and_gets_work_when_alone() {
    let world = World::playing(READ).await;
    let mut curl = world.stream("").await;
    world.until_some_client().await;
    let mut laptop = world.stream("?executor=laptop").await;
    let told = curl.until("executor.role").await;
    assert_eq!(told.data["role"], "standing_by");
    let message = told.data["message"].as_str().unwrap();
    assert!(message.contains("another client executes this project's calls"), "{message}");
    assert!(message.contains("?executor=NAME"), "{message}");
    world.until_client("laptop").await;
    say(&world).await;
    let signal = laptop.until("tool.execution_signal").await;
    world.post(&tool(&signal, "/result"), completed("x")).await;
    let told = curl.gather("run.done").await;
    assert!(!told.iter().any(|it| it.name == "tool.execution_signal"), "{told:#?}");
    drop(laptop);
    let told = curl.until("executor.role").await;
    assert_eq!(
        (&told.data["role"], &told.data["message"]),
        (&json!("executing"), &json!("this client now executes the project's calls"))
    );
    say(&world).await;
    let signal = curl.until("tool.execution_signal").await;
    world.post(&tool(&signal, "/result"), completed("x")).await;
    curl.until("run.done").await;
}

#[tokio::test]
async fn a_reader_runs_unasked_where_the_client_says_what_it_is_and_in_that_form() {
    let world = World::playing(LIST).await;
    let mut stream = world.stream("?executor=laptop&preimages=true").await;
    world.until_client("laptop").await;
    say(&world).await;
    let wanted = stream.until("tool.preview_request").await;
    let said = json!({"client_id": "laptop", "root": "/home/me/shop", "program": "/usr/bin/ls",
        "effects": []});
    let (status, body) = world.post(&tool(&wanted, "/preimage"), said).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let told = stream.gather("tool.execution_signal").await;
    assert!(!told.iter().any(|it| it.name == "tool.approval_request"), "{told:#?}");
    let signal = told.last().unwrap();
    let runs = json!({"command": "/usr/bin/ls", "args": ["src"]});
    assert_eq!(signal.data["tool_params"], runs);
    let one = world.get(&tool(signal, "")).await;
    assert_eq!(one["risk_level"], "LOW");
    world.post(&tool(signal, "/result"), completed("x")).await;
    stream.until("run.done").await;
}

/// What one client showed is not written by another that shows nothing.
#[tokio::test]
async fn what_one_client_has_shown_does_not_run_at_another_that_checks_nothing() {
    let world = World::playing(WRITE).await;
    let mut laptop = world.stream("?executor=laptop&preimages=true").await;
    world.until_client("laptop").await;
    let mut other = world.stream("").await;
    say(&world).await;
    let wanted = laptop.until("tool.preview_request").await;
    world.post(&tool(&wanted, "/preimage"), preimage("laptop")).await;
    let asked = other.until("tool.approval_request").await;
    drop(laptop);
    let told = other.until("executor.role").await;
    assert_eq!(told.data["role"], "executing");
    approve(&world, &asked).await;
    let told = other.gather("run.done").await;
    assert!(!told.iter().any(|it| it.name == "tool.execution_signal"), "{told:#?}");
    let one = world.get(&tool(&asked, "")).await;
    assert_eq!((&one["status"], &one["error_type"]), (&json!("failed"), &json!("another_client")));
}
