//! Limits: how many may wait, how long the log is kept, and what many deadlines at once cost.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ApprovalId, Attachment, AttachmentKind, Event, Execution, ExecutionState, ExecutionStatus,
    FailureKind, ToolOutput,
};
use countersign_gate::{
    CallTerms, DecisionTimeouts, Gate, GateSettings, LocalSubmission, LogFollowerItem, ManualClock,
    Rulebook,
};
use jiff::Timestamp;

use crate::database::Database;
use crate::world::{World, attended, call, writes};

async fn open(settings: GateSettings) -> (Gate, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
    let gate = Gate::open(settings, clock.clone(), Arc::new(Rulebook::none())).await.unwrap();
    (gate, clock)
}

async fn asks(gate: &Gate) -> Result<Execution, Execution> {
    match gate.submit_local(call("Bash"), &CallTerms::new(writes(), attended())).await.unwrap() {
        LocalSubmission::Waiting(asked) => Ok(*asked),
        LocalSubmission::Refused(refused) => Err(*refused),
        other @ LocalSubmission::Permitted(_) => panic!("nobody was asked: {other:?}"),
    }
}

#[tokio::test]
async fn when_too_many_wait_the_next_is_refused_with_a_sentence_until_one_is_decided() {
    let database = Database::new();
    let settings =
        GateSettings { pending_limit: 3, ..GateSettings::for_database(database.url.clone()) };
    let (gate, _clock) = open(settings).await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(asks(&gate).await.unwrap());
    }
    let refused = asks(&gate).await.unwrap_err();
    let ExecutionState::Failed { failure, .. } = &refused.state() else { panic!("{refused:?}") };
    assert_eq!(failure.kind, FailureKind::TooManyPending);
    assert!(failure.error.contains("3 calls of this project wait"), "{}", failure.error);
    gate.cancel(waiting[0].id()).await.unwrap();
    assert!(asks(&gate).await.is_ok());
    assert!(asks(&gate).await.is_err());
}

#[tokio::test]
async fn what_waits_is_listed_page_by_page() {
    let world = World::new().await;
    let mut asked = Vec::new();
    for _ in 0..7 {
        asked.push(world.ask("Write").await.id());
    }
    let mut listed: Vec<ApprovalId> = Vec::new();
    let mut after = None;
    loop {
        let page = world.gate.store().waiting_requests(&"p".into(), after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.created_at(), last.id()));
        listed.extend(page.iter().map(countersign_core::Execution::id));
    }
    assert_eq!(listed, asked);
}

#[tokio::test]
async fn many_deadlines_at_once_are_settled_together() {
    let database = Database::new();
    let timeouts = DecisionTimeouts::uniform(Duration::from_mins(1));
    let (gate, clock) =
        open(GateSettings { timeouts, ..GateSettings::for_database(database.url.clone()) }).await;
    // More than one sweep takes.
    let asking: Vec<_> = (0..400)
        .map(|_| {
            let gate = gate.clone();
            tokio::spawn(async move { asks(&gate).await.unwrap().id() })
        })
        .collect();
    let mut ids = Vec::new();
    for asked in asking {
        ids.push(asked.await.unwrap());
    }
    let waiting: Vec<_> = ids.iter().map(|id| gate.wait_for_decision(*id)).collect();
    let waiting = futures_util::future::join_all(waiting);
    tokio::pin!(waiting);
    clock.advance(Duration::from_mins(1));
    let settled = waiting.await;
    assert!(settled.into_iter().all(|it| it.unwrap().status() == ExecutionStatus::Timeout));
    assert!(gate.store().waiting_requests(&"p".into(), None, 1).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_long_result_comes_back_whole_and_stands_in_a_place_of_its_own() {
    let world = World::new().await;
    let id = world.ask("Bash").await.id();
    world.approve(id, "ana").await.unwrap();
    world.gate.start(id).await.unwrap().unwrap();
    let long = format!("{}\0end", "line\n".repeat(20_000));
    world.gate.finish(id, Ok(ToolOutput::ok(long.clone()))).await.unwrap();
    let world = world.reopened().await;
    let found = world.gate.store().approval(id).await.unwrap().unwrap();
    assert_eq!(found.to_tool_output(), Some(ToolOutput::ok(long)));
}

#[tokio::test]
async fn what_was_shown_beside_a_result_comes_back_and_is_part_of_the_audit() {
    let world = World::new().await;
    let id = world.ask("Bash").await.id();
    world.approve(id, "ana").await.unwrap();
    world.gate.start(id).await.unwrap().unwrap();
    let picture = |data: &str| Attachment {
        kind: AttachmentKind::Image,
        media_type: "image/png".into(),
        data: data.repeat(20_000),
    };
    let shown =
        ToolOutput::ok("short").with_attachment(picture("AAAA")).with_attachment(picture("BBBB"));
    world.gate.finish(id, Ok(shown.clone())).await.unwrap();
    let told = world.log().await.into_iter().find_map(|event| match event {
        Event::ToolResult { content, .. } => Some(content),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some("short"), "the log tells the text alone");
    let world = world.reopened().await;
    let found = world.gate.store().approval(id).await.unwrap().unwrap();
    assert_eq!(found.to_tool_output(), Some(shown));
    assert_eq!(world.gate.store().verify_audit().await.unwrap().broken, None);
}

#[tokio::test]
async fn an_old_log_is_forgotten_from_its_old_end_and_numbers_go_on() {
    let database = Database::new();
    let day = Duration::from_hours(24);
    let (timeouts, keep_events) = (DecisionTimeouts::uniform(100 * day), Some(2 * day));
    let settings =
        GateSettings { timeouts, keep_events, ..GateSettings::for_database(database.url.clone()) };
    let (gate, clock) = open(settings).await;
    for _ in 0..4 {
        asks(&gate).await.unwrap();
        clock.advance(day);
    }
    let store = gate.store();
    let numbers = async || {
        let entries = store.entries(&"p".into(), 0, u64::MAX, 100).await.unwrap();
        entries.iter().map(|entry| entry.seq).collect::<Vec<_>>()
    };
    while numbers().await.first() == Some(&1) {
        clock.advance(Duration::from_hours(1));
        tokio::task::yield_now().await;
    }
    let head = store.head(&"p".into()).await.unwrap();
    asks(&gate).await.unwrap();
    let left = numbers().await;
    assert_eq!(left.last(), Some(&(head + 1)), "{left:?}");
    let mut follow = gate.follow(&"p".into(), 0).await.unwrap();
    let LogFollowerItem::Logged(first) = follow.next().await.unwrap().unwrap() else {
        panic!("nothing is live");
    };
    // More may be forgotten meanwhile: it begins with what was the oldest at its time.
    let oldest = left[0]..=numbers().await[0];
    assert!(oldest.contains(&first.seq), "{} is not among {oldest:?}", first.seq);
}
