//! What calls did to files is kept, and so is who undid it.

use countersign_core::{ApprovalId, Digest, FileChange, FileState, ToolCall};
use countersign_gate::{Event, UndoTarget, new_id};

use crate::world::{World, call};

fn written(path: &str, after: Option<&str>) -> FileChange {
    let file =
        |text: &str| FileState::File { digest: Digest::for_bytes(text.as_bytes()), mode: 0o644 };
    FileChange { path: path.into(), before: FileState::Absent, after: after.map(file) }
}

async fn keep(world: &World, call: &ToolCall, approval: ApprovalId, after: Option<&str>) {
    world.gate.record_changes(approval, call, &[written("/w/a", after)]).await.unwrap();
}

#[tokio::test]
async fn what_a_call_left_takes_the_place_of_what_it_found() {
    let world = World::new().await;
    let (call, approval) = (call("Write"), new_id());
    keep(&world, &call, approval, None).await;
    keep(&world, &call, approval, Some("new")).await;
    let kept = world.gate.store().changes(&"p".into(), UndoTarget::Call(call.id)).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!((kept[0].approval, &kept[0].undone), (approval, &None));
    assert_eq!(kept[0].changes, [written("/w/a", Some("new"))]);
}

#[tokio::test]
async fn of_several_looks_before_a_call_the_first_holds() {
    let world = World::new().await;
    let (call, approval) = (call("Write"), new_id());
    for path in ["/w/a", "/w/b"] {
        world.gate.record_state_before(approval, &call, &[written(path, None)]).await.unwrap();
    }
    let kept = world.gate.store().changes(&"p".into(), UndoTarget::Call(call.id)).await.unwrap();
    assert_eq!(kept[0].changes, [written("/w/a", None)]);
    keep(&world, &call, approval, Some("new")).await;
    let kept = world.gate.store().changes(&"p".into(), UndoTarget::Call(call.id)).await.unwrap();
    assert_eq!(kept[0].changes, [written("/w/a", Some("new"))]);
}

#[tokio::test]
async fn the_calls_of_a_run_come_in_the_order_they_ran() {
    let world = World::new().await;
    let run = new_id();
    let calls: Vec<_> = (0..5).map(|_| ToolCall { run: Some(run), ..call("Edit") }).collect();
    for call in calls.iter().rev() {
        keep(&world, call, new_id(), None).await;
        world.clock.advance(std::time::Duration::from_millis(1));
    }
    let kept = world.gate.store().changes(&"p".into(), UndoTarget::Run(run)).await.unwrap();
    let order: Vec<_> = kept.iter().map(|kept| kept.execution).collect();
    assert_eq!(order, calls.iter().rev().map(|call| call.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_call_of_another_project_is_not_found() {
    let world = World::new().await;
    let call = call("Write");
    keep(&world, &call, new_id(), Some("new")).await;
    let found =
        world.gate.store().changes(&"other".into(), UndoTarget::Call(call.id)).await.unwrap();
    assert!(found.is_empty());
}

#[tokio::test]
async fn an_undo_is_in_the_log_and_in_the_audit_and_the_first_one_counts() {
    let world = World::new().await;
    let call = call("Write");
    keep(&world, &call, new_id(), Some("new")).await;
    let project = "p".into();
    for who in ["ana", "bo"] {
        let kept = world.gate.store().changes(&project, UndoTarget::Call(call.id)).await.unwrap();
        world.gate.record_undo(&project, &kept, 1, who).await.unwrap();
    }
    let world = world.reopened().await;
    let kept = world.gate.store().changes(&project, UndoTarget::Call(call.id)).await.unwrap();
    assert_eq!(kept[0].undone.as_ref().map(|(by, _)| by.as_str()), Some("ana"));
    let entries = world.gate.store().entries(&project, 0, 100, 100).await.unwrap();
    let undone = Event::Undone { executions: vec![call.id], by: "ana".into(), files: 1 };
    assert_eq!(entries[0].event, undone);
    let report = world.gate.store().verify_audit().await.unwrap();
    assert_eq!((report.rows, report.broken), (2, None));
}
