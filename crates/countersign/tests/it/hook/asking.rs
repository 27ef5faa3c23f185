//! What a server is asked, and what becomes of its answers.

use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::fake::{Fake, Say, TOOL_ID};
use super::world::{SESSION, World, answer, decision, folder};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_handed_in_waited_for_and_its_result_reported_once() {
    let fake = Fake::that(Say::Waits).await;
    let world = Arc::new(World::at(&fake.url));
    let (asked, project) = (world.says(world.write()), world.project());
    let person = async {
        fake.is_asked().await;
        fake.decide(json!({"status": "approved", "decided_by": "ana"}));
    };
    let (said, ()) = tokio::join!(asked, person);
    let (allowed, why) = decision(&said);
    assert_eq!(allowed, "allow");
    assert_eq!(why, format!("Countersign: approved by ana at {}", fake.url));
    assert_eq!(said["hookSpecificOutput"].get("updatedInput"), None);
    let mut seen = fake.seen();
    assert_eq!(seen.len(), 2, "{seen:?}");
    let (path, mut body) = seen.remove(0);
    assert_eq!(path, format!("POST {project}/calls"));
    assert!(body["wait_seconds"].take().as_u64().is_some_and(|wait| wait <= 300));
    let input = json!({"file_path": "a.txt", "content": "one\n"});
    assert_eq!(
        body,
        json!({
            "tool_name": "Write", "tool_input": input, "session_id": SESSION,
            "tool_use_id": "toolu_1", "cwd": world.work(), "wait_seconds": null,
            "mode": "default",
        })
    );
    let mut done = world.write();
    done["hook_event_name"] = "PostToolUse".into();
    done["tool_response"] = json!({"type": "create", "filePath": "a.txt"});
    for _ in 0..2 {
        assert_eq!(world.says(done.clone()).await, Value::Null);
    }
    let reported: Vec<_> =
        fake.seen().into_iter().filter(|(path, _)| path.ends_with("/result")).collect();
    let result = json!({"success": true, "response": {"type": "create", "filePath": "a.txt"}});
    assert_eq!(
        reported,
        [(
            format!("POST {project}/{TOOL_ID}/result"),
            json!({"status": "completed", "result": result})
        )]
    );
    assert!(folder(&world.data().join("hook")).is_empty(), "nothing is left behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_the_server_becomes_that_of_the_hook() {
    for (status, fields, decision, why) in [
        ("approved", json!({}), "allow", "Countersign: approved at"),
        ("approved", json!({"tool_input": null}), "allow", "Countersign: approved at"),
        ("rejected", json!({"feedback": "not now"}), "deny", "User rejected: not now"),
        ("rejected", json!({"error": "User rejected: no"}), "deny", "User rejected: no"),
        ("rejected", json!({}), "deny", "User rejected"),
        ("timeout", json!({}), "deny", "Approval timed out"),
        ("cancelled", json!({}), "deny", "The request was taken back"),
        ("failed", json!({"error_type": "denied", "error": "Denied: x"}), "deny", "Denied: x"),
        ("failed", json!({"error_type": "too_many_pending", "error": "many"}), "ask", "many"),
        ("failed", json!({"error_type": "no_result"}), "ask", "the server says `failed`"),
        ("completed", json!({}), "ask", "the server says `completed`"),
        ("executing", json!({}), "ask", "the server says `executing`"),
        ("on\u{1b}holiday", json!({}), "ask", "the server says `on\\u{1b}holiday`"),
        ("approved", json!({"tool_id": "../../x"}), "ask", "not understood"),
        ("approved", json!({"tool_id": null}), "ask", "not understood"),
        ("approved", json!({"tool_input": "rm"}), "ask", "left secrets out"),
    ] {
        let fake = Fake::that(Say::Status(status, fields.clone())).await;
        let world = Arc::new(World::at(&fake.url));
        let (said, reason) = self::decision(&world.says(world.write()).await);
        assert_eq!(said, decision, "{status} {fields}: {reason}");
        assert!(reason.contains(why), "{status} {fields}: {reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_surprise_asks_and_says_what_it_was() {
    for (status, text, why) in [
        (StatusCode::OK, "<html>", "not understood"),
        (StatusCode::OK, "{}", "not understood"),
        (StatusCode::NO_CONTENT, "", "not understood"),
        (StatusCode::FOUND, "", "answered 302"),
        (StatusCode::NOT_FOUND, "", "does not know this project"),
        (StatusCode::CONFLICT, "", "answered 409"),
        (StatusCode::FORBIDDEN, "", "does not accept the token"),
        (StatusCode::INTERNAL_SERVER_ERROR, "", "answered 500"),
        (StatusCode::SERVICE_UNAVAILABLE, "", "answered 503"),
    ] {
        let fake = Fake::that(Say::Raw(status, text)).await;
        let world = Arc::new(World::at(&fake.url));
        let (said, reason) = decision(&world.says(world.write()).await);
        assert_eq!(said, "ask", "{status}: {reason}");
        assert!(reason.contains(why) && reason.ends_with("so decide here"), "{reason}");
    }
    let fake = Fake::that(Say::Status("approved", json!({}))).await;
    let world = Arc::new(World::at(&fake.url).env("COUNTERSIGN_TOKEN", "wrong"));
    let (said, reason) = decision(&world.says(world.write()).await);
    assert_eq!((said.as_str(), reason.contains("does not accept the token")), ("ask", true));
    assert_eq!(fake.seen(), [], "nothing was handed in");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_changed_runs_as_changed_unless_the_rules_here_deny_it() {
    let changed = json!({"file_path": "b.txt", "content": "two\n"});
    let fake = Fake::that(Say::Status("approved", json!({"tool_input": changed}))).await;
    let world = Arc::new(World::at(&fake.url));
    let said = world.says(world.write()).await;
    assert_eq!(said["hookSpecificOutput"]["updatedInput"], changed);
    let worse = json!({"tool_input": {"command": "rm -rf /"}});
    let fake = Fake::that(Say::Status("approved", worse)).await;
    let world = Arc::new(World::at(&fake.url));
    let make = world.event("Bash", json!({"command": "make"}));
    assert_eq!(decision(&world.says(make).await).0, "deny");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_comes_back_masked_is_the_one_that_was_sent() {
    let secret = "export TOKEN=sk-ant-api03-abcdefghijklmnop && make";
    let masked = countersign_core::mask_input(&json!({ "command": secret }));
    assert_ne!(masked["command"], secret);
    let fake = Fake::that(Say::Status("approved", json!({"tool_input": masked}))).await;
    let world = Arc::new(World::at(&fake.url));
    let said = world.says(world.event("Bash", json!({ "command": secret }))).await;
    assert_eq!(decision(&said).0, "allow");
    assert_eq!(said["hookSpecificOutput"].get("updatedInput"), None);
    let mut changed = masked;
    changed["command"] = format!("{} -k", changed["command"].as_str().unwrap()).into();
    let fake = Fake::that(Say::Status("approved", json!({"tool_input": changed}))).await;
    let world = Arc::new(World::at(&fake.url));
    let said = world.says(world.event("Bash", json!({ "command": secret }))).await;
    assert_eq!(decision(&said).0, "ask", "with the mask in it, it would run wrongly");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_decides_in_time_or_the_server_dies_meanwhile_and_claude_code_asks() {
    let fake = Fake::that(Say::Waits).await;
    let world = Arc::new(World::at(&fake.url).with(&["--wait", "1"]));
    let (said, reason) = decision(&world.says(world.write()).await);
    assert_eq!((said.as_str(), reason.contains("nobody has decided")), ("ask", true), "{reason}");

    let fake = Fake::that(Say::Waits).await;
    let world = Arc::new(World::at(&fake.url));
    let asking = tokio::spawn({
        let world = world.clone();
        async move { world.says(world.write()).await }
    });
    fake.is_asked().await;
    fake.dies();
    let (said, reason) = decision(&asking.await.unwrap());
    assert_eq!((said.as_str(), reason.contains("has gone away")), ("ask", true), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_is_told_so() {
    let fake = Fake::that(Say::Waits).await;
    let world = Arc::new(World::at(&fake.url).with(&["--wait", "5"]));
    let event = world.write().to_string();
    let output = tokio::task::spawn_blocking(move || world.run(&event, &[])).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let note = format!("waiting up to 5 s for a decision on Write at {}/agent", fake.url);
    assert!(said.contains(&note), "{said}");
}

#[test]
fn a_server_that_is_not_there_is_noticed_at_once() {
    let world = World::at("http://127.0.0.1:9");
    let before = Instant::now();
    let (said, reason) = world.decides(&world.write());
    assert_eq!((said.as_str(), reason.contains("is not there")), ("ask", true), "{reason}");
    assert!(before.elapsed().as_secs() < 5, "nobody waits for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_elsewhere_in_this_machine_is_asked_about_reads_too() {
    // It was named, and there is no database here: it may have rules that we do not see.
    let fake = Fake::that(Say::Status("rejected", json!({}))).await;
    let world = Arc::new(World::at(&fake.url));
    let read = world.event("Read", json!({"file_path": "a.txt"}));
    assert_eq!(decision(&world.says(read.clone()).await).0, "deny");
    fake.dies();
    let (said, _) = decision(&world.says(read).await);
    assert_eq!(said, "allow", "the rules that are here say so");
    let (said, _) = decision(&world.says(world.write()).await);
    assert_eq!(said, "ask");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_database_is_here_reads_trouble_no_server() {
    let fake = Fake::that(Say::Status("rejected", json!({}))).await;
    let world = Arc::new(World::at(&fake.url));
    drop(world.gate().await);
    let read = world.event("Read", json!({"file_path": "a.txt"}));
    assert_eq!(decision(&world.says(read).await).0, "allow");
    assert_eq!(fake.seen(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_pre_tool_use_a_permission_request_only_hears_what_a_person_just_said() {
    let fake = Fake::that(Say::Status("approved", json!({}))).await;
    let world = Arc::new(World::at(&fake.url));
    let again = |event: &Value| {
        let mut event = event.clone();
        event["hook_event_name"] = "PermissionRequest".into();
        event.as_object_mut().unwrap().remove("tool_use_id");
        let world = world.clone();
        async move {
            let run = move || answer(&world.run(&event.to_string(), &["--again"]));
            tokio::task::spawn_blocking(run).await.unwrap()
        }
    };
    let read = world.event("Read", json!({"file_path": "a.txt"}));
    assert_eq!(again(&read).await, Value::Null, "rules are not a person");
    assert_eq!(again(&world.write()).await, Value::Null);
    assert_eq!(decision(&world.says(world.write()).await).0, "allow");
    let yes = json!({"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}});
    assert_eq!(again(&world.write()).await["hookSpecificOutput"], yes);
    let mut other = world.write();
    other["tool_input"]["content"] = "two\n".into();
    assert_eq!(again(&other).await, Value::Null, "of another call nothing was said");
    let mut elsewhere = world.write();
    elsewhere["session_id"] = "another".into();
    assert_eq!(again(&elsewhere).await, Value::Null);
    // The same call once more, with the server gone: what was said to the first does not count.
    fake.dies();
    let mut second = world.write();
    second["tool_use_id"] = "toolu_2".into();
    assert_eq!(decision(&world.says(second.clone()).await).0, "ask");
    assert_eq!(again(&second).await, Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_its_own_a_permission_request_is_answered_like_a_call() {
    let fake = Fake::that(Say::Status("rejected", json!({"feedback": "no"}))).await;
    let world = Arc::new(World::at(&fake.url));
    drop(world.gate().await);
    let decision = |event: Value| {
        let mut event = event;
        event["hook_event_name"] = "PermissionRequest".into();
        let world = world.clone();
        async move { world.says(event).await["hookSpecificOutput"]["decision"].clone() }
    };
    let read = world.event("Read", json!({"file_path": "a.txt"}));
    assert_eq!(decision(read).await, json!({"behavior": "allow"}));
    let rejected = json!({"behavior": "deny", "message": "User rejected: no"});
    assert_eq!(decision(world.write()).await, rejected);
    fake.dies();
    assert_eq!(decision(world.write()).await, Value::Null, "Claude Code asks");
}
