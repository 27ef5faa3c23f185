//! Case 4: permission requests.

use std::sync::Arc;
use std::time::Duration;

use countersign_claude::{
    ControlError, Options, PermissionMode, PermissionResult, PermissionUpdate, ToolRequest,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::fake::{Fake, connect};

fn bash(command: &str) -> Value {
    json!({
        "subtype": "can_use_tool", "tool_name": "Bash", "input": { "command": command },
        "tool_use_id": "toolu_1",
    })
}

#[tokio::test]
async fn allow_echoes_the_input_and_deny_says_why() {
    let decide = async |request: ToolRequest| {
        let command = request.input["command"].as_str().unwrap().to_owned();
        match command.as_str() {
            "ls" => PermissionResult::allow(),
            "edit" => PermissionResult::allow_with(
                json!({ "command": "ls -l" }).as_object().cloned().unwrap(),
            ),
            "stop" => PermissionResult::deny_and_interrupt("enough"),
            _ => PermissionResult::deny("no"),
        }
    };
    let (_client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    let allow = |command: &str| {
        json!({
            "behavior": "allow", "updatedInput": { "command": command }, "toolUseID": "toolu_1",
        })
    };
    check(&mut fake, "ls", allow("ls")).await;
    check(&mut fake, "edit", allow("ls -l")).await;
    check(&mut fake, "rm", json!({ "behavior": "deny", "message": "no" })).await;
    let stop = json!({ "behavior": "deny", "message": "enough", "interrupt": true });
    check(&mut fake, "stop", stop).await;
}

#[tokio::test]
async fn suggestions_come_in_and_go_back_as_they_were() {
    let decide = async |request: ToolRequest| {
        assert_eq!(request.suggestions.len(), 3);
        assert!(matches!(request.suggestions[2], PermissionUpdate::Other(_)));
        PermissionResult::allow_always(request.suggestions)
    };
    let (_client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    let suggestions = json!([
        { "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "ls:*" }],
          "behavior": "allow", "destination": "session" },
        { "type": "setMode", "mode": "acceptEdits", "destination": "session" },
        { "type": "ofTomorrow", "what": [1, 2] },
    ]);
    let mut request = bash("ls");
    request["permission_suggestions"] = suggestions.clone();
    fake.ask("1", request).await;
    assert_eq!(fake.answer().await["response"]["updatedPermissions"], suggestions);
}

#[tokio::test]
async fn the_context_of_a_request_is_all_there() {
    let (tell, told) = tokio::sync::oneshot::channel();
    let tell = std::sync::Mutex::new(Some(tell));
    let decide = move |request: ToolRequest| {
        tell.lock().unwrap().take().unwrap().send(request).unwrap();
        async { PermissionResult::allow() }
    };
    let (_client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    let raw = json!({
        "subtype": "can_use_tool", "tool_name": "mcp__a__b", "input": {}, "tool_use_id": "t",
        "blocked_path": "/etc", "decision_reason": "outside", "decision_reason_type": "workingDir",
        "agent_id": "agent-1", "title": "T", "display_name": "B", "description": "D",
        "default_to_no": true, "suppress_always_allow_rule": null, "of_tomorrow": 1,
        "matched_ask_rule": { "source": "session", "tool_name": "x", "rule_content": null },
        "mcp_server": { "name": "a", "source": "sdk" },
    });
    fake.ask("id-1", raw.clone()).await;
    let request = told.await.unwrap();
    assert_eq!(request.request_id, "id-1");
    assert_eq!(request.blocked_path.as_deref(), Some("/etc"));
    assert_eq!(request.decision_reason.as_deref(), Some("outside"));
    assert_eq!(request.decision_reason_type.as_deref(), Some("workingDir"));
    assert_eq!(request.agent_id.as_deref(), Some("agent-1"));
    assert!(request.default_to_no && !request.suppress_always_allow_rule);
    assert_eq!(request.mcp_server.unwrap().name, "a");
    assert_eq!(request.matched_ask_rule.unwrap().source, "session");
    assert_eq!(request.raw, raw);
}

#[tokio::test(start_paused = true)]
async fn a_callback_that_waits_ten_seconds_delays_nobody_else() {
    let decide = async |request: ToolRequest| {
        if request.input["command"] == "slow" {
            tokio::time::sleep_until(tokio::time::Instant::now() + Duration::from_secs(10)).await;
        }
        PermissionResult::allow()
    };
    let (client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    let begun = tokio::time::Instant::now();
    fake.ask("slow", bash("slow")).await;
    for id in ["1", "2", "3"] {
        fake.ask(id, bash("quick")).await;
        assert_eq!(fake.answer().await["request_id"], id);
    }
    let (model, ()) = tokio::join!(client.set_model(None), async {
        let request = fake.expect("set_model").await;
        fake.reply(&request, json!({})).await;
    });
    model.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(fake.answer().await["request_id"], "slow");
    assert_eq!(begun.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_decide_by_the_deadline_denies_and_is_told() {
    let told = Arc::new(Notify::new());
    let tell = told.clone();
    let decide = move |request: ToolRequest| {
        let tell = tell.clone();
        async move {
            request.cancelled.cancelled().await;
            tell.notify_one();
            PermissionResult::allow()
        }
    };
    let options = Options::new().can_use_tool(decide).permission_deadline(Duration::from_mins(2));
    let (_client, mut fake) = connect(options).await;
    let denied = json!({ "behavior": "deny", "message": "nobody decided within 120s" });
    check(&mut fake, "ls", denied).await;
    told.notified().await;
    check(&mut fake, "ls", json!({ "behavior": "deny", "message": "nobody decided within 120s" }))
        .await;
}

#[tokio::test]
async fn a_callback_that_panics_denies_and_harms_nobody_else() {
    let decide = async |request: ToolRequest| {
        assert_eq!(request.input["command"], "ls", "a test");
        PermissionResult::allow()
    };
    for options in [
        Options::new().can_use_tool(decide),
        Options::new().can_use_tool(decide).permission_deadline(Duration::from_mins(1)),
    ] {
        let (_client, mut fake) = connect(options).await;
        let denied = json!({ "behavior": "deny", "message": "the permission callback panicked" });
        check(&mut fake, "rm", denied).await;
        fake.ask("2", bash("ls")).await;
        assert_eq!(fake.answer().await["response"]["behavior"], "allow");
    }
}

#[tokio::test]
async fn a_request_taken_back_gets_no_answer_and_its_callback_is_told() {
    let (asked, told) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (ask, tell) = (asked.clone(), told.clone());
    let decide = move |request: ToolRequest| {
        let (ask, tell) = (ask.clone(), tell.clone());
        async move {
            if request.input["command"] == "wait" {
                ask.notify_one();
                request.cancelled.cancelled().await;
                tell.notify_one();
            }
            PermissionResult::allow()
        }
    };
    let (_client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    fake.ask("1", bash("wait")).await;
    asked.notified().await;
    fake.cancel("1").await;
    told.notified().await;
    fake.ask("2", bash("ls")).await;
    assert_eq!(fake.answer().await["request_id"], "2");
}

#[tokio::test]
async fn a_request_delivered_twice_is_answered_once() {
    let (go, gone) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = go.clone();
    let decide = move |_: ToolRequest| {
        let (wait, gone) = (wait.clone(), gone.clone());
        async move {
            gone.notify_one();
            wait.notified().await;
            PermissionResult::allow()
        }
    };
    let (_client, mut fake) = connect(Options::new().can_use_tool(decide)).await;
    fake.ask("1", bash("ls")).await;
    fake.ask("1", bash("ls")).await;
    fake.ask("other", json!({ "subtype": "of_tomorrow" })).await;
    assert_eq!(fake.answer().await["request_id"], "other");
    go.notify_one();
    go.notify_one();
    assert_eq!(fake.answer().await["request_id"], "1");
    fake.ask("last", json!({ "subtype": "of_tomorrow" })).await;
    assert_eq!(fake.answer().await["request_id"], "last");
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_and_what_others_answer_is_left() {
    let (_client, mut fake) = connect(Options::new()).await;
    for silent in ["request_user_dialog", "remote_tool_call", "remote_tools_probe"] {
        fake.ask(silent, json!({ "subtype": silent, "dialog_kind": "x" })).await;
    }
    fake.ask("1", json!({ "subtype": "of_tomorrow" })).await;
    assert_eq!(
        fake.answer().await,
        json!({
            "subtype": "error", "request_id": "1", "error_code": "unsupported_request",
            "error": "Unsupported control request subtype: of_tomorrow",
        })
    );
    fake.ask("2", json!({ "subtype": "elicitation", "mcp_server_name": "a", "message": "?" }))
        .await;
    assert_eq!(fake.answer().await["response"], json!({ "action": "decline" }));
    fake.ask("3", bash("ls")).await;
    let refused = fake.answer().await;
    assert_eq!(refused["error"], "no permission callback is set");
}

#[tokio::test]
async fn questions_and_dialogs_reach_their_handlers() {
    use countersign_claude::permission::{
        DialogAnswer, DialogRequest, ElicitationAnswer, ElicitationRequest,
    };
    let options = Options::new()
        .on_elicitation(async |question: ElicitationRequest| ElicitationAnswer::Accept {
            content: Some(json!({ "asked": question.message })),
        })
        .on_user_dialog(["pick"], async |dialog: DialogRequest| DialogAnswer::Completed {
            result: dialog.payload,
        });
    let (_client, mut fake) = connect(options).await;
    fake.ask("1", json!({ "subtype": "elicitation", "mcp_server_name": "a", "message": "?" }))
        .await;
    let accepted = json!({ "action": "accept", "content": { "asked": "?" } });
    assert_eq!(fake.answer().await["response"], accepted);
    let dialog = json!({ "subtype": "request_user_dialog", "dialog_kind": "pick", "payload": 7 });
    fake.ask("2", dialog).await;
    assert_eq!(fake.answer().await["response"], json!({ "behavior": "completed", "result": 7 }));
}

#[tokio::test]
async fn a_guarded_session_never_enters_bypass() {
    let (client, mut fake) =
        connect(Options::new().can_use_tool(async |_| PermissionResult::allow())).await;
    let error = client.set_permission_mode(PermissionMode::BypassPermissions).await.unwrap_err();
    assert!(matches!(error, ControlError::CallbackWithBypass));
    let (plan, request) = tokio::join!(client.set_permission_mode(PermissionMode::Plan), async {
        let request = fake.expect("set_permission_mode").await;
        fake.reply(&request, json!({ "mode": "plan" })).await;
        request
    });
    plan.unwrap();
    assert_eq!(request["request"]["mode"], "plan");
}

async fn check(fake: &mut Fake, command: &str, answer: Value) {
    fake.ask(command, bash(command)).await;
    let expected = json!({ "subtype": "success", "request_id": command, "response": answer });
    assert_eq!(fake.answer().await, expected);
}
