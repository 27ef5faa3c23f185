//! Lists of calls and of messages, and what projects settle for themselves.

use std::time::Duration;

use countersign_core::{Execution, ExecutionStatus, Risk};
use countersign_gate::{ExecutionFilter, Project, ProjectSettings};
use jiff::Timestamp;
use serde_json::json;

use crate::world::{World, new_run};

#[tokio::test]
async fn calls_are_listed_the_latest_first_and_pages_make_up_the_whole() {
    let world = World::new().await;
    let mut made = Vec::new();
    for n in 0..7 {
        // Two at a time were made in the same moment: their ids keep them apart.
        if n % 2 == 0 {
            world.clock.advance(Duration::from_secs(1));
        }
        made.push(world.ask("Write").await);
    }
    made.reverse();
    let store = world.gate.store();
    let (mut listed, mut before) = (Vec::new(), None);
    loop {
        let page = store.executions(&"p".into(), ExecutionFilter::default(), before, 3).await;
        let page = page.unwrap();
        let Some(last) = page.last() else { break };
        before = Some((last.created_at(), last.id()));
        listed.extend(page);
    }
    assert_eq!(ids(&listed), ids(&made));
    let elsewhere = store.executions(&"q".into(), ExecutionFilter::default(), None, 9).await;
    assert_eq!(elsewhere.unwrap(), []);
}

#[tokio::test]
async fn the_oldest_request_is_the_one_that_has_waited_longest() {
    let world = World::new().await;
    let oldest = async || world.gate.store().oldest_request_time(&"p".into()).await.unwrap();
    assert_eq!(oldest().await, None);
    let first = world.ask("Write").await;
    world.clock.advance(Duration::from_secs(10));
    let second = world.ask("Edit").await;
    assert_eq!(oldest().await, Some(first.created_at()));
    world.approve(first.id(), "ana").await.unwrap();
    assert_eq!(oldest().await, Some(second.created_at()));
    world.reject(second.id(), "no").await.unwrap();
    assert_eq!(oldest().await, None);
}

#[tokio::test]
async fn each_filter_leaves_what_it_names() {
    let world = World::new().await;
    let first = world.ask("Write").await;
    world.clock.advance(Duration::from_secs(10));
    let second = world.ask("Edit").await;
    world.approve(first.id(), "ana").await.unwrap();
    let at = |seconds| Some(Timestamp::from_second(seconds).unwrap());
    let all = [second.id(), first.id()];
    let none = ExecutionFilter::default;
    for (filter, expected) in [
        (none(), &all[..]),
        (ExecutionFilter { statuses: vec![ExecutionStatus::Approved], ..none() }, &all[1..]),
        (
            ExecutionFilter {
                statuses: vec![ExecutionStatus::Approved, ExecutionStatus::AwaitingApproval],
                ..none()
            },
            &all[..],
        ),
        (ExecutionFilter { tool: Some("Edit".into()), ..none() }, &all[..1]),
        (ExecutionFilter { tool: Some("edit".into()), ..none() }, &[]),
        (ExecutionFilter { risk: Some(Risk::Medium), ..none() }, &all[..]),
        (ExecutionFilter { risk: Some(Risk::High), ..none() }, &[]),
        (ExecutionFilter { session: Some("s".into()), ..none() }, &all[..]),
        (ExecutionFilter { session: Some("t".into()), ..none() }, &[]),
        (ExecutionFilter { from: at(10), ..none() }, &all[..1]),
        (ExecutionFilter { to: at(10), ..none() }, &all[1..]),
        (ExecutionFilter { asked: Some(true), ..none() }, &all[..]),
        (ExecutionFilter { asked: Some(false), ..none() }, &[]),
        (
            ExecutionFilter {
                tool: Some("Write".into()),
                from: at(0),
                to: at(5),
                asked: Some(true),
                session: Some("s".into()),
                ..none()
            },
            &all[1..],
        ),
    ] {
        let found = world.gate.store().executions(&"p".into(), filter.clone(), None, 9).await;
        assert_eq!(ids(&found.unwrap()), expected, "{filter:?}");
    }
}

#[tokio::test]
async fn an_execution_is_found_by_its_id_in_its_own_project_only() {
    let world = World::new().await;
    let asked = world.ask("Write").await;
    let store = world.gate.store();
    let found = store.execution(&"p".into(), asked.call().id).await.unwrap();
    assert_eq!(found.map(|it| it.id()), Some(asked.id()));
    assert_eq!(store.execution(&"q".into(), asked.call().id).await.unwrap(), None);
}

#[tokio::test]
async fn messages_are_read_page_by_page_and_a_run_knows_its_first() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    journal.record(vec![json!({"role": "assistant"}).into()], vec![]).await.unwrap();
    let store = world.gate.store();
    let page = async |after| store.messages_after(&"p".into(), &"s".into(), after, 1).await;
    let first = page(0).await.unwrap().pop().unwrap();
    assert_eq!((first.position, first.run), (1, journal.run()));
    assert_eq!(first.body["role"], "user");
    let second = page(first.position).await.unwrap().pop().unwrap();
    assert_eq!((second.position, &second.body["role"]), (2, &json!("assistant")));
    assert_eq!(page(second.position).await.unwrap(), []);
    let began = store.first_message(&"p".into(), &"s".into(), journal.run()).await.unwrap();
    assert_eq!(began, Some(1));
}

#[tokio::test]
async fn a_conversation_knows_what_its_last_run_was_begun_with() {
    let world = World::new().await;
    let store = world.gate.store();
    let last = async || store.last_settings(&"p".into(), &"s".into()).await.unwrap();
    assert_eq!(last().await, None);
    for cwd in ["/one", "/two"] {
        world.clock.advance(Duration::from_secs(1));
        let run = countersign_gate::NewRun { settings: json!({"cwd": cwd}), ..new_run("s") };
        let journal = world.gate.begin_run(run).await.unwrap().unwrap();
        assert_eq!(last().await, Some(json!({"cwd": cwd})));
        journal.end(countersign_gate::RunEnd::Done, vec![], vec![]).await.unwrap();
    }
}

#[tokio::test]
async fn the_log_knows_its_oldest_entry() {
    let world = World::new().await;
    let oldest = async || world.gate.store().oldest(&"p".into()).await.unwrap();
    assert_eq!(oldest().await, None);
    world.ask("Write").await;
    world.ask("Write").await;
    assert_eq!(oldest().await, Some(1));
}

#[tokio::test]
async fn people_have_as_long_as_their_project_gives_them() {
    let world = World::new().await;
    let servers = world.ask("Write").await;
    assert_eq!(time_given(&servers), Duration::from_mins(1));
    let project = Project { id: "p".into(), name: "p".into(), root: "/ws".into() };
    let now = Timestamp::UNIX_EPOCH;
    assert!(world.gate.store().register_project(project.clone(), now).await.unwrap());
    assert!(!world.gate.store().register_project(project.clone(), now).await.unwrap());
    let settle = |seconds| {
        let gate = world.gate.clone();
        async move {
            let change = move |it: &mut countersign_gate::StoredProject| {
                it.settings.medium_seconds = seconds;
            };
            gate.change_project(&"p".into(), "ana", change).await.unwrap().unwrap()
        }
    };
    let stands = settle(Some(7)).await;
    let expected = ProjectSettings { medium_seconds: Some(7), ..ProjectSettings::default() };
    assert_eq!((stands.project, stands.settings), (project, expected));
    assert_eq!(time_given(&world.ask("Write").await), Duration::from_secs(7));
    if let Some(other) = world.another().await {
        let timeouts = other.timeouts(&"p".into()).await.unwrap();
        assert_eq!(timeouts.medium, Duration::from_secs(7), "at every server");
    }
    let world = world.reopened().await;
    assert_eq!(time_given(&world.ask("Write").await), Duration::from_secs(7));
    let kept = world.gate.store().project(&"p".into()).await.unwrap().unwrap();
    assert_eq!(world.gate.store().projects().await.unwrap(), [kept]);
    let change = |it: &mut countersign_gate::StoredProject| it.settings.medium_seconds = None;
    world.gate.change_project(&"p".into(), "ana", change).await.unwrap();
    assert_eq!(time_given(&world.ask("Write").await), Duration::from_mins(1));
    assert_eq!(world.gate.change_project(&"q".into(), "ana", |_| ()).await.unwrap(), None);
}

fn ids(calls: &[Execution]) -> Vec<countersign_core::ApprovalId> {
    calls.iter().map(countersign_core::Execution::id).collect()
}

fn time_given(asked: &Execution) -> Duration {
    asked.deadline().unwrap().duration_since(asked.created_at()).try_into().unwrap()
}
