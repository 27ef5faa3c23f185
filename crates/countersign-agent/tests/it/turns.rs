//! A prompt is taken to its end, turn by turn, whatever the model does.

use std::sync::Arc;

use async_trait::async_trait;
use countersign_agent::model::{
    AnswerStopReason, Model, ModelError, ModelEventStream, ModelRequest,
};
use countersign_agent::{ModelMessage, RunnerConfig};
use countersign_core::{Event, ExecutionStatus, Preview, TokenUsage, ToolOutput};
use countersign_gate::LiveEvent;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::canned::{self, Canned};
use crate::workshop::{Own, Running, Workshop, code, event, project};

#[tokio::test]
async fn calls_are_answered_in_the_models_order_whichever_ends_first() {
    let released = Arc::new(Notify::new());
    let release = released.clone();
    let own = Own::new(move |input: Value| {
        let released = released.clone();
        async move {
            if input["name"] == "first" {
                released.notified().await;
            }
            ToolOutput::ok(input["name"].as_str().unwrap())
        }
    });
    let shop = Workshop::unattended(
        r#"
        [[script]]
        [[script.turn]]
        call = [
            { tool = "Own", id = "toolu_1", input = { name = "first" } },
            { tool = "Own", id = "toolu_2", input = { name = "second" } },
        ]
        [[script.turn]]
        say = "Done."
        "#,
    )
    .with_tool(own);
    let mut run = shop.start("go", None).await;
    run.until(|seen| matches!(event(seen)?, Event::ToolResult { .. }).then_some(())).await;
    release.notify_one();
    run.end().await;
    assert_eq!(run.results(), [("second", false), ("first", false)]);
    assert_eq!(
        shop.sent()[2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "first"},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": "second"},
        ])
    );
}

/// Each edit finds what the one before it left.
const EDITS: &str = r#"
[[script]]
[[script.turn]]
call = [
    { tool = "Edit", input = { file_path = "a.txt", old_string = "one", new_string = "two" } },
    { tool = "Edit", input = { file_path = "./a.txt", old_string = "two", new_string = "three" } },
    { tool = "Edit", input = { file_path = "b.txt", old_string = "one", new_string = "two" } },
]
[[script.turn]]
say = "Done."
"#;

#[tokio::test]
async fn edits_of_one_file_go_one_after_the_other() {
    let shop = Workshop::unattended(EDITS);
    shop.write("a.txt", "one");
    shop.write("b.txt", "one");
    let run = shop.run("go").await;
    assert!(run.results().iter().all(|(_, is_error)| !is_error), "{:?}", run.results());
    assert_eq!(
        (shop.file("a.txt"), shop.file("b.txt")),
        (Some("three".into()), Some("two".into()))
    );
}

#[tokio::test]
async fn an_edit_is_shown_on_what_the_one_before_it_left() {
    let shop = Workshop::playing(EDITS);
    shop.write("a.txt", "one");
    shop.write("b.txt", "one");
    let mut run = shop.start("go", None).await;
    // Both files at once, the second edit of the first file not yet.
    let (one, other) = (run.until_asked().await, run.until_asked().await);
    assert_eq!(shop.gate.store().waiting_requests(&project(), None, 100).await.unwrap().len(), 2);
    shop.approve(one).await;
    shop.approve(other).await;
    let third = run.until_asked().await;
    let Some(Preview::Diff(diff)) = shop.approval(third).await.preview().cloned() else { panic!() };
    assert_eq!(diff.original_content.as_deref(), Some("two"));
    shop.approve(third).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(shop.file("a.txt").as_deref(), Some("three"));
}

#[tokio::test]
async fn what_is_stored_is_what_was_sent() {
    let shop = Workshop::unattended(
        r#"
        [[script]]
        [[script.turn]]
        think = "First I look.\nThen I write. Grüße."
        say = "I'll look."
        call = { tool = "Glob", input = { pattern = "*" } }
        [[script.turn]]
        think = "Nothing there."
        call = { tool = "Write", input = { file_path = "a.txt", content = "1.50\n" }, repeat = 1 }
        [[script.turn]]
        say = "Done."
        "#,
    );
    let mut run = shop.run("go").await;
    let mut stored = shop.messages(&run.session).await;
    let last = stored.pop().unwrap();
    assert_eq!(last["content"], json!([{"type": "text", "text": "Done."}]));
    assert_eq!(shop.sent(), stored);
    // A thought goes back as it came: the scripted API refuses one that was altered.
    assert_eq!(stored[1]["content"][0]["thinking"], "First I look.\nThen I write. Grüße.");
    run = shop.start("again", Some(run.session)).await;
    run.end().await;
    assert_eq!(shop.sent()[..5], stored[..]);
    assert_eq!(shop.statuses(), [200; 6]);
}

#[tokio::test]
async fn an_overloaded_model_is_asked_again() {
    let shop = Workshop::unattended(
        "[[script]]\n[[script.turn]]\nsay = 'at last'\nfail = { status = 529, times = 2 }",
    );
    let mut run = shop.start("go", None).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(shop.statuses(), [529, 529, 200]);
    let overloaded = |attempt| LiveEvent::Retry {
        attempt,
        wait_ms: 0,
        reason: "the model's server is overloaded".into(),
    };
    assert_eq!(run.news()[..2], [&overloaded(2), &overloaded(3)]);
    assert_eq!(run.texts(), ["at last"]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_taken_back_and_recorded_once() {
    let shop = Workshop::unattended(
        r#"
        chunk = 4
        [[script]]
        [[script.turn]]
        say = "once and whole"
        call = { tool = "Write", input = { file_path = "a.txt", content = "x" } }
        cut = { after_events = 12 }
        [[script.turn]]
        say = "Done."
        "#,
    );
    let run = shop.run("go").await;
    let news = run.news();
    let retry = news.iter().position(|news| matches!(news, LiveEvent::Retry { attempt: 2, .. }));
    let written = |news: &[&LiveEvent]| -> String {
        let pieces = news.iter().filter_map(|news| match news {
            LiveEvent::TextDelta(text) => Some(text.as_str()),
            LiveEvent::Retry { .. } | LiveEvent::ToolOutput { .. } => None,
        });
        pieces.collect()
    };
    let (before, after) = news.split_at(retry.unwrap());
    assert_eq!(written(before), "once and whole");
    assert_eq!(written(after), "once and wholeDone.");
    assert_eq!(run.texts(), ["once and whole", "Done."]);
    assert_eq!(run.results(), [("Wrote 1 characters to a.txt", false)]);
    assert_eq!(shop.messages(&run.session).await.len(), 4);
}

#[tokio::test]
async fn a_failure_has_a_code_a_sentence_and_a_hint_and_the_conversation_goes_on() {
    let shop = Workshop::unattended(
        r#"
        [[script]]
        prompt = 'fail'
        [[script.turn]]
        call = { tool = "Glob", input = { pattern = "*" } }
        [[script.turn]]
        say = "never"
        fail = { status = 529, times = 100 }
        [[script]]
        [[script.turn]]
        say = "Here I am."
        "#,
    );
    let mut run = shop.start("fail", None).await;
    let failed = Event::RunFailed {
        code: "overloaded".into(),
        message: "the model's server is overloaded".into(),
        hint: Some("try again in a minute".into()),
    };
    assert_eq!(run.end().await, failed);
    assert_eq!(shop.statuses().len(), 7, "one answer, and six tries for the next");
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn what_came_of_an_answer_that_failed_for_good_is_kept() {
    let shop = Workshop::unattended(
        r#"
        [[script]]
        prompt = 'fail'
        [[script.turn]]
        say = "I will"
        call = { tool = "Bash", input = { command = "touch a" } }
        cut = { after_events = 7, times = 100 }
        [[script]]
        [[script.turn]]
        say = "Here I am."
        "#,
    );
    let mut run = shop.start("fail", None).await;
    assert_eq!(code(&run.end().await), "cut_off");
    assert_eq!((run.texts(), shop.file("a")), (vec!["I will"], None));
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn an_answer_that_is_too_long_ends_the_run_and_can_go_on() {
    check_stop("max_tokens", "max_tokens", "the answer reached the limit of 8192 tokens").await;
}

#[tokio::test]
async fn a_model_that_declines_ends_the_run() {
    check_stop("refusal", "refusal", "the model declined to answer").await;
}

#[tokio::test]
async fn a_model_that_declines_without_a_word_leaves_no_empty_message() {
    let shop = Workshop::unattended("[[script]]\n[[script.turn]]\nsay = 'Here I am.'");
    let model = Canned::saying([canned::nothing(AnswerStopReason::Refusal)]);
    let mut run = shop.start_with(Arc::new(model), "go", None).await;
    assert_eq!(code(&run.end().await), "refusal");
    assert_eq!(shop.messages(&run.session).await.len(), 1);
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn a_turn_that_pauses_goes_on_with_the_same_conversation() {
    let shop = Workshop::unattended("[[script]]\n[[script.turn]]\nsay = 'x'");
    let model = Canned::saying([
        canned::text("Searching", AnswerStopReason::PauseTurn),
        canned::text("Found.", AnswerStopReason::EndTurn),
    ]);
    let mut run = shop.start_with(Arc::new(model.clone()), "go", None).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(run.texts(), ["Searching", "Found."]);
    let sent = model.sent();
    assert_eq!(sent[1][..1], sent[0][..]);
    assert_eq!(sent[1][1].text(), "Searching");
    assert_eq!(sent[1].len(), 2);
}

#[tokio::test]
async fn a_call_whose_input_is_no_object_is_not_run_and_the_model_is_told() {
    for (json, stop) in [
        (r#"{"command": "touch a"#, AnswerStopReason::MaxTokens),
        ("[1]", AnswerStopReason::ToolUse),
        // Cut off before its input began; `Own` would take it for a call without one.
        ("", AnswerStopReason::MaxTokens),
    ] {
        let shop = Workshop::unattended("[[script]]\n[[script.turn]]\nsay = 'x'")
            .with_tool(Own::new(async |_| panic!("it ran")));
        let tool = if json.is_empty() { "Own" } else { "Bash" };
        let model = Canned::saying([
            canned::call(tool, json, stop),
            canned::text("I see.", AnswerStopReason::EndTurn),
        ]);
        let mut run = shop.start_with(Arc::new(model.clone()), "go", None).await;
        assert_eq!(code(&run.end().await), "done");
        let told =
            format!("The input of `{tool}` was not a whole JSON object; send the call again");
        assert_eq!(run.results(), [(told.as_str(), true)]);
        assert_eq!(model.sent()[1][1].tool_uses().next().unwrap().input, json!({}));
        assert_eq!(shop.file("a"), None);
    }
}

#[tokio::test]
async fn a_call_without_input_runs() {
    let shop = Workshop::unattended("[[script]]\n[[script.turn]]\nsay = 'x'")
        .with_tool(Own::new(async |_| ToolOutput::ok("ran")));
    let model = Canned::saying([
        canned::call("Own", "", AnswerStopReason::ToolUse),
        canned::text("I see.", AnswerStopReason::EndTurn),
    ]);
    let mut run = shop.start_with(Arc::new(model), "go", None).await;
    run.end().await;
    assert_eq!(run.results(), [("ran", false)]);
}

#[tokio::test]
async fn a_loop_that_does_not_end_is_stopped() {
    let mut shop = Workshop::unattended(
        r#"
        [[script]]
        prompt = 'loop'
        [[script.turn]]
        name = "again"
        call = { tool = "Glob", input = { pattern = "*" } }
        next = "again"
        [[script]]
        [[script.turn]]
        say = "Here I am."
        "#,
    );
    shop.config = RunnerConfig { max_turns: 3, ..shop.config };
    let mut run = shop.start("loop", None).await;
    let end = run.end().await;
    assert_eq!(code(&end), "too_many_turns");
    assert_eq!(shop.statuses(), [200; 3]);
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn the_cost_of_all_answers_adds_up() {
    let shop = Workshop::unattended(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Glob", input = { pattern = "*" } }
        usage = { input_tokens = 100, output_tokens = 7, cache_creation_input_tokens = 30 }
        [[script.turn]]
        say = "Done."
        usage = { input_tokens = 5, output_tokens = 2, cache_read_input_tokens = 130 }
        "#,
    );
    let mut run = shop.start("go", None).await;
    let usage = TokenUsage { input_tokens: 265, output_tokens: 9 };
    assert_eq!(run.end().await, Event::RunDone { usage, cost: None });
}

#[tokio::test]
async fn a_decision_of_a_person_reaches_the_model() {
    use countersign_core::{ApprovedBy, Decision};
    let shop = Workshop::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Write", input = { file_path = "a.txt", content = "x" } }
        [[script.turn]]
        expect = { result = '^User rejected: call it b.txt$', is_error = true }
        call = { tool = "Write", input = { file_path = "b.txt", content = "x" } }
        [[script.turn]]
        expect = { result = '^Wrote 1 characters to b.txt$', is_error = false }
        say = "Done."
        "#,
    );
    let mut run = shop.start("go", None).await;
    let id = run.until_asked().await;
    let feedback = Some("call it b.txt".into());
    let no = Decision::Reject { by: ApprovedBy::Person("ana".into()), feedback };
    shop.gate.decide(id, no, None).await.unwrap();
    let id = run.until_asked().await;
    shop.approve(id).await;
    assert_eq!(code(&run.end().await), "done");
    assert_eq!((shop.file("a.txt"), shop.file("b.txt")), (None, Some("x".into())));
}

#[tokio::test]
async fn a_request_that_nobody_decides_times_out_and_the_run_goes_on() {
    let shop = Workshop::playing(
        r#"
        [[script]]
        [[script.turn]]
        call = { tool = "Write", input = { file_path = "a.txt", content = "x" } }
        [[script.turn]]
        expect = { result = '^Approval timed out$', is_error = true }
        say = "Then not."
        "#,
    );
    let mut run = shop.start("go", None).await;
    let id = run.until_asked().await;
    shop.clock.advance(std::time::Duration::from_mins(5));
    assert_eq!(code(&run.end().await), "done");
    assert_eq!(
        (shop.approval(id).await.status(), shop.file("a.txt")),
        (ExecutionStatus::Timeout, None)
    );
}

/// A model that dies over every question.
struct Broken;

#[async_trait]
impl Model for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    async fn stream(&self, _: &ModelRequest) -> Result<ModelEventStream, ModelError> {
        panic!("it died")
    }
}

#[tokio::test]
async fn a_run_in_which_something_panics_ends_all_the_same() {
    let shop = Workshop::unattended("[[script]]\n[[script.turn]]\nsay = 'Here I am.'");
    let mut run = shop.start_with(Arc::new(Broken), "go", None).await;
    assert_eq!(code(&run.end().await), "broken");
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn a_run_that_nobody_drives_does_not_keep_its_conversation_busy() {
    let shop = Workshop::unattended("[[script]]\n[[script.turn]]\nsay = 'Here I am.'");
    let head = shop.gate.store().head(&project()).await.unwrap();
    let mut follow = shop.gate.follow(&project(), head).await.unwrap();
    let run = shop.begin(Arc::new(shop.model.clone()), "go", None).await;
    let session = run.session().clone();
    drop(run);
    loop {
        let seen = follow.next().await.unwrap().unwrap();
        if let Some(end @ Event::RunFailed { .. }) = event(&seen) {
            break assert_eq!(code(end), "cancelled");
        }
    }
    let mut run = shop.start("hello", Some(session)).await;
    assert_eq!(code(&run.end().await), "done");
}

/// A run that stops for this reason says so, keeps what was said, and can go on.
async fn check_stop(stop_reason: &str, code: &str, message: &str) {
    let shop = Workshop::unattended(&format!(
        "[[script]]\nprompt = 'stop'\n[[script.turn]]\nsay = 'So far'\n\
         stop_reason = '{stop_reason}'\n[[script]]\n[[script.turn]]\nsay = 'Here I am.'"
    ));
    let mut run = shop.start("stop", None).await;
    let Event::RunFailed { code: failed, message: said, hint } = run.end().await else { panic!() };
    assert_eq!((failed.as_str(), said.as_str()), (code, message));
    assert!(hint.is_some());
    assert_eq!(run.texts(), ["So far"]);
    goes_on(&shop, run).await;
}

/// The conversation takes another prompt, and the API takes the conversation.
async fn goes_on(shop: &Workshop, run: Running) {
    let mut next = shop.start("hello", Some(run.session)).await;
    assert_eq!(code(&next.end().await), "done");
    assert_eq!(next.texts(), ["Here I am."]);
    assert_eq!(
        shop.sent().last(),
        Some(&serde_json::to_value(ModelMessage::user("hello")).unwrap())
    );
}
