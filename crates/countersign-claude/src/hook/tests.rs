//! The hooks' forms on the wire.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::permission::PermissionResult;

#[test]
fn every_event_keeps_its_word() {
    for event in HookEvent::KNOWN {
        assert_eq!(&HookEvent::from(event.as_str()), event);
    }
    assert_eq!(HookEvent::KNOWN.len(), 33);
    assert_eq!(HookEvent::from("Later"), HookEvent::Other("Later".into()));
}

#[test]
fn outputs_have_the_form_the_cli_reads() {
    let input = json!({ "command": "ls" }).as_object().cloned().unwrap();
    let pre = |fields: Value| {
        let mut specific = json!({ "hookEventName": "PreToolUse" });
        specific.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
        json!({ "hookSpecificOutput": specific })
    };
    check(HookOutput::proceed(), json!({}));
    check(HookOutput::allow(), pre(json!({ "permissionDecision": "allow" })));
    check(
        HookOutput::deny("no"),
        pre(json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" })),
    );
    check(
        HookOutput::modify(input),
        pre(json!({ "permissionDecision": "allow", "updatedInput": { "command": "ls" } })),
    );
    check(HookOutput::block("why"), json!({ "decision": "block", "reason": "why" }));
    check(HookOutput::stop("why"), json!({ "continue": false, "stopReason": "why" }));
    check(
        HookOutput::in_background(Some(Duration::from_secs(2))),
        json!({ "async": true, "asyncTimeout": 2000 }),
    );
    check(
        HookOutput::decide(&PermissionResult::deny("no")),
        json!({ "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": { "behavior": "deny", "message": "no", "interrupt": false },
        } }),
    );
}

#[test]
fn an_event_of_tomorrow_reaches_the_hook_whole() {
    let raw = json!({ "hook_event_name": "Tomorrow", "session_id": "s", "new": [1] });
    let input = HookInput::new(raw.clone(), None, CancellationToken::new());
    assert_eq!(input.event, HookEvent::Other("Tomorrow".into()));
    assert_eq!((input.details, input.raw), (HookDetails::Other, raw));
}

#[test]
fn the_details_of_an_event_have_its_own_type() {
    let raw = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" },
        "tool_use_id": "t1", "new": 1,
    });
    let HookDetails::PreToolUse(call) = HookInput::new(raw, None, CancellationToken::new()).details
    else {
        panic!("it is about a call");
    };
    assert_eq!((call.tool_name.as_str(), call.tool_use_id.as_deref()), ("Bash", Some("t1")));
    assert_eq!(call.tool_input.get("command"), Some(&json!("ls")));
}

#[test]
fn registrations_name_each_hook_once() {
    let quiet = || HookMatcher::logging(HookEvent::PreToolUse, |_| {});
    let hooks = [
        quiet().matching("Bash").timeout(Duration::from_secs(7)),
        HookMatcher::logging(HookEvent::Stop, |_| {}),
        HookMatcher::deny_tools(["Write"]),
    ];
    assert_eq!(
        HookMatcher::registrations(&hooks),
        Some(json!({
            "PreToolUse": [
                { "matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 7 },
                { "matcher": null, "hookCallbackIds": ["hook_2"], "onFailure": "block" },
            ],
            "Stop": [{ "matcher": null, "hookCallbackIds": ["hook_1"] }],
        }))
    );
    assert!(HookMatcher::find_by_id(&hooks, "hook_2").is_some());
    assert!(HookMatcher::find_by_id(&hooks, "hook_3").is_none());
    assert!(HookMatcher::find_by_id(&hooks, "other").is_none());
}

#[tokio::test]
async fn the_ready_hooks_stop_what_they_name() {
    let deny = HookMatcher::deny_tools(["Write"]);
    let only = HookMatcher::allow_only(["Read"]);
    let answer = async |hook: &HookMatcher, tool: &str| {
        let raw = json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {} });
        hook.handler.run(HookInput::new(raw, None, CancellationToken::new())).await.0.unwrap()
    };
    assert_eq!(answer(&deny, "Write").await, HookOutput::deny("the tool `Write` is not allowed"));
    assert_eq!(answer(&deny, "Read").await, HookOutput::proceed());
    assert_eq!(answer(&only, "Read").await, HookOutput::proceed());
    assert_eq!(
        answer(&only, "Write").await,
        HookOutput::deny("the tool `Write` is not among those allowed")
    );
}

#[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
fn check(output: HookOutput, wire: Value) {
    assert_eq!(serde_json::to_value(output).unwrap(), wire);
}
