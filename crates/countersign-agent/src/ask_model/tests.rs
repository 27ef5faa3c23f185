use std::sync::Arc;

use countersign_gate::ManualClock;
use jiff::Timestamp;
use tokio::task::yield_now;

use super::*;
use crate::message::ModelMessage;
use crate::model::AnswerStopReason;
use crate::scripted::{Scenario, ScriptedModel};

#[tokio::test]
async fn an_answer_is_told_while_it_comes() {
    let (reply, told) = run(
        "[[script]]\n[[script.turn]]\nthink = 'hm'\nsay = 'Hello there'\nchunk = 6\n\
         call = { tool = 'Read', input = { file_path = 'a' } }",
        RetrySettings::default(),
    )
    .await;
    assert_eq!(reply.unwrap().stop_reason, AnswerStopReason::ToolUse);
    let shown: Vec<&str> = told.iter().map(String::as_str).collect();
    assert_eq!(
        shown,
        [
            "thinking hm",
            "text Hello ",
            "text there",
            "Read ",
            "Read ",
            "Read {\"file",
            "Read _path\"",
            "Read :\"a\"}"
        ]
    );
}

#[tokio::test]
async fn what_may_pass_is_tried_again_with_growing_waits() {
    let (reply, told) = run(
        "[[script]]\n[[script.turn]]\nsay = 'ok'\nfail = { status = 529, times = 3 }",
        RetrySettings::default(),
    )
    .await;
    assert_eq!(reply.unwrap().message.text(), "ok");
    let waits: Vec<f64> = told.iter().filter_map(|it| it.split(' ').nth(2)?.parse().ok()).collect();
    assert_eq!(waits.len(), 3);
    for (n, wait) in (0..).zip(waits) {
        let least = f64::from(1 << n);
        assert!((least..=2.0 * least).contains(&wait), "wait {n} is {wait}");
    }
}

#[tokio::test]
async fn the_server_may_ask_for_a_longer_wait_up_to_a_limit() {
    for (asked, waited) in [(17, "17"), (600, "60")] {
        let scenario = format!(
            "[[script]]\n[[script.turn]]\nsay = 'ok'\n\
             fail = {{ status = 429, retry_after = {asked} }}"
        );
        let (reply, told) = run(&scenario, RetrySettings::default()).await;
        assert!(reply.is_ok());
        assert_eq!(told.first().unwrap(), &format!("retry 2 {waited} rate_limited"));
    }
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_again_and_comes_once() {
    let (reply, told) = run(
        "[[script]]\n[[script.turn]]\nsay = 'Hello'\nchunk = 3\ncut = { after_events = 4 }",
        RetrySettings::default(),
    )
    .await;
    assert_eq!(reply.unwrap().message, ModelMessage::assistant(vec![MessageBlock::text("Hello")]));
    let kinds: Vec<&str> = told.iter().map(|it| it.split(' ').next().unwrap()).collect();
    assert_eq!(kinds, ["text", "retry", "text", "text"]);
}

#[tokio::test]
async fn patience_ends() {
    let scenario = "[[script]]\n[[script.turn]]\nsay = 'ok'\nfail = { status = 500, times = 9 }";
    let (reply, told) = run(scenario, RetrySettings { tries: 3, ..RetrySettings::default() }).await;
    assert_eq!(reply.unwrap_err().code(), "server_error");
    assert_eq!(told.len(), 2);
    let (reply, told) = run(scenario, RetrySettings { tries: 1, ..RetrySettings::default() }).await;
    assert_eq!((reply.unwrap_err().code(), told.len()), ("server_error", 0));
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    for (status, code) in [(400, "bad_request"), (401, "bad_api_key"), (413, "too_long")] {
        let scenario =
            format!("[[script]]\n[[script.turn]]\nsay = 'ok'\nfail = {{ status = {status} }}");
        let (reply, told) = run(&scenario, RetrySettings::default()).await;
        assert_eq!((reply.unwrap_err().code(), told.len()), (code, 0));
    }
}

#[tokio::test]
async fn a_dropped_answer_leaves_what_has_come() {
    let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
    let scenario = "pace_ms = 10\nchunk = 6\n[[script]]\n[[script.turn]]\nsay = 'Hello there'";
    let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), clock.clone());
    let mut draft = ReplyDraft::new();
    {
        let request = request();
        let observer = &mut |_: AnswerProgress<'_>| {};
        let answer =
            ask_model(&model, &request, RetrySettings::default(), &*clock, &mut draft, observer);
        tokio::pin!(answer);
        // One piece comes, the next would take another pause.
        tokio::select! {
            biased;
            _ = &mut answer => panic!("the clock stands still"),
            () = yield_now() => clock.advance(Duration::from_millis(10)),
        }
        tokio::select! {
            biased;
            _ = &mut answer => panic!("the clock stands still"),
            () = yield_now() => {}
        }
    }
    assert_eq!(
        draft.interrupted_message(),
        Some(ModelMessage::assistant(vec![MessageBlock::text("Hello ")]))
    );
}

/// Plays a scenario, skipping the waits, and returns what came and what was told.
async fn run(
    scenario: &str,
    retries: RetrySettings,
) -> (Result<ModelReply, ModelError>, Vec<String>) {
    let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
    let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), clock.clone());
    let mut told = Vec::new();
    let mut draft = ReplyDraft::new();
    let request = request();
    let mut observer = |progress: AnswerProgress<'_>| told.push(show(&progress));
    let answer = ask_model(&model, &request, retries, &*clock, &mut draft, &mut observer);
    let time = async {
        loop {
            yield_now().await;
            if clock.sleepers() > 0 {
                clock.advance(Duration::from_hours(1));
            }
        }
    };
    let reply = tokio::select! {
        reply = answer => reply,
        () = time => panic!("time never ends"),
    };
    (reply, told)
}

fn show(progress: &AnswerProgress<'_>) -> String {
    match progress {
        AnswerProgress::TextDelta(text) => format!("text {text}"),
        AnswerProgress::ThinkingDelta(text) => format!("thinking {text}"),
        AnswerProgress::ToolInput { name, json } => format!("{name} {json}"),
        AnswerProgress::Retry { attempt, wait, reason } => {
            format!("retry {attempt} {} {}", wait.as_secs_f64(), reason.code())
        }
    }
}

fn request() -> ModelRequest {
    let tool = crate::model::ToolSpec {
        name: "Read".into(),
        description: String::new(),
        input_schema: serde_json::json!({"type": "object"}),
    };
    ModelRequest {
        model: "m".into(),
        max_tokens: 100,
        messages: vec![ModelMessage::user("hi")],
        tools: vec![tool],
        ..ModelRequest::default()
    }
}
