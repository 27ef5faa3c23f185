//! Following the log: nothing lost, nothing twice, whole texts after their pieces.

use std::collections::HashMap;

use countersign_gate::{Event, LiveEvent, LogFollower, LogFollowerItem, NewRun};
use serde_json::json;

use crate::world::{World, new_run};

#[tokio::test]
async fn a_follower_sees_what_was_before_and_what_comes_each_once() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    for n in 0..300 {
        journal.record(vec![], vec![text(&format!("{n}"))]).await.unwrap();
    }
    let mut follow = world.gate.follow(&"p".into(), 1).await.unwrap();
    journal.record(vec![], vec![text("300")]).await.unwrap();
    for n in 0..=300 {
        assert_eq!(follow.position(), n + 1);
        assert_eq!(next(&mut follow).await, format!("{}: {n}", n + 2));
    }
    assert_eq!(follow.position(), 302);
}

#[tokio::test]
async fn who_follows_all_hears_of_every_other_project_and_of_later_ones_from_their_beginning() {
    let world = World::new().await;
    let begin = async |project: &str| {
        let run = NewRun { project: project.into(), ..new_run("s") };
        world.gate.begin_run(run).await.unwrap().unwrap()
    };
    let (own, old) = (begin("p").await, begin("old").await);
    let mut follow = world.gate.follow_all_but(&"p".into()).await.unwrap();
    // More than a reader is told of by hints: the rest it finds in the log.
    for n in 0..1500 {
        own.record(vec![], vec![text("mine")]).await.unwrap();
        old.record(vec![], vec![text(&n.to_string())]).await.unwrap();
    }
    begin("new").await;
    let mut heard: HashMap<String, Vec<u64>> = HashMap::new();
    for _ in 0..1501 {
        let (project, entry) = follow.next().await.unwrap().unwrap();
        heard.entry(project.to_string()).or_default().push(entry.seq);
    }
    let all = HashMap::from([("old".into(), (2..=1501).collect()), ("new".into(), vec![1])]);
    assert_eq!(heard, all);
}

#[tokio::test]
async fn pieces_of_a_text_come_before_the_whole_of_it() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let mut follow = world.gate.follow(&"p".into(), 1).await.unwrap();
    journal.show_live(LiveEvent::TextDelta("he".into()));
    journal.show_live(LiveEvent::TextDelta("llo".into()));
    journal.record(vec![], vec![text("hello")]).await.unwrap();
    journal.show_live(LiveEvent::TextDelta("next".into()));
    for expected in ["~he", "~llo", "2: hello", "~next"] {
        assert_eq!(next(&mut follow).await, expected);
    }
}

#[tokio::test]
async fn who_comes_in_the_middle_of_a_text_gets_what_is_there_of_it() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    journal.show_live(LiveEvent::TextDelta("he".into()));
    journal.show_live(LiveEvent::TextDelta("ll".into()));
    let mut follow = world.gate.follow(&"p".into(), 0).await.unwrap();
    journal.show_live(LiveEvent::TextDelta("o".into()));
    for expected in ["1: prompt", "~hell", "~o"] {
        assert_eq!(next(&mut follow).await, expected);
    }
    journal.record(vec![], vec![text("hello")]).await.unwrap();
    let mut late = world.gate.follow(&"p".into(), 1).await.unwrap();
    assert_eq!(next(&mut late).await, "2: hello");
}

#[tokio::test]
async fn a_reader_too_slow_for_the_pieces_loses_no_entry() {
    let world = World::new().await;
    let journal = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    let mut follow = world.gate.follow(&"p".into(), 1).await.unwrap();
    for _ in 0..5_000 {
        journal.show_live(LiveEvent::TextDelta("x".into()));
    }
    journal.record(vec![], vec![text("whole")]).await.unwrap();
    loop {
        match next(&mut follow).await {
            piece if piece.starts_with('~') => {}
            entry => break assert_eq!(entry, "2: whole"),
        }
    }
}

#[tokio::test]
async fn a_conversation_has_one_run_at_a_time_and_keeps_its_messages() {
    let world = World::new().await;
    let first = world.gate.begin_run(new_run("s")).await.unwrap().unwrap();
    assert!(world.gate.begin_run(new_run("s")).await.unwrap().is_none());
    assert!(world.gate.begin_run(new_run("other")).await.unwrap().is_some());
    first.record(vec![json!({"role": "assistant"}).into()], vec![]).await.unwrap();
    first.end(countersign_gate::RunEnd::Done, vec![], vec![text("bye")]).await.unwrap();
    assert!(world.gate.begin_run(new_run("s")).await.unwrap().is_some());
    let messages = world.gate.store().messages(&"p".into(), &"s".into()).await.unwrap();
    let hello = json!({"role": "user", "content": "hello"});
    assert_eq!(messages, [hello.clone(), json!({"role": "assistant"}), hello]);
}

async fn next(follow: &mut LogFollower) -> String {
    match follow.next().await.unwrap().unwrap() {
        LogFollowerItem::Logged(entry) => match entry.event {
            Event::Text { text } => format!("{}: {text}", entry.seq),
            Event::Prompt { .. } => format!("{}: prompt", entry.seq),
            other => panic!("{other:?}"),
        },
        LogFollowerItem::Live(live) => match live.news {
            LiveEvent::TextDelta(text) => format!("~{text}"),
            LiveEvent::Retry { .. } => "retry".into(),
            LiveEvent::ToolOutput { text, .. } => format!("${text}"),
        },
    }
}

fn text(text: &str) -> Event {
    Event::Text { text: text.into() }
}
