//! Whole flows: prompt, request, decision, result.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::world::{Client, World, name};

const WRITE: &str = r#"
[[script]]
[[script.turn]]
name = "write"
say = "I'll create that file for you."
call = { tool = "Write", id = "toolu_01ABC123", input = { file_path = "{{cwd}}/test.txt", content = "hello world" } }
[[script.turn]]
[[script.turn.either]]
when = { is_error = true, result = '^User rejected: use a different name$' }
say = "Another name, then."
call = { tool = "Write", id = "toolu_02", input = { file_path = "other.txt", content = "hello world" } }
next = "done"
[[script.turn.either]]
when = { is_error = true }
say = "Then I leave it: {{result}}"
[[script.turn.either]]
say = "Done!"
[[script.turn]]
name = "done"
say = "Done!"
"#;

/// A client written only from S1's JSON examples: every field of every example is there, with the
/// example's value.
#[tokio::test]
async fn the_founding_documents_examples_hold_field_for_field() {
    let world = World::playing(WRITE).await;
    let path = world.path("test.txt").display().to_string();
    let mut client = world.client().await;
    client.run("Create a file called test.txt with 'hello world'").await;
    let init = client.next().await;
    assert_eq!(name(&init), "system/init");
    let mut streamed = String::new();
    let text = loop {
        let message = client.next().await;
        match name(&message).as_str() {
            "assistant/text_delta" => streamed += message["content"]["text"].as_str().unwrap(),
            _ => break message,
        }
    };
    assert_eq!(streamed, "I'll create that file for you.");
    let text_example = json!({"type": "assistant", "subtype": "text",
        "content": {"text": "I'll create that file for you."}});
    assert_has(&text, &text_example);
    let input = json!({"file_path": path, "content": "hello world"});
    let use_example = json!({"type": "assistant", "subtype": "tool_use",
        "content": {"id": "toolu_01ABC123", "name": "Write", "input": input}});
    assert_has(&client.next().await, &use_example);
    let request = client.next().await;
    let request_example = json!({
        "type": "tool_approval_request", "tool_name": "Write", "tool_input": input,
        "tool_use_id": "toolu_01ABC123", "preview_type": "diff",
        "preview_data": {"file_path": path, "is_new_file": true, "original_lines": 0, "new_lines": 1},
        "file_path": path, "original_content": "", "new_content": "hello world",
        "diff_lines": [format!("--- a/{path}"), format!("+++ b/{path}"), "@@ -0,0 +1 @@", "+hello world"],
        "status": "PENDING", "user_feedback": null, "risk_level": "MEDIUM",
        "allowed_decisions": ["approve", "reject", "edit", "session", "project"],
    });
    assert_has(&request, &request_example);
    assert!(!world.path("test.txt").exists(), "nothing runs before the decision");
    client.decide(&request, true, None).await;
    let resolved = client.until("tool_approval_resolved").await;
    assert_has(&resolved, &json!({"request_id": request["request_id"], "status": "APPROVED"}));
    let result_example = json!({"type": "user", "subtype": "tool_result", "content": {
        "tool_use_id": "toolu_01ABC123",
        "content": format!("Wrote 11 characters to {path}"), "is_error": false}});
    assert_has(&client.next().await, &result_example);
    let end = client.until("result").await;
    let end_example = json!({"type": "result", "subtype": "success",
        "content": {"message": "Conversation complete"}});
    assert_has(&end, &end_example);
    assert_eq!(world.file("test.txt"), "hello world");
}

#[tokio::test]
async fn a_rejection_with_feedback_reaches_the_model_which_adapts() {
    let world = World::playing(WRITE).await;
    let mut client = world.client().await;
    client.run("write").await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, false, Some("use a different name")).await;
    let result = client.until("user/tool_result").await;
    assert_eq!(result["content"]["content"], "User rejected: use a different name");
    assert_eq!(result["content"]["is_error"], true);
    let second = client.until("tool_approval_request").await;
    assert_eq!(second["file_path"], "other.txt");
    client.decide(&second, true, None).await;
    client.until("result/success").await;
    assert_eq!(world.file("other.txt"), "hello world");
    assert!(!world.path("test.txt").exists());
}

const TWENTY: &str = r#"
[[script]]
[[script.turn]]
say = "Twenty at once."
call = { tool = "Bash", id = "toolu_{{i}}", input = { command = "echo {{i}} >> ran.txt; echo number {{i}}" }, repeat = 20 }
[[script.turn]]
expect = { result = '^number \d+', is_error = false, count = 20 }
say = "All twenty came back."
"#;

/// Twenty calls in one message, decided in no order by two clients: each runs once, both agree, and
/// the model gets the answers in its own order (the scripted API refuses any other).
#[tokio::test]
async fn parallel_calls_decided_by_two_clients_run_once_each() {
    let world = World::playing(TWENTY).await;
    let (mut one, mut two) = (world.client().await, world.client().await);
    one.run("go").await;
    let asked = requests(&mut one, 20).await;
    let shown = requests(&mut two, 20).await;
    let ids = |requests: &[Value]| {
        let mut ids: Vec<_> = requests.iter().map(|r| r["request_id"].to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&asked), ids(&shown));
    let order = asked.iter().map(|request| request["tool_use_id"].as_str().unwrap());
    assert!(order.eq((1..=20).map(|n| format!("toolu_{n}"))), "asked in the model's order");
    // Both decide everything, from opposite ends: each request is decided twice, and runs once.
    for (first, second) in asked.iter().zip(asked.iter().rev()) {
        one.decide(first, true, None).await;
        two.decide(second, true, None).await;
    }
    let seen_by_one = one.gather("result/success").await;
    let seen_by_two = resolutions(&mut two, 20).await;
    let statuses = |messages: &[Value]| -> HashMap<String, String> {
        let resolved = messages.iter().filter(|m| name(m) == "tool_approval_resolved");
        resolved.map(|m| (m["request_id"].to_string(), m["status"].to_string())).collect()
    };
    assert_eq!(statuses(&seen_by_one).len(), 20);
    assert_eq!(statuses(&seen_by_one), statuses(&seen_by_two));
    let mut ran: Vec<u32> =
        world.file("ran.txt").lines().map(|line| line.parse().unwrap()).collect();
    ran.sort_unstable();
    assert_eq!(ran, (1..=20).collect::<Vec<_>>(), "each ran once");
}

#[tokio::test]
async fn approve_all_takes_what_is_listed_but_not_what_is_high() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = [
            { tool = "Write", id = "w1", input = { file_path = "1.txt", content = "1" } },
            { tool = "Write", id = "w2", input = { file_path = "2.txt", content = "2" } },
            { tool = "Bash", id = "b", input = { command = "rm -f three" } },
        ]
        [[script.turn]]
        say = "Done."
        "#,
    )
    .await;
    let mut client = world.client().await;
    client.run("go").await;
    let asked = requests(&mut client, 3).await;
    client.approve_all(&asked.iter().collect::<Vec<_>>()).await;
    resolutions(&mut client, 2).await;
    let high = asked.iter().find(|request| request["tool_name"] == "Bash").unwrap();
    assert_eq!(high["risk_level"], "HIGH");
    client.decide(high, false, None).await;
    let seen = client.gather("result/success").await;
    let rejected =
        seen.iter().find(|m| name(m) == "user/tool_result" && m["content"]["tool_use_id"] == "b");
    assert_eq!(rejected.unwrap()["content"]["content"], "User rejected");
    assert_eq!((world.file("1.txt"), world.file("2.txt")), ("1".into(), "2".into()));
}

/// Two edits of one file in one message: the second is previewed on what the first left.
#[tokio::test]
async fn calls_that_change_the_same_file_go_one_after_the_other() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = [
            { tool = "Edit", id = "e1", input = { file_path = "a.txt", old_string = "one", new_string = "1" } },
            { tool = "Edit", id = "e2", input = { file_path = "./a.txt", old_string = "two", new_string = "2" } },
        ]
        [[script.turn]]
        say = "Done."
        "#,
    )
    .await;
    std::fs::write(world.path("a.txt"), "one\ntwo\n").unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    for shown in ["+1", "+2"] {
        let request = client.until("tool_approval_request").await;
        let added: Vec<_> = request["diff_lines"].as_array().unwrap().iter().skip(2).collect();
        assert!(added.contains(&&json!(shown)), "{added:?}");
        client.decide(&request, true, None).await;
    }
    client.until("result/success").await;
    assert_eq!(world.file("a.txt"), "1\n2\n");
}

/// What moved under its approval is asked for again, and the new request says what moved.
#[tokio::test]
async fn a_file_that_changed_after_it_was_shown_is_asked_for_again() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Edit", input = { file_path = "a.txt", old_string = "one", new_string = "1" } }
        [[script.turn]]
        expect = { result = 'has been updated', is_error = false, count = 1 }
        say = "Done."
        "#,
    )
    .await;
    std::fs::write(world.path("a.txt"), "one\n").unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    assert_eq!(request["asked_again"], json!(null));
    std::fs::write(world.path("a.txt"), "one, and something a person wrote\n").unwrap();
    client.decide(&request, true, None).await;
    let again = client.until("tool_approval_request").await;
    assert_eq!(world.file("a.txt"), "one, and something a person wrote\n");
    assert_ne!(again["request_id"], request["request_id"]);
    let moved = again["asked_again"].as_str().unwrap();
    assert!(moved.contains("`a.txt` has changed since it was approved"), "{moved}");
    client.decide(&again, true, None).await;
    let seen = client.gather("result/success").await;
    assert_eq!(seen.iter().filter(|m| name(m) == "user/tool_result").count(), 1);
    assert_eq!(world.file("a.txt"), "1, and something a person wrote\n");
}

/// A link that is swapped after the approval leads nowhere.
#[tokio::test]
async fn a_link_swapped_after_the_approval_is_not_followed() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Write", input = { file_path = "out/a.txt", content = "x" } }
        [[script.turn]]
        say = "Done."
        "#,
    )
    .await;
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(world.path("real")).unwrap();
    std::os::unix::fs::symlink("real", world.path("out")).unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    assert_eq!(request["risk_level"], "MEDIUM");
    std::fs::remove_file(world.path("out")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), world.path("out")).unwrap();
    client.decide(&request, true, None).await;
    let again = client.until("tool_approval_request").await;
    assert_eq!(again["risk_level"], "HIGH");
    assert!(again["asked_again"].as_str().unwrap().contains("changed since it was judged"));
    client.decide(&again, false, None).await;
    client.until("result/success").await;
    assert!(std::fs::read_dir(elsewhere.path()).unwrap().next().is_none());
}

const TWO_WRITES: &str = r#"
[[script]]
[[script.turn]]
call = { tool = "Write", id = "w1", input = { file_path = "src/a.txt", content = "one" } }
[[script.turn]]
call = { tool = "Write", id = "w2", input = { file_path = "src/b.txt", content = "two" } }
[[script.turn]]
say = "Done."
"#;

#[tokio::test]
async fn always_asks_once_and_shows_what_it_will_keep() {
    let world = World::playing(TWO_WRITES).await;
    std::fs::create_dir(world.path("src")).unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    let proposals = request["proposals"].as_array().unwrap();
    let rules: Vec<_> = proposals.iter().map(|it| it["rules"][0].as_str().unwrap()).collect();
    assert_eq!(rules, ["Edit(/src/a.txt)", "Edit(/src/*.txt)", "Edit(/src/**)"]);
    let decision = |rule: &str| {
        json!({"command": "tool_approval_response", "request_id": request["request_id"],
               "approved": true, "scope": "session", "rule": rule, "digest": request["digest"]})
    };
    client.send(decision("Edit(/**)")).await;
    let refused = client.until("error").await;
    assert_eq!(refused["content"]["code"], "not_always");
    client.send(decision("Edit(/src/*.txt)")).await;
    let seen = client.gather("result/success").await;
    assert!(!seen.iter().any(|m| name(m) == "tool_approval_request"), "asked again: {seen:?}");
    assert_eq!((world.file("src/a.txt"), world.file("src/b.txt")), ("one".into(), "two".into()));
}

#[tokio::test]
async fn an_edited_input_runs_as_edited() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Write", input = { file_path = "a.txt", content = "one" } }
        [[script.turn]]
        expect = { result = 'The user changed the input before it ran', is_error = false }
        say = "I see."
        "#,
    )
    .await;
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    let with = |input: Value| {
        json!({"command": "tool_approval_response", "request_id": request["request_id"],
               "approved": true, "edited_input": input, "digest": request["digest"]})
    };
    client.send(with(json!({"file_path": "a.txt"}))).await;
    assert_eq!(client.until("error").await["content"]["code"], "invalid_input");
    client.send(with(json!({"file_path": "a.txt", "content": "two"}))).await;
    client.until("result/success").await;
    assert_eq!(world.file("a.txt"), "two");
}

#[tokio::test]
async fn an_edit_that_is_riskier_is_asked_for_anew() {
    let world = World::playing(TWO_WRITES).await;
    std::fs::create_dir(world.path("src")).unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    let input = json!({"file_path": ".git/hooks/pre-commit", "content": "one"});
    client
        .send(json!({"command": "tool_approval_response", "request_id": request["request_id"],
                     "approved": true, "edited_input": input}))
        .await;
    let resolved = client.until("tool_approval_resolved").await;
    assert_eq!(resolved["status"], "CANCELLED");
    let again = client.until("tool_approval_request").await;
    assert_eq!(again["risk_level"], "HIGH");
    assert_eq!(again["edited"]["original_input"]["file_path"], "src/a.txt");
    assert!(again["asked_again"].as_str().unwrap().contains("HIGH"), "{again}");
    assert_eq!(again["proposals"], json!([]));
    client.decide(&again, false, Some("no")).await;
    let second = client.until("tool_approval_request").await;
    client.decide(&second, true, None).await;
    client.until("result/success").await;
    assert!(!world.path(".git").exists());
}

#[tokio::test]
async fn a_mode_decides_what_becomes_of_asking() {
    let world = World::playing(TWO_WRITES).await;
    std::fs::create_dir(world.path("src")).unwrap();
    let mut client = world.client().await;
    client.send(json!({"command": "run", "prompt": "go", "mode": "plan"})).await;
    let seen = client.gather("result/success").await;
    assert!(!seen.iter().any(|m| name(m) == "tool_approval_request"));
    assert!(!world.path("src/a.txt").exists());
    client.send(json!({"command": "run", "prompt": "go", "mode": "acceptEdits"})).await;
    let seen = client.gather("result/success").await;
    assert!(!seen.iter().any(|m| name(m) == "tool_approval_request"));
    assert_eq!((world.file("src/a.txt"), world.file("src/b.txt")), ("one".into(), "two".into()));
}

/// A diff that is too long to go along whole: the rest is one request away.
#[tokio::test]
async fn the_rest_of_a_long_diff_is_one_request_away() {
    let content: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    let world = World::playing(&format!(
        "[[script]]\n[[script.turn]]\ncall = {{ tool = \"Write\", input = {{ file_path = \"long.txt\", content = {content:?} }} }}\n[[script.turn]]\nsay = \"Done.\"\n"
    ))
    .await;
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    let omitted = request["preview_data"]["omitted_lines"].as_u64().unwrap();
    assert_eq!(omitted, 5_003 - 1_200);
    let path = |query: &str| {
        format!(
            "/my/projects/default/approvals/{}/diff{query}",
            request["request_id"].as_str().unwrap()
        )
    };
    let first = world.get(&path("?from=1000&limit=2")).await;
    assert_eq!(first["lines"], json!(["+line 997", "+line 998"]));
    assert_eq!((&first["total"], &first["next"]), (&json!(5_003), &json!(1_002)));
    let end = world.get(&path("?from=5002")).await;
    assert_eq!((&end["lines"], &end["next"]), (&json!(["+line 4999"]), &json!(null)));
    let none = world.get(&path("?file=7")).await;
    assert_eq!(none["error"]["code"], "not_found");
    client.decide(&request, true, None).await;
    client.until("result/success").await;
}

/// What a command reads is shown part by part; what is proven to only read does not ask at all.
#[tokio::test]
async fn a_proven_read_runs_and_the_rest_is_shown_in_parts() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Bash", input = { command = "ls | head -3" } }
        [[script.turn]]
        expect = { result = 'a\.txt', is_error = false }
        call = { tool = "Bash", input = { command = "cat a.txt && rm a.txt" } }
        [[script.turn]]
        say = "Done."
        "#,
    )
    .await;
    std::fs::write(world.path("a.txt"), "one\n").unwrap();
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    let parts = request["preview_data"]["parts"].as_array().unwrap();
    let said: Vec<_> = parts.iter().map(|it| (it["text"].clone(), it["verdict"].clone())).collect();
    assert_eq!(said, [(json!("cat a.txt"), json!("allow")), (json!("rm a.txt"), json!("ask"))]);
    assert!(parts[1]["program"].as_str().unwrap().ends_with("/rm"));
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    assert!(!world.path("a.txt").exists());
}

#[tokio::test]
async fn reading_asks_when_automatic_approval_is_off() {
    let world = World::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Read", input = { file_path = "a.txt" } }
        [[script.turn]]
        say = "Read."
        "#,
    )
    .await;
    std::fs::write(world.path("a.txt"), "one\n").unwrap();
    let mut client = world.client().await;
    client.send(json!({"command": "run", "prompt": "go", "auto_approve_safe": false})).await;
    let request = client.until("tool_approval_request").await;
    assert_eq!(
        (&request["tool_name"], &request["preview_type"]),
        (&json!("Read"), &json!("generic"))
    );
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    client.run("go").await;
    let seen = client.gather("result/success").await;
    assert!(seen.iter().all(|message| name(message) != "tool_approval_request"), "it is LOW");
}

#[tokio::test]
async fn what_cannot_be_done_says_why_and_the_connection_stays() {
    let world = World::playing(WRITE).await;
    let mut client = world.client().await;
    let unknown = "00000000-0000-7000-8000-000000000000";
    for (command, kind, code) in [
        (json!({"command": "fly"}), "error", "unknown_command"),
        (json!({"command": "cancel"}), "error", "no_run"),
        (
            json!({"command": "tool_approval_response", "request_id": unknown, "approved": true}),
            "error",
            "unknown_request",
        ),
        (
            json!({"command": "tool_approval_response", "request_id": "x", "approved": true}),
            "error",
            "unknown_request",
        ),
        (json!({"command": "run", "prompt": " "}), "result/error", "empty_prompt"),
        (
            json!({"command": "run", "prompt": "x", "permission_mode": "toolApproval"}),
            "result/error",
            "mode_unavailable",
        ),
        (
            json!({"command": "run", "prompt": "x", "permission_mode": "bypassPermissions"}),
            "result/error",
            "mode_unavailable",
        ),
        (json!({"command": "run", "prompt": "x", "cwd": "/"}), "result/error", "bad_cwd"),
        (
            json!({"command": "run", "prompt": "x", "continue": true, "session_id": "no"}),
            "result/error",
            "unknown_session",
        ),
    ] {
        client.send(command.clone()).await;
        let message = client.next().await;
        assert_eq!(
            (name(&message).as_str(), &message["content"]["code"]),
            (kind, &json!(code)),
            "{command}"
        );
        assert!(message["content"]["message"].as_str().unwrap().len() > 5);
    }
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    client.decide(&request, false, None).await;
    assert_eq!(client.until("error").await["content"]["code"], "already_settled");
}

#[tokio::test]
async fn cancelling_takes_back_what_waits_and_the_conversation_can_go_on() {
    // Ids of their own for each call: the API refuses a conversation that uses one twice.
    let world = World::playing(&WRITE.replace(r#"id = "toolu_01ABC123", "#, "")).await;
    let mut client = world.client().await;
    client.run("go").await;
    let request = client.until("tool_approval_request").await;
    client.send(json!({"command": "cancel"})).await;
    let resolved = client.until("tool_approval_resolved").await;
    assert_eq!(resolved["status"], "CANCELLED");
    let end = client.until("result/error").await;
    assert_eq!(end["content"]["code"], "cancelled");
    client.decide(&request, true, None).await;
    assert_eq!(client.until("error").await["content"]["code"], "already_settled");
    assert!(!world.path("test.txt").exists());
    // The scripted API refuses a conversation with an unanswered call, as the real one does.
    client.send(json!({"command": "run", "prompt": "again", "continue": true})).await;
    let request = client.until("tool_approval_request").await;
    client.decide(&request, true, None).await;
    client.until("result/success").await;
    assert_eq!(world.file("test.txt"), "hello world");
}

async fn requests(client: &mut Client, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    while found.len() < count {
        found.push(client.until("tool_approval_request").await);
    }
    found
}

async fn resolutions(client: &mut Client, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    while found.len() < count {
        found.push(client.until("tool_approval_resolved").await);
    }
    found
}

/// Asserts that every field of the example is in the message with the example's value.
#[track_caller]
fn assert_has(message: &Value, example: &Value) {
    for (field, value) in example.as_object().unwrap() {
        assert_eq!(&message[field], value, "`{field}` of {message}");
    }
}
