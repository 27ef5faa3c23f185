//! The server's own runs of Claude Code: `toolApproval` and `bypassPermissions`, with the real CLI.

use serde_json::{Value, json};

use super::cell::in_a_cell;
use super::guarded::World;
use crate::world::Serving;

in_a_cell! {
    async fn what_a_person_approves_claude_code_writes() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        let asked = world.asked(&server).await;
        assert_eq!([&asked["tool_name"], &asked["origin"]], ["Write", "claude_cli"], "{asked}");
        assert_eq!(asked["diff_lines"][3], "+one", "{asked}");
        world.decide(&server, &asked, "approve", json!({"decision": "approved"})).await;
        assert!(last_words(&world, &server, &session).await.contains("created successfully"));
        assert_eq!(written(&world, "a.txt").as_deref(), Some("one\ntwo\n"));
        let calls = world.get(&server, "tools/executions").await;
        assert_eq!(calls["executions"][0]["status"], "completed", "{calls}");
    }

    async fn a_rejection_is_heard_and_a_timeout_is_one() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        let asked = world.asked(&server).await;
        world.decide(&server, &asked, "reject", json!({"reason": "not there"})).await;
        let said = last_words(&world, &server, &session).await;
        assert!(said.contains("User rejected: not there"), "{said}");
        world.give_one_second(&server).await;
        let session = start(&world, &server, json!({"content": "run touch late"})).await;
        let said = last_words(&world, &server, &session).await;
        assert!(said.contains("Approval timed out"), "{said}");
        assert_eq!(world.names(), [""; 0]);
    }

    async fn what_a_person_changes_is_what_is_written() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        let asked = world.asked(&server).await;
        let mut edited = asked["tool_input"].clone();
        edited["content"] = json!("mine\n");
        let decision = json!({"decision": "approved", "edited_input": edited});
        world.decide(&server, &asked, "approve", decision).await;
        last_words(&world, &server, &session).await;
        assert_eq!(written(&world, "a.txt").as_deref(), Some("mine\n"));
    }

    async fn a_file_that_changed_under_its_approval_is_asked_for_again() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        let first = world.asked(&server).await;
        std::fs::write(world.work().join("a.txt"), "somebody else\n").unwrap();
        world.decide(&server, &first, "approve", json!({"decision": "approved"})).await;
        let second = world.asked(&server).await;
        assert_ne!(first["approval_id"], second["approval_id"]);
        assert_eq!(second["diff_lines"][3], "-somebody else", "{second}");
        world.decide(&server, &second, "reject", json!({"reason": "keep it"})).await;
        last_words(&world, &server, &session).await;
        assert_eq!(written(&world, "a.txt").as_deref(), Some("somebody else\n"));
    }

    async fn a_stopped_run_stops_and_the_conversation_goes_on_after_a_restart() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "write a.txt"})).await;
        world.asked(&server).await;
        let stop = format!("sessions/{session}/interrupt");
        let (status, answer) = world.post(&server, &stop, &json!({})).await;
        assert!((200..300).contains(&status), "{answer}");
        until_over(&world, &server, &session).await;
        let again = json!({"content": "write b.txt", "session_id": session});
        start(&world, &server, again.clone()).await;
        world.asked(&server).await;
        server.stop();
        let server = world.serve();
        until_over(&world, &server, &session).await;
        start(&world, &server, again).await;
        let asked = world.asked(&server).await;
        world.decide(&server, &asked, "approve", json!({"decision": "approved"})).await;
        last_words(&world, &server, &session).await;
        assert_eq!(world.names(), ["b.txt"]);
    }

    async fn a_question_is_answered_through_its_input_and_a_subagents_call_says_whose_it_is() {
        let world = World::new().await;
        let server = world.serve();
        let session = start(&world, &server, json!({"content": "ask me"})).await;
        let asked = world.asked(&server).await;
        assert_eq!(asked["tool_name"], "AskUserQuestion", "{asked}");
        let mut answered = asked["tool_input"].clone();
        answered["answers"] = json!({"Which colour?": "Red"});
        let decision = json!({"decision": "approved", "edited_input": answered});
        world.decide(&server, &asked, "approve", decision).await;
        let said = last_words(&world, &server, &session).await;
        assert!(said.contains(r#""Which colour?"="Red""#), "{said}");
        let session = start(&world, &server, json!({"content": "delegate run touch below"})).await;
        let sent = world.asked(&server).await;
        assert_eq!(sent.get("agent"), None, "the main conversation sends it: {sent}");
        world.decide(&server, &sent, "approve", json!({"decision": "approved"})).await;
        let below = world.asked(&server).await;
        assert_eq!([&below["tool_name"], &below["agent"]], ["Bash", "general-purpose"], "{below}");
        world.decide(&server, &below, "approve", json!({"decision": "approved"})).await;
        last_words(&world, &server, &session).await;
        assert_eq!(world.names(), ["below"]);
    }

    async fn unattended_nothing_is_asked_and_what_is_denied_stays_denied() {
        let world = World::new().await;
        let server = world.serve();
        let rules = json!({"rules": [{"effect": "deny", "rule": "Bash(touch denied)"}]});
        world.put(&server, "rules", &rules).await;
        let bypass = |prompt: &str| json!({"content": prompt, "permission_mode": "bypassPermissions"});
        let session = start(&world, &server, bypass("run touch allowed")).await;
        last_words(&world, &server, &session).await;
        let session = start(&world, &server, bypass("run touch denied")).await;
        let said = last_words(&world, &server, &session).await;
        assert!(said.contains("Denied: "), "{said}");
        assert_eq!(world.names(), ["allowed"]);
    }

    async fn where_approvals_are_kept_on_there_is_no_bypass() {
        let world = World::new().await;
        let server = world.serve_with(&[("TOOL_APPROVAL_ENABLED", "true")]);
        let bypass = json!({"content": "run touch x", "executor": "claude-cli",
            "permission_mode": "bypassPermissions"});
        let (status, refused) = world.post(&server, "chat/messages", &bypass).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!("bypass_refused")));
        drop(server);
        let server = world.serve_with(&[("TOOL_APPROVAL_ENABLED", "false")]);
        let session = start_any(&world, &server, json!({"content": "run touch x", "executor": "local"}))
            .await;
        last_words(&world, &server, &session).await;
        assert_eq!(world.names(), ["x"], "a run that names no mode asks nobody");
    }
}

/// Starts a run of Claude Code; returns its conversation.
pub(super) async fn start(world: &World, server: &Serving, mut message: Value) -> String {
    message["executor"] = json!("claude-cli");
    start_any(world, server, message).await
}

async fn start_any(world: &World, server: &Serving, message: Value) -> String {
    let (status, answer) = world.post(server, "chat/messages", &message).await;
    assert_eq!(status, 202, "{answer}");
    answer["session_id"].as_str().unwrap().to_owned()
}

pub(super) async fn until_over(world: &World, server: &Serving, session: &str) {
    loop {
        let list = world.get(server, "sessions").await;
        let own =
            list["sessions"].as_array().unwrap().iter().find(|it| it["session_id"] == session);
        if own.is_some_and(|own| own["active"] == false) {
            return;
        }
    }
}

/// Returns the last text of a conversation, once its run is over.
pub(super) async fn last_words(world: &World, server: &Serving, session: &str) -> String {
    until_over(world, server, session).await;
    let told = world.get(server, &format!("sessions/{session}/messages")).await;
    let texts = told["messages"].as_array().unwrap().iter().rev().filter_map(|message| {
        let blocks = message["content"].as_array()?;
        blocks.iter().rev().find_map(|block| block["text"].as_str())
    });
    texts.map(str::to_owned).next().unwrap_or_default()
}

pub(super) fn written(world: &World, name: &str) -> Option<String> {
    std::fs::read_to_string(world.work().join(name)).ok()
}
