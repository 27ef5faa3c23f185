//! Several servers on one PostgreSQL, and what becomes of one that died or was only slow.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says no by panicking")]

#[path = "../it/database.rs"]
mod database;
#[expect(dead_code, reason = "it is made for the other tests, which need more")]
#[path = "../it/world.rs"]
mod world;

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{ApprovedBy, Decision, ExecutionStatus};
use countersign_gate::{Admission, CallTerms, Gate, GateSettings, Rulebook, StoreError};

use crate::world::{World, admit, attended, call, new_run, writes};

/// Another server on the database of a world; `bus` carries its hints, if not the database itself.
async fn another(world: &World, bus: Option<&str>) -> Gate {
    let bus = bus.map(str::to_owned);
    let settings = GateSettings { bus, ..GateSettings::for_database(world.database.url.clone()) };
    let book = Arc::new(Rulebook::none());
    let gate = Gate::open(settings, world.clock.clone(), book).await.unwrap();
    gate.join().await.unwrap();
    gate
}

fn approve() -> Decision {
    Decision::Approve { by: ApprovedBy::Person("ana".into()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_come_to_an_empty_database_at_once_make_it_once() {
    let database = database::Database::new();
    let opening = (0..4).map(|_| {
        let settings = GateSettings::for_database(database.url.clone());
        let clock = Arc::new(countersign_gate::SystemClock);
        tokio::spawn(Gate::open(settings, clock, Arc::new(Rulebook::none())))
    });
    for gate in opening.collect::<Vec<_>>() {
        gate.await.unwrap().unwrap().join().await.unwrap();
    }
}

#[tokio::test]
async fn a_database_of_a_later_version_is_left_alone() {
    let world = World::new().await;
    world.database.sql("INSERT INTO migrations VALUES (1000)");
    let settings = GateSettings::for_database(world.database.url.clone());
    let opened = Gate::open(settings, world.clock.clone(), Arc::new(Rulebook::none())).await;
    assert!(matches!(opened.err(), Some(StoreError::Migration(_))));
}

/// The clock stands still, so nothing but the bus can have told.
#[tokio::test]
async fn a_decision_at_one_server_wakes_who_waits_at_another() {
    let world = World::new().await;
    let other = another(&world, None).await;
    for _ in 0..5 {
        let passing = world.passing("Write");
        let asked = world.first_waiting().await;
        other.decide(asked.id(), approve(), Some(asked.digest().clone())).await.unwrap();
        let Admission::Ran(permit) = passing.await.unwrap() else { panic!("not permitted") };
        assert_eq!(permit.approval(), asked.id());
    }
}

#[tokio::test]
async fn with_a_dead_bus_a_look_finds_the_decision() {
    let world = World::new().await;
    // Nobody listens on this port.
    let dead = another(&world, Some("nats://127.0.0.1:9")).await;
    let passing = tokio::spawn({
        let dead = dead.clone();
        async move { admit(&dead, call("Write"), writes()).await }
    });
    let asked = world.first_waiting().await;
    world.approve(asked.id(), "ana").await.unwrap();
    while !passing.is_finished() {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    assert!(matches!(passing.await.unwrap(), Admission::Ran(_)));
}

#[tokio::test]
async fn of_deciders_at_two_servers_exactly_one_wins() {
    let world = World::new().await;
    let other = another(&world, None).await;
    for _ in 0..20 {
        let id = world.ask("Bash").await.id();
        let no = Decision::Reject { by: ApprovedBy::Person("bo".into()), feedback: None };
        let (yes, no) = tokio::join!(world.approve(id, "ana"), other.decide(id, no, None));
        assert_ne!(yes.is_ok(), no.is_ok());
        let (here, there) = tokio::join!(world.gate.start(id), other.start(id));
        let permits = [here, there].into_iter().filter(|it| it.as_ref().unwrap().is_ok()).count();
        assert_eq!(permits, usize::from(yes.is_ok()));
    }
    world.log().await;
    assert_eq!(world.gate.store().verify_audit().await.unwrap().broken, None);
}

/// Moves the time on until a run is left behind for a server that watches: not faster than it looks,
/// since after a gap of its own it begins to count anew.
async fn until_left(world: &World, heir: &Gate) {
    while heir.take_over_runs(&["p".into()]).await.unwrap().is_empty() {
        world.clock.advance(Duration::from_millis(500));
        for _ in 0..8 {
            tokio::task::yield_now().await;
            // Writes are done in order: what the watcher has begun is over by then.
            heir.ask_to_stop(countersign_gate::new_id()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_server_that_no_longer_moves_is_fenced_and_changes_nothing_any_more() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let asked = world.ask("Write").await;
    let heir = another(&world, None).await;
    assert!(heir.take_over_runs(&["p".into()]).await.unwrap().is_empty(), "its driver is alive");
    heir.spawn_membership_watch();
    // The world's own server shows no life: nobody keeps its membership.
    until_left(&world, &heir).await;
    let late = world.gate.decide(asked.id(), approve(), None).await.unwrap_err();
    assert!(format!("{late:?}").contains("Fenced"), "{late:?}");
    let late = journal.record(vec![], vec![]).await.unwrap_err();
    assert!(matches!(late, StoreError::Fenced), "{late:?}");
    assert!(world.gate.is_fenced());
    assert!(matches!(world.gate.ensure_not_fenced().await, Err(StoreError::Fenced)));
    let stands = heir.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(stands.status(), ExecutionStatus::AwaitingApproval, "what waited still waits");
    world.gate.join().await.unwrap();
    world.gate.decide(asked.id(), approve(), None).await.unwrap();
}

#[tokio::test]
async fn a_server_that_moves_is_left_alone_however_long_it_takes() {
    let world = World::new().await;
    let other = another(&world, None).await;
    world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    other.spawn_membership_watch();
    for n in 0..60 {
        world.clock.advance(Duration::from_secs(1));
        world.gate.ensure_not_fenced().await.unwrap();
        world.ask(&format!("Write{n}")).await;
    }
    assert!(other.take_over_runs(&["p".into()]).await.unwrap().is_empty());
    assert!(!world.gate.is_fenced());
}

/// A watcher that was held up, as the database may have held up all of them, has not seen the others
/// stand still: between two of its looks it was blind.
#[tokio::test]
async fn a_server_that_nobody_could_see_is_not_taken_for_dead() {
    let world = World::new().await;
    world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let watcher = another(&world, None).await;
    watcher.spawn_membership_watch();
    for _ in 0..5 {
        let before = watcher.store().commits();
        while watcher.store().commits() == before {
            world.clock.advance(Duration::from_secs(12));
            tokio::task::yield_now().await;
        }
    }
    assert!(watcher.take_over_runs(&["p".into()]).await.unwrap().is_empty());
    world.gate.ensure_not_fenced().await.unwrap();
}

/// Connections are cut again and again in the middle of writing: nothing is lost and nothing doubled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_connections_lose_nothing_and_double_nothing() {
    let world = World::new().await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let working: Vec<_> = (0..8)
        .map(|_| {
            let gate = world.gate.clone();
            tokio::spawn(async move {
                for _ in 0..10 {
                    let asked = gate
                        .submit_local(call("Bash"), &CallTerms::new(writes(), attended()))
                        .await
                        .unwrap();
                    let countersign_gate::LocalSubmission::Waiting(asked) = asked else { panic!() };
                    gate.decide(asked.id(), approve(), None).await.unwrap();
                    gate.start(asked.id()).await.unwrap().unwrap();
                    let done = Ok(countersign_core::ToolOutput::ok("done"));
                    gate.finish(asked.id(), done).await.unwrap();
                }
            })
        })
        .collect();
    let mut cut_at = 0;
    while !working.iter().all(tokio::task::JoinHandle::is_finished) {
        let head = world.gate.store().head(&"p".into()).await.unwrap_or(cut_at);
        if head > cut_at + 10 {
            world.database.sql(cut);
            cut_at = head;
        }
        tokio::task::yield_now().await;
    }
    assert!(cut_at > 0, "no connection was cut");
    for worker in working {
        worker.await.unwrap();
    }
    // Requested, resolved, executing, completed and its result: each once.
    assert_eq!(world.log().await.len(), 80 * 5);
    let report = world.gate.store().verify_audit().await.unwrap();
    assert_eq!((report.rows, report.broken), (80 * 4, None));
}
