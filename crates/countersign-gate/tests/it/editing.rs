//! Edited inputs and calls that moved: each is judged like a new call.

use std::sync::Arc;

use countersign_core::{
    ApprovalId, ApprovedBy, CallPlan, Effect, EffectTarget, ExecutionFailure, ExecutionStatus,
    FailureKind, InvalidCall, PathClass, Planner, Preview, Risk, ToolCall, ToolOutput,
    WorkspaceSide,
};
use countersign_gate::{
    Admission, ApprovalEditOutcome, ApprovalWithEdit, CallTerms, DecideError, Event,
    LocalSubmission,
};
use serde_json::{Value, json};

use crate::world::{World, attended, call, wait_for_admission};

#[tokio::test]
async fn an_edited_input_runs_as_edited_and_the_model_is_told() {
    let world = World::new().await;
    let id = ask(&world, "a").await;
    let before = stored(&world, id).await;
    let passing = world.gate.clone();
    let waiting = tokio::spawn(async move { wait_for_admission(&passing, id).await });
    let ApprovalEditOutcome::Approved(approved) =
        edit(&world, id, json!({"to": "b"})).await.unwrap()
    else {
        panic!("asked again")
    };
    assert_eq!(approved.call().input, json!({"to": "b"}));
    assert_eq!(approved.basis().edited_from, Some(json!({"to": "a"})));
    assert_ne!(approved.digest(), before.digest());
    let Admission::Ran(permit) = waiting.await.unwrap() else { panic!("refused") };
    assert_eq!(permit.call().input, json!({"to": "b"}));
    assert_eq!(permit.effects(), writes_to("/ws/b"));
    let done = world.gate.finish(id, Ok(ToolOutput::ok("ok"))).await.unwrap();
    let told = done.to_tool_output().unwrap().content;
    assert_eq!(told, "The user changed the input before it ran, to: {\"to\":\"b\"}\n\nok");
    // It survives being read back.
    assert_eq!(stored(&world, id).await.call().input, json!({"to": "b"}));
}

#[tokio::test]
async fn what_is_denied_or_broken_leaves_the_request_as_it_is() {
    let world = World::new().await;
    let id = ask(&world, "a").await;
    let before = stored(&world, id).await;
    let denied = edit(&world, id, json!({"to": "/"})).await.unwrap_err();
    assert!(matches!(&denied, DecideError::Denied(why) if why == "destroys the system"));
    let broken = edit(&world, id, json!({"too": "b"})).await.unwrap_err();
    assert!(matches!(broken, DecideError::Invalid(_)), "{broken:?}");
    assert_eq!(stored(&world, id).await, before);
    assert!(world.approve(id, "ana").await.is_ok());
    let late = edit(&world, id, json!({"to": "b"})).await.unwrap_err();
    assert!(matches!(late, DecideError::AlreadySettled(_)), "{late:?}");
}

#[tokio::test]
async fn what_is_riskier_is_a_request_of_its_own() {
    let world = World::new().await;
    let id = ask(&world, "a").await;
    let gate = world.gate.clone();
    let waiting = tokio::spawn(async move { wait_for_admission(&gate, id).await });
    let ApprovalEditOutcome::AskedAgain(next) =
        edit(&world, id, json!({"to": "/etc/x"})).await.unwrap()
    else {
        panic!("approved")
    };
    assert_eq!((next.risk(), next.status()), (Risk::High, ExecutionStatus::AwaitingApproval));
    let old = stored(&world, id).await;
    assert_eq!((old.status(), old.replaced_by()), (ExecutionStatus::Cancelled, Some(next.id())));
    assert_eq!(old.to_tool_output(), None, "the model hears of the one that took its place");
    world.approve(next.id(), "ana").await.unwrap();
    let Admission::Ran(permit) = waiting.await.unwrap() else { panic!("refused") };
    assert_eq!((permit.approval(), &permit.call().input), (next.id(), &json!({"to": "/etc/x"})));
    let results = world.log().await;
    assert!(!results.iter().any(|event| matches!(event, Event::ToolResult { .. })));
}

#[tokio::test]
async fn of_an_edit_and_a_rejection_exactly_one_wins() {
    for round in 0..20 {
        let world = World::new().await;
        let id = ask(&world, "a").await;
        let to = if round % 2 == 0 { "b" } else { "/etc/x" };
        let (edited, rejected) =
            tokio::join!(edit(&world, id, json!({ "to": to })), world.reject(id, "no"));
        assert_ne!(edited.is_ok(), rejected.is_ok());
        assert!(stored(&world, id).await.status().is_terminal() || edited.is_ok());
    }
}

#[tokio::test]
async fn a_mask_is_not_written_back() {
    let world = World::new().await;
    let key = "glpat-0123456789abcdef";
    let id = ask(&world, key).await;
    let masked = edit(&world, id, json!({"to": "***"})).await.unwrap_err();
    assert!(masked.to_string().contains("write it out"), "{masked}");
    assert!(edit(&world, id, json!({"to": format!("{key}2")})).await.is_ok());
}

#[tokio::test]
async fn a_call_that_moved_is_asked_for_again_and_says_what_moved() {
    let world = World::new().await;
    let id = ask(&world, "a").await;
    world.approve(id, "ana").await.unwrap();
    world.gate.start(id).await.unwrap().unwrap();
    let moved = "`a` has changed".to_owned();
    let why = ExecutionFailure::new(FailureKind::Drift, moved.clone());
    let again =
        world.gate.resubmit_local(id, why, &CallTerms::new(by_input(), attended())).await.unwrap();
    let LocalSubmission::Waiting(again) = again else { panic!("not asked") };
    assert_eq!(again.basis().asked_again, Some(moved));
    assert_ne!(again.call().id, stored(&world, id).await.call().id);
    let old = stored(&world, id).await;
    assert_eq!((old.status(), old.replaced_by()), (ExecutionStatus::Failed, Some(again.id())));
    let results = world.log().await;
    assert!(!results.iter().any(|event| matches!(event, Event::ToolResult { .. })));
}

#[tokio::test]
async fn secrets_are_masked_in_all_that_is_shown() {
    let world = World::new().await;
    let key = "glpat-0123456789abcdef";
    let id = ask(&world, key).await;
    let asked = stored(&world, id).await;
    let preview = serde_json::to_string(&asked.preview()).unwrap();
    assert!(!preview.contains(key) && preview.contains("***"), "{preview}");
    assert!(!asked.summary().contains(key), "{}", asked.summary());
    world.approve(id, "ana").await.unwrap();
    world.gate.start(id).await.unwrap().unwrap();
    let output = ToolOutput::ok(format!("token {key}"));
    let finished = world.gate.finish(id, Ok(output.clone())).await.unwrap();
    let log = serde_json::to_string(&world.log().await).unwrap();
    assert!(!log.contains(key), "{log}");
    // What runs and what the model hears is the real thing; what stays is not.
    assert_eq!(finished.to_tool_output(), Some(output));
    assert_eq!(stored(&world, id).await.to_tool_output(), Some(ToolOutput::ok("token ***")));
}

async fn ask(world: &World, to: &str) -> ApprovalId {
    let call = ToolCall { input: json!({ "to": to }), ..call("Move") };
    match world.gate.submit_local(call, &CallTerms::new(by_input(), attended())).await.unwrap() {
        LocalSubmission::Waiting(approval) => approval.id(),
        other => panic!("expected a request, got {other:?}"),
    }
}

async fn edit(
    world: &World,
    id: ApprovalId,
    input: Value,
) -> Result<ApprovalEditOutcome, DecideError> {
    let edit = ApprovalWithEdit { input, by: ApprovedBy::Person("ana".into()), seen: None };
    world.gate.approve_edited(id, edit, by_input(), &attended()).await
}

async fn stored(world: &World, id: ApprovalId) -> countersign_core::Execution {
    world.gate.store().approval(id).await.unwrap().unwrap()
}

fn by_input() -> Arc<dyn Planner> {
    Arc::new(ByInput)
}

fn writes_to(path: &str) -> Vec<Effect> {
    let side = if path.starts_with("/ws") { WorkspaceSide::Inside } else { WorkspaceSide::Outside };
    vec![Effect::Write(EffectTarget::new(path, PathClass { side, special: None }))]
}

/// Writes where its input says.
struct ByInput;

impl Planner for ByInput {
    fn plan(&self, call: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let to = call
            .input
            .get("to")
            .and_then(Value::as_str)
            .ok_or_else(|| InvalidCall("`to` is missing".into()))?;
        let effects = match to {
            "/" => vec![Effect::Forbidden { why: "destroys the system".into() }],
            to if to.starts_with('/') => writes_to(to),
            to => writes_to(&format!("/ws/{to}")),
        };
        Ok(CallPlan::new(effects, format!("Write `{to}`")))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: vec![] })
    }
}
