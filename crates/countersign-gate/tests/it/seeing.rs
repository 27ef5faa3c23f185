//! Calls that were seen and not decided here: recorded once, and leave for nobody.

use countersign_core::{
    ExecutionReport, ExecutionState, ExecutionStatus, Executor, ReportedOutcome, ToolCall,
    VerdictAction,
};
use countersign_gate::{CallTerms, ExecutionFilter, RemoteSubmission, SeenCall, new_id};
use jiff::Timestamp;
use serde_json::json;

use crate::world::{World, attended, call, writes};

#[tokio::test]
async fn what_was_seen_is_recorded_once_with_its_result() {
    let world = World::new().await;
    for is_new in [true, false] {
        let told = world
            .gate
            .record_seen_call(seen_call("t1"), writes(), seen(VerdictAction::Allow))
            .await;
        assert_eq!(told.unwrap(), is_new);
    }
    for is_new in [true, false] {
        assert_eq!(world.told_result("t1").await, is_new);
    }
    assert!(!world.told_result("t2").await, "nobody has seen that one");
    let all = world
        .gate
        .store()
        .executions(&"p".into(), ExecutionFilter::default(), None, 10)
        .await
        .unwrap();
    let [only] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(
        (only.status(), only.call().executor),
        (ExecutionStatus::Completed, Executor::ClaudeCli)
    );
    assert_eq!(only.basis().reported_by.as_deref(), Some("hook"));
    let rows = world.gate.store().audit_rows(None, None, 10).await.unwrap();
    assert_eq!(rows.len(), 2, "the audit has it running, and done: {rows:?}");
    assert!(world.gate.store().verify_audit().await.unwrap().broken.is_none());
}

#[tokio::test]
async fn what_was_seen_denied_or_left_to_a_prompt_says_so() {
    let world = World::new().await;
    world
        .gate
        .record_seen_call(seen_call("no"), writes(), seen(VerdictAction::Deny))
        .await
        .unwrap();
    world
        .gate
        .record_seen_call(seen_call("ask"), writes(), seen(VerdictAction::Ask))
        .await
        .unwrap();
    let all = world
        .gate
        .store()
        .executions(&"p".into(), ExecutionFilter::default(), None, 10)
        .await
        .unwrap();
    let found: Vec<_> =
        all.iter().map(|it| (it.call().tool_use_id.to_string(), it.status())).collect();
    assert!(found.contains(&("no".to_owned(), ExecutionStatus::Failed)), "{found:?}");
    assert!(found.contains(&("ask".to_owned(), ExecutionStatus::Executing)), "{found:?}");
    let asked = all.iter().find(|it| it.status() == ExecutionStatus::Executing).unwrap();
    let ExecutionState::Executing { by, .. } = &asked.state() else { panic!("{asked:?}") };
    assert_eq!(by.to_string(), "agent prompt");
}

/// Whoever can write what is told must not get a call approved by it.
#[tokio::test]
async fn a_story_about_a_call_is_no_leave_to_run_it() {
    let world = World::new().await;
    world
        .gate
        .record_seen_call(seen_call("t1"), writes(), seen(VerdictAction::Allow))
        .await
        .unwrap();
    let same = ToolCall { executor: Executor::Caller, ..seen_call("t1") };
    let submitted = world
        .gate
        .submit_remote(same.clone(), &CallTerms::new(writes(), attended()))
        .await
        .unwrap();
    let RemoteSubmission::Waiting(asked) = submitted else { panic!("{submitted:?}") };
    assert_eq!(asked.status(), ExecutionStatus::AwaitingApproval, "a person is asked all the same");
    // And the other way round: what is asked here is not told of as if it were settled.
    let later = ToolCall { id: new_id(), tool_use_id: "t9".into(), ..same };
    world.gate.submit_remote(later, &CallTerms::new(writes(), attended())).await.unwrap();
    let told =
        world.gate.record_seen_call(seen_call("t9"), writes(), seen(VerdictAction::Allow)).await;
    assert!(!told.unwrap());
    assert!(!world.told_result("t9").await);
}

impl World {
    async fn told_result(&self, tool_use_id: &str) -> bool {
        let report = ExecutionReport::from_json(&json!({"success": true, "stdout": "ok"})).unwrap();
        let (project, session) = ("p".into(), seen_call(tool_use_id).session);
        let told = ReportedOutcome::Done(report);
        let id = tool_use_id.into();
        self.gate.record_seen_call_result(&project, &session, &id, told).await.unwrap()
    }
}

fn seen_call(tool_use_id: &str) -> ToolCall {
    let made = call("Write");
    ToolCall { tool_use_id: tool_use_id.into(), executor: Executor::ClaudeCli, run: None, ..made }
}

fn seen(outcome: VerdictAction) -> SeenCall {
    let at = Timestamp::UNIX_EPOCH;
    SeenCall { reported_by: "hook".to_owned(), outcome, why: "a rule".to_owned(), at }
}
