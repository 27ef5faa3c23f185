//! Asking, deciding, starting, finishing: who may, when, and how often.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{Digest, ExecutionFailure, ExecutionStatus, FailureKind, ToolOutput};
use countersign_gate::{Admission, CallTerms, DecideError, Event, LocalSubmission};

use crate::world::{Fake, World, admit, attended, call};

#[tokio::test]
async fn what_is_low_runs_at_once_and_is_recorded_all_the_same() {
    let world = World::new().await;
    let passed = admit(&world.gate, call("Read"), Arc::new(Fake::Reads)).await;
    let Admission::Ran(permit) = passed else { panic!("{passed:?}") };
    let done = world.gate.finish(permit.approval(), Ok(ToolOutput::ok("text"))).await.unwrap();
    assert_eq!(done.status(), ExecutionStatus::Completed);
    assert_eq!(done.to_tool_output(), Some(ToolOutput::ok("text")));
}

#[tokio::test]
async fn what_asks_runs_after_a_yes() {
    let world = World::new().await;
    let passing = world.passing("Write");
    let asked = world.first_waiting().await;
    world.approve(asked.id(), "ana").await.unwrap();
    let Admission::Ran(permit) = passing.await.unwrap() else { panic!("not permitted") };
    assert_eq!(permit.approval(), asked.id());
    let stands = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(stands.status(), ExecutionStatus::Executing);
}

#[tokio::test]
async fn what_asks_does_not_run_after_a_no() {
    let world = World::new().await;
    let passing = world.passing("Write");
    let asked = world.first_waiting().await;
    world.reject(asked.id(), "use X").await.unwrap();
    let Admission::Refused(refused) = passing.await.unwrap() else { panic!("it was permitted") };
    assert_eq!(refused.to_tool_output(), Some(ToolOutput::error("User rejected: use X")));
}

#[tokio::test]
async fn input_that_is_invalid_or_cannot_be_planned_never_asks_and_never_runs() {
    let world = World::new().await;
    for fake in [Fake::Invalid, Fake::Panics] {
        let refused = world
            .gate
            .submit_local(call("Write"), &CallTerms::new(Arc::new(fake), attended()))
            .await
            .unwrap();
        let LocalSubmission::Refused(refused) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.status(), ExecutionStatus::Failed);
    }
    assert!(world.gate.store().waiting_requests(&"p".into(), None, 100).await.unwrap().is_empty());
}

#[tokio::test]
async fn of_two_deciders_exactly_one_wins_and_both_learn_what_stands() {
    let (world, id) = World::with_pending("Bash").await;
    let (yes, no) = tokio::join!(world.approve(id, "ana"), world.reject(id, "not on main"));
    assert_ne!(yes.is_ok(), no.is_ok());
    let stands = world.gate.store().approval(id).await.unwrap().unwrap();
    let lost = yes.err().or(no.err()).unwrap();
    let DecideError::AlreadySettled(settled) = lost else { panic!("{lost:?}") };
    assert_eq!(*settled.0, stands);
}

#[tokio::test]
async fn the_same_decision_again_is_fine_also_after_the_call_went_on() {
    let (world, id) = World::with_pending("Bash").await;
    world.approve(id, "ana").await.unwrap();
    assert_eq!(world.approve(id, "bo").await.unwrap().status(), ExecutionStatus::Approved);
    world.gate.start(id).await.unwrap().unwrap();
    world.gate.finish(id, Ok(ToolOutput::ok("done"))).await.unwrap();
    assert_eq!(world.approve(id, "bo").await.unwrap().status(), ExecutionStatus::Completed);
    assert!(world.reject(id, "no").await.is_err());
    let failed = world.ask("Bash").await.id();
    world.approve(failed, "ana").await.unwrap();
    world.gate.start(failed).await.unwrap().unwrap();
    let failure = ExecutionFailure::new(FailureKind::ToolError, "disk full");
    world.gate.finish(failed, Err(failure)).await.unwrap();
    assert_eq!(world.approve(failed, "bo").await.unwrap().status(), ExecutionStatus::Failed);
}

#[tokio::test]
async fn of_many_who_start_an_approved_call_exactly_one_gets_the_permit() {
    let (world, id) = World::with_pending("Bash").await;
    world.approve(id, "ana").await.unwrap();
    let starts: Vec<_> = (0..32)
        .map(|_| {
            let gate = world.gate.clone();
            tokio::spawn(async move { gate.start(id).await.unwrap().is_ok() })
        })
        .collect();
    let mut permits = 0;
    for start in starts {
        permits += usize::from(start.await.unwrap());
    }
    assert_eq!(permits, 1);
}

#[tokio::test]
async fn a_decision_on_something_else_than_what_was_seen_does_not_count() {
    let (world, id) = World::with_pending("Bash").await;
    let decision =
        countersign_core::Decision::Approve { by: countersign_core::ApprovedBy::Callback };
    let stale = Digest::for_bytes(b"something else");
    let refused = world.gate.decide(id, decision.clone(), Some(stale)).await;
    assert!(matches!(refused, Err(DecideError::Drift(_))), "{refused:?}");
    let seen = world.gate.store().approval(id).await.unwrap().unwrap().digest().clone();
    assert!(world.gate.decide(id, decision, Some(seen)).await.is_ok());
}

#[tokio::test]
async fn nobody_decides_in_time_and_the_call_does_not_run() {
    let world = World::new().await;
    let passing = world.passing("Write");
    let asked = world.first_waiting().await;
    while world.clock.sleepers() == 0 {
        tokio::task::yield_now().await;
    }
    world.clock.advance(Duration::from_mins(1));
    let Admission::Refused(refused) = passing.await.unwrap() else { panic!("it was permitted") };
    assert_eq!(refused.to_tool_output(), Some(ToolOutput::error("Approval timed out")));
    let late = world.approve(asked.id(), "ana").await.unwrap_err();
    assert!(matches!(late, DecideError::AlreadySettled(_)), "{late:?}");
}

#[tokio::test]
async fn each_change_of_state_is_told_once_and_in_order() {
    let (world, id) = World::with_pending("Write").await;
    world.approve(id, "ana").await.unwrap();
    world.approve(id, "ana").await.unwrap();
    world.gate.start(id).await.unwrap().unwrap();
    let failure = ExecutionFailure::new(FailureKind::ToolError, "disk full");
    world.gate.finish(id, Err(failure)).await.unwrap();
    let log = world.log().await;
    let told: Vec<_> = log.iter().map(name).collect();
    assert_eq!(told, ["requested", "resolved", "state EXECUTING", "state FAILED", "result"]);
}

#[tokio::test]
async fn an_interrupted_run_leaves_nothing_that_could_still_start() {
    let world = World::new().await;
    let run = countersign_gate::new_id();
    let mut of_run = call("Write");
    of_run.run = Some(run);
    let asked = world
        .gate
        .submit_local(of_run, &CallTerms::new(crate::world::writes(), attended()))
        .await
        .unwrap();
    let LocalSubmission::Waiting(asked) = asked else { panic!("{asked:?}") };
    world.gate.cancel_run(run).await.unwrap();
    assert!(world.approve(asked.id(), "ana").await.is_err());
    assert!(world.gate.start(asked.id()).await.unwrap().is_err());
}

#[tokio::test]
async fn secrets_in_the_table_are_masked() {
    let (world, id) = World::with_pending("Write").await;
    let waiting = world.gate.store().approval(id).await.unwrap().unwrap();
    assert_eq!(waiting.call().input["api_key"], "hunter2", "what runs is what was asked for");
    let told = format!("{:?}", world.log().await);
    assert!(!told.contains("hunter2"), "{told}");
}

fn name(event: &Event) -> String {
    match event {
        Event::ApprovalRequested { .. } => "requested".into(),
        Event::ApprovalResolved { .. } => "resolved".into(),
        Event::ToolState { status, .. } => format!("state {status}"),
        Event::ToolResult { .. } => "result".into(),
        other => format!("{other:?}"),
    }
}
