//! Case 5: hooks.

use std::sync::Arc;

use countersign_claude::{
    HookEvent, HookFailurePolicy, HookInput, HookMatcher, HookOutput, Options,
};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};

use crate::fake::{Fake, connect};

fn callback(id: &str, event: &str) -> Value {
    json!({
        "subtype": "hook_callback", "callback_id": id, "tool_use_id": "t",
        "input": { "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": "ls" } },
    })
}

#[tokio::test]
async fn several_hooks_of_one_event_run_at_the_same_time() {
    // Each waits for the other: one after the other, they would never end.
    let both = Arc::new(Barrier::new(2));
    let hook = || {
        let both = both.clone();
        HookMatcher::new(HookEvent::PreToolUse, move |input: HookInput| {
            let both = both.clone();
            async move {
                both.wait().await;
                assert_eq!(input.tool().unwrap().1["command"], "ls");
                HookOutput::deny("no")
            }
        })
    };
    let (_client, mut fake) = connect(Options::new().hook(hook()).hook(hook())).await;
    fake.ask("1", callback("hook_0", "PreToolUse")).await;
    fake.ask("2", callback("hook_1", "PreToolUse")).await;
    for _ in 0..2 {
        let answer = fake.answer().await;
        assert_eq!(answer["response"]["hookSpecificOutput"]["permissionDecision"], "deny");
    }
}

#[tokio::test]
async fn a_hook_taken_back_mid_flight_is_told_and_not_answered() {
    let (begun, told) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (start, tell) = (begun.clone(), told.clone());
    let hook = HookMatcher::new(HookEvent::Stop, move |input: HookInput| {
        let (start, tell) = (start.clone(), tell.clone());
        async move {
            start.notify_one();
            input.cancelled.cancelled().await;
            tell.notify_one();
            HookOutput::proceed()
        }
    });
    let (_client, mut fake) = connect(Options::new().hook(hook)).await;
    fake.ask("1", callback("hook_0", "Stop")).await;
    begun.notified().await;
    fake.cancel("1").await;
    told.notified().await;
    fake.ask("2", callback("unknown", "Stop")).await;
    assert_eq!(
        fake.answer().await,
        json!({ "subtype": "error", "request_id": "2", "error": "there is no hook `unknown`" })
    );
}

#[tokio::test]
async fn a_hook_that_fails_is_an_error_or_a_block_but_never_silence() {
    let fails = async |_: HookInput| Err::<HookOutput, _>("no disk");
    let panics = async |_: HookInput| -> HookOutput { panic!("a test") };
    let block = HookFailurePolicy::Block;
    let options = Options::new()
        .hook(HookMatcher::new(HookEvent::PreToolUse, fails))
        .hook(HookMatcher::new(HookEvent::PreToolUse, panics))
        .hook(HookMatcher::new(HookEvent::PreToolUse, fails).on_failure(block))
        .hook(HookMatcher::new(HookEvent::PreToolUse, panics).on_failure(block))
        .hook(HookMatcher::new(HookEvent::UserPromptSubmit, panics).on_failure(block));
    let (_client, mut fake) = connect(options).await;
    let denied = |why: &str| {
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": why,
        } })
    };
    let error = |why: &str| json!({ "error": why });
    let success = |output: Value| json!({ "response": output });
    check(&mut fake, "hook_0", error("no disk")).await;
    check(&mut fake, "hook_1", error("the hook panicked")).await;
    check(&mut fake, "hook_2", success(denied("no disk"))).await;
    check(&mut fake, "hook_3", success(denied("the hook panicked"))).await;
    let blocked = json!({ "decision": "block", "reason": "the hook panicked" });
    check(&mut fake, "hook_4", success(blocked)).await;
}

async fn check(fake: &mut Fake, id: &str, expected: Value) {
    fake.ask(id, callback(id, "PreToolUse")).await;
    let answer = fake.answer().await;
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&answer[key], value, "{id}");
    }
}
