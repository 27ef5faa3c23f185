//! What a process that died left behind.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{ApprovalId, Execution, ExecutionState, ExecutionStatus, RunId, ToolCall};
use countersign_gate::{
    CallTerms, Event, Gate, GateSettings, LocalSubmission, NewRunMessage, OrphanedRun, Rulebook,
    RunEnd, StoreError, interrupted_failure, new_id,
};
use countersign_seal::GateToken;
use serde_json::json;

use crate::database::ON_POSTGRES;
use crate::world::{World, attended, call, new_run, writes};

#[tokio::test]
async fn what_waited_and_what_was_decided_is_still_there_after_a_restart() {
    let (world, id) = World::with_pending("Write").await;
    let before = world.gate.store().approval(id).await.unwrap();
    let world = world.reopened().await;
    assert_eq!(world.gate.store().approval(id).await.unwrap(), before);
    world.approve(id, "ana").await.unwrap();
    let world = world.reopened().await;
    assert_eq!(
        world.gate.store().approval(id).await.unwrap().unwrap().status(),
        ExecutionStatus::Approved
    );
}

#[tokio::test]
async fn recovery_lets_what_waits_wait_and_says_that_what_ran_is_unknown() {
    let (world, waiting) = World::with_pending("Write").await;
    let approved = world.ask("Write").await.id();
    world.approve(approved, "ana").await.unwrap();
    let running = started(&world, call("Bash")).await;
    let before = stands(&world, waiting).await;
    let world = world.reopened().await;
    world.gate.recover().await.unwrap();
    assert_eq!(stands(&world, waiting).await, before, "the same deadline, too");
    assert_eq!(stands(&world, approved).await.status(), ExecutionStatus::Approved);
    assert_eq!(error_type(stands(&world, running).await.state()), "interrupted");
}

#[tokio::test]
async fn what_waited_too_long_while_nobody_was_there_is_timed_out_at_once() {
    let (world, waiting) = World::with_pending("Write").await;
    let run = world.gate.begin_run(new_run("s")).await.unwrap().unwrap().run();
    let of_run = asked(&world, call_of(run, "toolu_1")).await;
    world.clock.advance(Duration::from_mins(2));
    let world = world.reopened().await;
    world.gate.recover().await.unwrap();
    for id in [waiting, of_run] {
        assert_eq!(
            world.gate.wait_for_decision(id).await.unwrap().status(),
            ExecutionStatus::Timeout
        );
    }
}

#[tokio::test]
async fn what_belongs_to_a_run_is_left_to_its_next_driver() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let run = journal.run();
    let waiting = asked(&world, call_of(run, "toolu_1")).await;
    let running = started(&world, call_of(run, "toolu_2")).await;
    let world = world.reopened().await;
    world.gate.recover().await.unwrap();
    assert_eq!(stands(&world, waiting).await.status(), ExecutionStatus::AwaitingApproval);
    assert_eq!(stands(&world, running).await.status(), ExecutionStatus::Executing);
    let left = world.gate.take_over_runs(&["p".into()]).await.unwrap();
    let settings = json!({"cwd": "/ws"});
    assert_eq!(left, [OrphanedRun { id: run, project: "p".into(), session: "s".into(), settings }]);
    assert_eq!(world.gate.take_over_runs(&["other".into()]).await.unwrap(), []);
    let journal = world.gate.resume_run(&left[0]).await.unwrap().unwrap();
    assert_eq!(world.log().await.last(), Some(&Event::RunResumed));
    journal.end(RunEnd::Done, vec![], vec![]).await.unwrap();
    assert!(world.gate.resume_run(&left[0]).await.unwrap().is_none(), "it is over");
    assert_eq!(world.gate.take_over_runs(&["p".into()]).await.unwrap(), []);
}

#[tokio::test]
async fn of_a_run_that_is_over_nobody_starts_anything_any_more() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let waiting = asked(&world, call_of(journal.run(), "toolu_1")).await;
    let running = started(&world, call_of(journal.run(), "toolu_2")).await;
    journal.end(RunEnd::Failed, vec![], vec![]).await.unwrap();
    let world = world.reopened().await;
    world.gate.recover().await.unwrap();
    assert_eq!(stands(&world, waiting).await.status(), ExecutionStatus::Cancelled);
    assert_eq!(error_type(stands(&world, running).await.state()), "interrupted");
}

#[tokio::test]
async fn a_run_that_cannot_go_on_is_ended_with_all_that_belongs_to_it() {
    let world = World::new().await;
    let run = world.gate.begin_run(new_run("s")).await.unwrap().unwrap().run();
    let waiting = asked(&world, call_of(run, "toolu_1")).await;
    let running = started(&world, call_of(run, "toolu_2")).await;
    let world = world.reopened().await;
    let left = world.gate.take_over_runs(&["p".into()]).await.unwrap();
    let why = Event::RunFailed { code: "x".into(), message: "y".into(), hint: None };
    world.gate.abandon_run(&left[0], why.clone()).await.unwrap();
    assert_eq!(stands(&world, waiting).await.status(), ExecutionStatus::Cancelled);
    assert_eq!(error_type(stands(&world, running).await.state()), "interrupted");
    assert_eq!(world.log().await.last(), Some(&why));
    assert!(world.gate.begin_run(new_run("s")).await.unwrap().is_some(), "it can be gone on with");
}

/// Where a call took another's place, the last one stands; one that was never recorded does not.
#[tokio::test]
async fn calls_are_followed_to_what_took_their_place() {
    let world = World::new().await;
    let run = world.gate.begin_run(new_run("s")).await.unwrap().unwrap().run();
    let first = started(&world, call_of(run, "toolu_1")).await;
    let second = asked(&world, call_of(run, "toolu_2")).await;
    let again = world
        .gate
        .resubmit_local(first, interrupted_failure(), &CallTerms::new(writes(), attended()))
        .await
        .unwrap();
    let LocalSubmission::Waiting(heir) = again else { panic!("not asked") };
    let ids = async || -> Vec<_> {
        world
            .gate
            .calls_in_run(run)
            .await
            .unwrap()
            .iter()
            .map(countersign_core::Execution::id)
            .collect()
    };
    assert_eq!(ids().await, [heir.id(), second]);
    let mut orphan = stands(&world, first).await.into_parts();
    let promised: ApprovalId = new_id();
    if let ExecutionState::Failed { replaced_by, .. } = &mut orphan.state {
        *replaced_by = Some(promised);
    }
    let orphan = Execution::from_row(orphan, GateToken::for_gate());
    let next = world
        .gate
        .resubmit_local_replacement(&orphan, &CallTerms::new(writes(), attended()))
        .await
        .unwrap();
    let LocalSubmission::Waiting(next) = next else { panic!("not asked") };
    assert_eq!(
        (next.id(), next.basis().asked_again.clone()),
        (promised, Some(interrupted_failure().error))
    );
}

#[tokio::test]
async fn what_a_message_does_not_say_is_kept_beside_it() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let outcome = Some(json!({"stop_reason": "end_turn"}));
    let said = NewRunMessage { body: json!({"role": "assistant"}), outcome: outcome.clone() };
    journal.record(vec![said], vec![]).await.unwrap();
    let world = world.reopened().await;
    let recorded = world.gate.store().recorded_messages(&"p".into(), &"s".into()).await.unwrap();
    let beside: Vec<_> = recorded.iter().map(|it| it.outcome.clone()).collect();
    assert_eq!(beside, [None, outcome]);
    assert!(recorded.iter().all(|it| it.run == journal.run()));
}

fn call_of(run: RunId, tool_use: &str) -> ToolCall {
    ToolCall { run: Some(run), tool_use_id: tool_use.into(), ..call("Write") }
}

async fn asked(world: &World, call: ToolCall) -> ApprovalId {
    match world.gate.submit_local(call, &CallTerms::new(writes(), attended())).await.unwrap() {
        LocalSubmission::Waiting(approval) => approval.id(),
        other => panic!("expected a request, got {other:?}"),
    }
}

async fn started(world: &World, call: ToolCall) -> ApprovalId {
    let id = asked(world, call).await;
    world.approve(id, "ana").await.unwrap();
    world.gate.start(id).await.unwrap().unwrap();
    id
}

async fn stands(world: &World, id: ApprovalId) -> Execution {
    world.gate.store().approval(id).await.unwrap().unwrap()
}

fn error_type(state: &ExecutionState) -> String {
    let ExecutionState::Failed { failure, .. } = state else { panic!("not failed: {state:?}") };
    failure.kind.to_string()
}

#[tokio::test]
async fn who_leaves_need_not_be_waited_for() {
    let world = World::new().await;
    world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    assert!(
        world.gate.take_over_runs(&["p".into()]).await.unwrap().is_empty(),
        "it is driven here"
    );
    world.gate.leave().await.unwrap();
    let world = world.reopened().await;
    assert_eq!(world.gate.take_over_runs(&["p".into()]).await.unwrap().len(), 1);
    assert!(world.gate.take_over_runs(&["p".into()]).await.unwrap().is_empty(), "taken over once");
}

#[tokio::test]
async fn a_file_has_one_server_at_a_time_and_a_database_server_has_many() {
    let world = World::new().await;
    let settings = GateSettings::for_database(world.database.url.clone());
    let second = Gate::open(settings, world.clock.clone(), Arc::new(Rulebook::none())).await;
    let refused = second.err();
    assert_eq!(matches!(refused, Some(StoreError::InUse)), !ON_POSTGRES, "{refused:?}");
}
