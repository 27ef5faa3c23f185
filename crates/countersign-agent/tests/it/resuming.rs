//! A run goes on after its driver died, whatever it was doing: nothing is lost, nothing runs twice.

use std::sync::Arc;
use std::time::Duration;

use countersign_agent::{AnswerStopReason, ConsentSource, ResumeError, RunnerConfig};
use countersign_core::{Event, ExecutionStatus, PermissionMode, TokenUsage, ToolOutput};
use countersign_gate::{LogFollowerItem, NewRun, NewRunMessage, new_id};
use serde_json::{Value, json};

use crate::canned::{self, Canned};
use crate::lives::Lives;
use crate::workshop::{Own, Running, Workshop, code, event, project};

/// Asks for two things at once, then for one more.
const TALK: &str = r#"
[[script]]
prompt = '^go$'
[[script.turn]]
say = "Two things."
call = [
  { tool = "Own", input = { what = "one" }, id = "toolu_one" },
  { tool = "Own", input = { what = "two" }, id = "toolu_two" },
]
[[script.turn]]
say = "Both are done."
[[script]]
[[script.turn]]
say = "Here I am."
"#;

#[test]
fn a_request_that_waits_goes_on_waiting_and_runs_once_when_it_is_approved() {
    let mut lives = playing(TALK);
    let (first, before) = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let first = run.until_asked().await;
        run.until_asked().await;
        (first, shop.approval(first).await)
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(shop.approval(first).await, before, "with the same deadline");
        for _ in 0..2 {
            let asked = run.until_asked().await;
            shop.approve(asked).await;
        }
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.texts(), ["Two things.", "Both are done."]);
        assert_eq!(run.results(), [("did it", false), ("did it", false)]);
        assert_eq!(resumptions(&run), 1);
        whole(shop, &run).await;
    });
    assert_eq!(sorted(lives.witness.saw()), ["one", "two"]);
}

#[test]
fn what_was_approved_while_nobody_was_there_runs_once() {
    let mut lives = playing(TALK);
    let asked = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        [run.until_asked().await, run.until_asked().await]
    });
    lives.live(async |shop| {
        for id in asked {
            shop.approve(id).await;
        }
    });
    for _ in 0..2 {
        lives.live(async |shop| {
            let approved = shop.approval(asked[0]).await;
            assert_eq!(approved.status(), ExecutionStatus::Approved, "{:?}", approved.state());
        });
    }
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        whole(shop, &run).await;
    });
    assert_eq!(lives.witness.saw().len(), 2, "{:?}", lives.witness.saw());
}

#[test]
fn what_ran_is_not_run_again_and_the_model_is_told() {
    // The second thing never comes to its end.
    let mut lives = Lives::playing(TALK).with_witness(changing, async |ran| {
        if ran == 2 {
            std::future::pending::<()>().await;
        }
        ToolOutput::ok("did it")
    });
    let witness = lives.witness.clone();
    let (one, two) = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let one = run.until_asked().await;
        shop.approve(one).await;
        until_result(&mut run).await;
        let two = run.until_asked().await;
        shop.approve(two).await;
        witness.sees(2).await;
        (one, two)
    });
    assert_eq!(sorted(lives.witness.saw()), ["one", "two"]);
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        let [(done, false), (interrupted, true)] = run.results()[..] else {
            panic!("{:?}", run.results())
        };
        assert_eq!(done, "did it", "what is recorded is not lost");
        assert!(interrupted.contains("Whether it took effect is unknown"), "{interrupted}");
        assert_eq!(shop.approval(one).await.status(), ExecutionStatus::Completed);
        assert_eq!(shop.approval(two).await.status(), ExecutionStatus::Failed);
        whole(shop, &run).await;
    });
    assert_eq!(sorted(lives.witness.saw()), ["one", "two"]);
}

#[test]
fn what_only_reads_runs_again_on_a_permit_of_its_own() {
    let reading = |own: Own| own.reading("/ws/a");
    let mut lives = Lives::playing(TALK).with_witness(reading, async |ran| {
        if ran <= 2 {
            std::future::pending::<()>().await;
        }
        ToolOutput::ok("read it")
    });
    let witness = lives.witness.clone();
    lives.live(async |shop| {
        shop.start("go", None).await;
        witness.sees(2).await;
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.results(), [("read it", false), ("read it", false)]);
        whole(shop, &run).await;
    });
    assert_eq!(lives.witness.saw().len(), 4);
}

/// The first is done, the second waits for it: they change the same file.
#[test]
fn calls_on_one_file_go_on_one_after_the_other() {
    let mut lives = Lives::playing(
        r#"
        [[script]]
        [[script.turn]]
        say = "Twice."
        call = [
          { tool = "Write", input = { file_path = "a.txt", content = "one" } },
          { tool = "Edit", input = { file_path = "a.txt", old_string = "one", new_string = "two" } },
        ]
        [[script.turn]]
        say = "Done."
        "#,
    );
    let second = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let first = run.until_asked().await;
        shop.approve(first).await;
        run.until_asked().await
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        shop.approve(second).await;
        assert_eq!(code(&run.end().await), "done");
        whole(shop, &run).await;
        assert_eq!(shop.file("a.txt").as_deref(), Some("two"));
    });
}

#[test]
fn an_answer_that_was_coming_is_asked_for_again() {
    let mut lives = playing(
        r#"
        pace_ms = 1000
        chunk = 4
        [[script]]
        [[script.turn]]
        say = "A long story."
        usage = { input_tokens = 5, output_tokens = 7 }
        "#,
    );
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        shop.somebody_waits().await;
        shop.clock.advance(Duration::from_secs(1));
        run.until(|seen| matches!(seen, LogFollowerItem::Live(_)).then_some(())).await;
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        while !run.driving.is_finished() {
            shop.clock.advance(Duration::from_secs(1));
            shop.somebody_waits_or(&run).await;
        }
        let usage = TokenUsage { input_tokens: 5, output_tokens: 7 };
        assert_eq!(run.end().await, Event::RunDone { usage, cost: None });
        assert_eq!(run.texts(), ["A long story."]);
        whole(shop, &run).await;
    });
}

#[test]
fn what_the_last_answer_ended_with_still_counts() {
    let ended = |reason: &str| {
        let outcome =
            json!({"stop_reason": reason, "usage": {"input_tokens": 3, "output_tokens": 4}});
        end_of(said("Well."), Some(outcome))
    };
    let usage = TokenUsage { input_tokens: 3, output_tokens: 4 };
    assert_eq!(ended("end_turn"), (Event::RunDone { usage, cost: None }, 0));
    assert_eq!(ended("stop_sequence"), (Event::RunDone { usage, cost: None }, 0));
    for reason in ["max_tokens", "refusal"] {
        let (end, asked) = ended(reason);
        assert_eq!((code(&end), asked), (reason, 0));
    }
    let (end, asked) = ended("pause_turn");
    assert_eq!((code(&end), asked), ("done", 1), "it is asked again");
    // As an older version has left it.
    let (end, asked) = end_of(said("Well."), None);
    assert_eq!((end, asked), (Event::RunDone { usage: TokenUsage::default(), cost: None }, 0));
}

#[test]
fn a_call_whose_input_was_broken_is_refused_as_ever() {
    let calls = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "Own", "input": {}},
    ]});
    for outcome in [
        json!({"stop_reason": "tool_use", "broken": ["toolu_1"]}),
        json!({"stop_reason": "max_tokens"}),
    ] {
        let mut lives = playing(TALK);
        lives.live(async |shop| left_with(shop, calls.clone(), Some(outcome)).await);
        lives.live(async |shop| {
            let mut run = shop.resume().await;
            assert_eq!(code(&run.end().await), "done");
            let [(told, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
            assert!(told.contains("was not a whole JSON object"), "{told}");
            whole(shop, &run).await;
        });
        assert_eq!(lives.witness.saw(), Vec::<String>::new());
    }
}

#[test]
fn what_all_answers_took_is_counted_and_so_are_the_answers() {
    let scenario = r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Own", input = { what = "one" } }
        usage = { input_tokens = 10, output_tokens = 1, cache_read_input_tokens = 100 }
        [[script.turn]]
        call = { tool = "Own", input = { what = "two" } }
        usage = { input_tokens = 20, output_tokens = 2 }
        [[script.turn]]
        say = "Done."
        usage = { input_tokens = 30, output_tokens = 3 }
    "#;
    for (most, expected) in [(3, "done"), (2, "too_many_turns")] {
        let mut lives = playing(scenario);
        lives.shop.config = RunnerConfig { max_turns: most, ..lives.shop.config.clone() };
        lives.live(async |shop| {
            let mut run = shop.start("go", None).await;
            let one = run.until_asked().await;
            shop.approve(one).await;
            run.until_asked().await;
        });
        // Whoever goes on does so with what the run was begun with.
        lives.shop.config = RunnerConfig { max_turns: 200, ..lives.shop.config.clone() };
        lives.live(async |shop| {
            let mut run = shop.resume().await;
            run.until_asked().await;
            let two = run.until_asked().await;
            shop.approve(two).await;
            let end = run.end().await;
            assert_eq!(code(&end), expected);
            if let Event::RunDone { usage, .. } = end {
                assert_eq!(usage, TokenUsage { input_tokens: 160, output_tokens: 6 });
            }
        });
    }
}

#[test]
fn a_run_goes_on_with_the_consent_it_was_begun_with() {
    let mut lives = playing(TALK);
    let mode = Some(PermissionMode::DontAsk);
    lives.shop.consent = ConsentSource::People { auto_approve_read: true, mode };
    lives.live(async |shop| {
        shop.begin(Arc::new(shop.model.clone()), "go", None).await;
    });
    lives.shop.consent = ConsentSource::People { auto_approve_read: true, mode: None };
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        assert!(run.results().iter().all(|(_, is_error)| *is_error), "{:?}", run.results());
    });
    assert_eq!(lives.witness.saw(), Vec::<String>::new());
}

#[test]
fn a_run_that_was_being_stopped_stops() {
    let mut lives = playing(TALK);
    let session = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let asked = run.until_asked().await;
        run.until_asked().await;
        // The first step of a stop; the process dies before the next.
        shop.gate.cancel(asked).await.unwrap();
        run.session
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "cancelled");
        assert!(
            shop.gate.store().waiting_requests(&project(), None, 100).await.unwrap().is_empty()
        );
        let mut next = shop.start("hello", Some(session)).await;
        assert_eq!(code(&next.end().await), "done");
        assert_eq!(shop.statuses(), [200, 200]);
    });
    assert_eq!(lives.witness.saw(), Vec::<String>::new());
}

#[test]
fn a_run_is_gone_on_with_as_often_as_it_takes() {
    let mut lives = playing(TALK);
    lives.live(async |shop| {
        shop.start("go", None).await.until_asked().await;
    });
    for _ in 0..3 {
        lives.live(async |shop| {
            shop.resume().await.until_asked().await;
        });
    }
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        for _ in 0..2 {
            let asked = run.until_asked().await;
            shop.approve(asked).await;
        }
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(resumptions(&run), 4);
        whole(shop, &run).await;
    });
    assert_eq!(sorted(lives.witness.saw()), ["one", "two"]);
}

#[test]
fn what_cannot_be_gone_on_with_says_why() {
    let mut lives = playing(TALK);
    lives.live(async |shop| {
        shop.start("go", None).await.until_asked().await;
    });
    lives.live(async |shop| {
        let mut left = shop.gate.take_over_runs(&[project()]).await.unwrap().pop().unwrap();
        let runner = shop.runner(Arc::new(shop.model.clone()));
        left.settings = json!("nonsense");
        let refused = runner.resume(left.clone()).await.err().unwrap();
        assert!(matches!(refused, ResumeError::Settings(_)), "{refused}");
        let why = Event::RunFailed { code: "x".into(), message: "y".into(), hint: None };
        shop.gate.abandon_run(&left, why).await.unwrap();
        left.settings = json!({});
        let refused = runner.resume(left).await.err().unwrap();
        assert!(matches!(refused, ResumeError::Over), "{refused}");
    });
}

#[test]
fn a_suspended_run_leaves_what_waits_and_goes_on_later() {
    let mut lives = playing(TALK);
    let before = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let first = run.until_asked().await;
        run.until_asked().await;
        suspend(&mut run).await;
        assert!(shop.gate.begin_run(another(&run)).await.unwrap().is_none(), "it is not over");
        shop.approval(first).await
    });
    assert_eq!(before.status(), ExecutionStatus::AwaitingApproval);
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(shop.approval(before.id()).await, before);
        for _ in 0..2 {
            let asked = run.until_asked().await;
            shop.approve(asked).await;
        }
        assert_eq!(code(&run.end().await), "done");
        whole(shop, &run).await;
    });
    assert_eq!(sorted(lives.witness.saw()), ["one", "two"]);
}

#[test]
fn a_suspended_run_records_nothing_of_an_answer_that_comes() {
    let mut lives = playing("pace_ms = 1000\n[[script]]\n[[script.turn]]\nsay = 'A story.'");
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        shop.somebody_waits().await;
        suspend(&mut run).await;
        assert_eq!(shop.messages(&run.session).await.len(), 1);
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        while !run.driving.is_finished() {
            shop.clock.advance(Duration::from_secs(1));
            shop.somebody_waits_or(&run).await;
        }
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.texts(), ["A story."]);
    });
}

#[test]
fn what_runs_may_come_to_its_end_and_nothing_more_starts() {
    let (tell, mut started) = tokio::sync::mpsc::unbounded_channel();
    let finish = Arc::new(tokio::sync::Notify::new());
    let finishing = finish.clone();
    let mut lives = Lives::playing(TALK).with_witness(changing, move |_| {
        tell.send(()).unwrap();
        let finishing = finishing.clone();
        async move {
            finishing.notified().await;
            ToolOutput::ok("did it")
        }
    });
    lives.shop.consent = ConsentSource::Nobody;
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        started.recv().await.unwrap();
        run.suspend.cancel();
        finish.notify_one();
        suspend(&mut run).await;
        assert_eq!(shop.messages(&run.session).await.len(), 2, "not all are answered");
    });
    assert_eq!(lives.witness.saw(), ["one"]);
    lives.live(async |shop| {
        finish.notify_one();
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.results(), [("did it", false), ("did it", false)]);
        whole(shop, &run).await;
    });
    assert_eq!(sorted(lives.witness.saw()), ["one", "two"]);
}

#[test]
fn a_suspended_run_that_is_broken_off_is_not_ended() {
    let mut lives = Lives::playing(TALK)
        .with_witness(changing, async |_| std::future::pending::<ToolOutput>().await);
    lives.shop.consent = ConsentSource::Nobody;
    let witness = lives.witness.clone();
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        witness.sees(1).await;
        run.suspend.cancel();
        run.driving.abort();
        assert!((&mut run.driving).await.unwrap_err().is_cancelled());
        assert!(shop.gate.begin_run(another(&run)).await.unwrap().is_none(), "it is not over");
    });
    assert_eq!(lives.witness.saw(), ["one"]);
    lives.shop.consent = ConsentSource::People { auto_approve_read: true, mode: None };
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        let (told, is_error) = until_result(&mut run).await;
        assert!(is_error && told.contains("Whether it took effect is unknown"), "{told}");
    });
    assert_eq!(lives.witness.saw(), ["one"]);
}

/// Two that change the same file go one after the other, so that a test can say which is which.
fn changing(own: Own) -> Own {
    own.changing("/ws/a")
}

fn sorted(mut saw: Vec<String>) -> Vec<String> {
    saw.sort();
    saw
}

fn playing(scenario: &str) -> Lives {
    Lives::playing(scenario).with_witness(|own| own, async |_| ToolOutput::ok("did it"))
}

fn said(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

/// A run whose driver died after it had recorded this answer.
async fn left_with(shop: &Workshop, answer: Value, outcome: Option<Value>) {
    let run = NewRun {
        id: new_id(),
        project: project(),
        session: "s".into(),
        title: "go".into(),
        settings: json!({"auto_approve_read": true}),
        message: json!({"role": "user", "content": [{"type": "text", "text": "go"}]}),
        events: vec![],
    };
    let journal = shop.gate.begin_run(run).await.unwrap().unwrap();
    journal.record(vec![NewRunMessage { body: answer, outcome }], vec![]).await.unwrap();
}

/// Returns how such a run ends, and how often the model was asked for that.
fn end_of(answer: Value, outcome: Option<Value>) -> (Event, usize) {
    let mut lives = playing(TALK);
    lives.live(async |shop| left_with(shop, answer, outcome).await);
    lives.live(async |shop| {
        let model = Canned::saying([canned::text("Well done.", AnswerStopReason::EndTurn)]);
        let end = shop.resume_with(Arc::new(model.clone())).await.end().await;
        (end, model.sent().len())
    })
}

fn another(run: &Running) -> NewRun {
    NewRun {
        id: new_id(),
        project: project(),
        session: run.session.clone(),
        title: String::new(),
        settings: json!({}),
        message: json!({}),
        events: vec![],
    }
}

async fn suspend(run: &mut Running) {
    run.suspend.cancel();
    (&mut run.driving).await.unwrap();
}

async fn until_result(run: &mut Running) -> (String, bool) {
    run.until(|seen| match event(seen)? {
        Event::ToolResult { content, is_error, .. } => Some((content.clone(), *is_error)),
        _ => None,
    })
    .await
}

fn resumptions(run: &Running) -> usize {
    run.events().filter(|event| matches!(event, Event::RunResumed)).count()
}

/// The API has taken every request, and every call has one answer, in the log as in the conversation.
pub(crate) async fn whole(shop: &Workshop, run: &Running) {
    assert!(shop.statuses().iter().all(|status| *status == 200), "{:?}", shop.statuses());
    let messages = shop.messages(&run.session).await;
    let blocks: Vec<_> =
        messages.iter().flat_map(|message| message["content"].as_array().unwrap()).collect();
    let ids = |kind: &str, id: &str| -> Vec<String> {
        let of_kind = blocks.iter().filter(|block| block["type"] == kind);
        of_kind.map(|block| block[id].as_str().unwrap().to_owned()).collect()
    };
    let calls = ids("tool_use", "id");
    assert_eq!(ids("tool_result", "tool_use_id"), calls, "{messages:#?}");
    let mut logged: Vec<_> = run
        .events()
        .filter_map(|event| match event {
            Event::ToolResult { tool_use_id, .. } => Some(tool_use_id.to_string()),
            _ => None,
        })
        .collect();
    let mut calls = calls;
    calls.sort();
    logged.sort();
    assert_eq!(logged, calls, "{:#?}", run.seen);
    let ends = |event: &&Event| matches!(event, Event::RunDone { .. } | Event::RunFailed { .. });
    assert_eq!(run.events().filter(ends).count(), 1);
}
