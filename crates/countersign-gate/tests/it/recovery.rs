//! What a process that died left behind.

use countersign_core::{State, Status};
use countersign_gate::Event;

use crate::world::{World, new_run};

#[tokio::test]
async fn what_waited_and_what_was_decided_is_still_there_after_a_restart() {
    let (world, id) = World::with_pending("Write").await;
    let before = world.gate.store().approval(id).await.unwrap();
    let world = world.reopened();
    assert_eq!(world.gate.store().approval(id).await.unwrap(), before);
    world.approve(id, "ana").await.unwrap();
    let world = world.reopened();
    assert_eq!(world.gate.store().approval(id).await.unwrap().unwrap().status(), Status::Approved);
}

#[tokio::test]
async fn the_database_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (world, _) = World::with_pending("Write").await;
    for name in ["gate.db", "gate.db-wal"] {
        let mode = world.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn recovery_takes_back_what_waited_and_says_that_what_ran_is_unknown() {
    let (world, waiting) = World::with_pending("Write").await;
    let running = world.ask("Bash").await.id;
    world.approve(running, "ana").await.unwrap();
    world.gate.start(running).await.unwrap().unwrap();
    world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let world = world.reopened();
    world.gate.recover().await.unwrap();
    let status = async |id| world.gate.store().approval(id).await.unwrap().unwrap();
    assert_eq!(status(waiting).await.status(), Status::Cancelled);
    let State::Failed { failure, .. } = status(running).await.state else { panic!("not failed") };
    assert_eq!(failure.error_type, "interrupted");
    assert!(matches!(world.log().await.last(), Some(Event::RunFailed { .. })));
    assert!(world.gate.begin_run(new_run("s")).await.unwrap().is_some(), "it can be gone on with");
}
