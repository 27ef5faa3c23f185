//! Interrupted at any point, a run leaves a conversation that the API accepts, and nothing runs on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_agent::{ApprovalCallback, ConsentSource, RetrySettings, RunnerConfig};
use countersign_core::{ApprovedBy, Decision, Event, ExecutionStatus, ToolOutput};
use countersign_gate::{DecideError, LiveEvent, LogFollowerItem};
use countersign_tools::{NeedsApproval, Write};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::workshop::{Own, Running, Workshop, code, event, never_answering, project};

/// Pauses before each piece: the clock is the only one who lets it go on.
const STREAMED: &str = r#"
pace_ms = 1000
chunk = 6
[[script]]
prompt = '^go$'
[[script.turn]]
think = "Two files."
say = "I'll write."
call = { tool = "Write", input = { file_path = "{{i}}.txt", content = "x" }, repeat = 2 }
[[script.turn]]
say = "Both are there."
[[script]]
[[script.turn]]
say = "Here I am."
pace_ms = 0
"#;

#[tokio::test]
async fn interrupted_after_any_piece_the_conversation_goes_on() {
    let mut pieces = 0;
    loop {
        let shop = Workshop::unattended(STREAMED);
        let mut run = shop.start("go", None).await;
        for _ in 0..pieces {
            shop.somebody_waits_or(&run).await;
            shop.clock.advance(Duration::from_secs(1));
        }
        shop.somebody_waits_or(&run).await;
        if run.driving.is_finished() {
            break;
        }
        run.interrupt().await;
        let files = shop.file("1.txt").is_some();
        let session = run.session.clone();
        goes_on(&shop, run).await;
        assert_eq!(shop.file("1.txt").is_some(), files, "nothing runs on, after {pieces} pieces");
        let messages = shop.messages(&session).await;
        assert_eq!(messages[0]["content"][0]["text"], "go", "after {pieces} pieces");
        pieces += 1;
    }
    assert!(pieces > 15, "it was only interrupted at {pieces} points");
}

#[tokio::test]
async fn text_is_kept_as_far_as_it_came() {
    let shop = Workshop::unattended(STREAMED);
    let mut run = shop.start("go", None).await;
    let first = until_text(&shop, &mut run).await;
    run.interrupt().await;
    assert_eq!((first.as_str(), run.texts()), ("I'll w", vec!["I'll w"]));
    goes_on(&shop, run).await;
    let said = shop.sent()[1]["content"].clone();
    assert_eq!(said[0]["type"], "thinking", "a whole thought is kept, as it came");
    assert_eq!(said[1]["text"], "I'll w");
}

#[tokio::test]
async fn a_call_whose_input_is_still_coming_is_forgotten() {
    let shop = Workshop::unattended(STREAMED);
    let mut run = shop.start("go", None).await;
    until_text(&shop, &mut run).await;
    // The rest of the text, the empty piece that begins the input, and some of it.
    for _ in 0..4 {
        shop.somebody_waits().await;
        shop.clock.advance(Duration::from_secs(1));
    }
    shop.somebody_waits().await;
    run.interrupt().await;
    assert_eq!((run.texts(), run.results()), (vec!["I'll write."], vec![]));
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn a_call_that_was_whole_when_the_answer_broke_off_is_answered_but_not_run() {
    let shop = Workshop::unattended(STREAMED);
    let mut run = shop.start("go", None).await;
    until_text(&shop, &mut run).await;
    // All of the first input, and the beginning of the second.
    for _ in 0..10 {
        shop.somebody_waits().await;
        shop.clock.advance(Duration::from_secs(1));
    }
    shop.somebody_waits().await;
    run.interrupt().await;
    assert_eq!(run.results(), [("Interrupted: this was not run.", true)]);
    assert_eq!(shop.file("1.txt"), None);
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn what_waits_for_a_decision_is_taken_back() {
    let shop = Workshop::playing(&call("Write", "file_path = 'a.txt', content = 'x'", 2));
    let mut run = shop.start("go", None).await;
    let first = run.until_asked().await;
    run.interrupt().await;
    let told = "Cancelled: the run was interrupted before this ran";
    assert_eq!(run.results(), [(told, true), (told, true)]);
    assert_eq!(shop.approval(first).await.status(), ExecutionStatus::Cancelled);
    // Late consent is no consent.
    let yes = Decision::Approve { by: ApprovedBy::Person("ana".into()) };
    let late = shop.gate.decide(first, yes, None).await;
    assert!(matches!(late, Err(DecideError::AlreadySettled(_))), "{late:?}");
    assert!(shop.gate.store().waiting_requests(&project(), None, 100).await.unwrap().is_empty());
    goes_on(&shop, run).await;
    assert_eq!(shop.file("a.txt"), None);
}

#[tokio::test]
async fn a_program_that_is_still_thinking_is_not_waited_for() {
    let (callback, mut asked) = never_answering();
    let mut shop = Workshop::playing(&call("Write", "file_path = 'a.txt', content = 'x'", 1));
    shop.consent = ConsentSource::Program(callback);
    let mut run = shop.start("go", None).await;
    let asking = asked.recv().await.unwrap();
    run.interrupt().await;
    asking.closed().await;
    goes_on(&shop, run).await;
    assert_eq!(shop.file("a.txt"), None);
}

#[tokio::test]
async fn a_tool_that_is_still_asked_whether_it_asks_is_not_waited_for() {
    let (tell, mut asked) = mpsc::unbounded_channel();
    let mut shop = Workshop::playing(&call("Write", "file_path = 'a.txt', content = 'x'", 1));
    let write = Write::new(shop.workspace());
    shop = shop.with_tool(write.with_needs_approval(NeedsApproval::when_async(move |_| {
        tell.send(()).unwrap();
        std::future::pending()
    })));
    shop.consent = ConsentSource::Program(ApprovalCallback::new(async |_| true));
    let mut run = shop.start("go", None).await;
    asked.recv().await.unwrap();
    run.interrupt().await;
    goes_on(&shop, run).await;
    assert_eq!(shop.file("a.txt"), None);
}

#[tokio::test]
async fn a_command_that_runs_is_ended() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!("command = 'exec 3<>/dev/tcp/127.0.0.1/{port}; read -u 3; touch a.txt'");
    let shop = Workshop::unattended(&call("Bash", &command, 1));
    let mut run = shop.start("go", None).await;
    let (mut line, _) = listener.accept().await.unwrap();
    run.interrupt().await;
    // The other end is closed by nothing but the death of the command.
    assert_eq!(line.read(&mut [0; 1]).await.unwrap(), 0);
    assert_eq!(run.results(), [("interrupted before it finished", true)]);
    goes_on(&shop, run).await;
    assert_eq!(shop.file("a.txt"), None);
}

#[tokio::test]
async fn what_has_not_started_does_not_start() {
    let (tell, mut started) = mpsc::unbounded_channel();
    let (released, ran) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (release, count) = (released.clone(), ran.clone());
    // Both change one file, so the second waits for the first, which does not listen.
    let own = Own::new(move |_: Value| {
        count.fetch_add(1, Ordering::SeqCst);
        tell.send(()).unwrap();
        let released = released.clone();
        async move {
            released.notified().await;
            ToolOutput::ok("finished all the same")
        }
    })
    .changing("a.txt");
    let shop = Workshop::unattended(&call("Own", "", 2)).with_tool(own);
    let mut run = shop.start("go", None).await;
    started.recv().await.unwrap();
    run.cancel.cancel();
    release.notify_one();
    run.interrupt().await;
    let told = "Cancelled: the run was interrupted before this ran";
    assert_eq!(run.results(), [("finished all the same", false), (told, true)]);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    goes_on(&shop, run).await;
}

#[tokio::test]
async fn what_is_just_let_through_does_not_start_either() {
    let cancel = CancellationToken::new();
    let (cancels, plans) = (cancel.clone(), AtomicUsize::new(0));
    // Planned once for its lane; the second time the gate is about to let it through.
    let own = Own::new(async |_| panic!("it ran")).planning(move || {
        if plans.fetch_add(1, Ordering::SeqCst) == 1 {
            cancels.cancel();
        }
    });
    let shop = Workshop::unattended(&call("Own", "", 1)).with_tool(own);
    let run = shop.begin(Arc::new(shop.model.clone()), "go", None).await;
    let session = run.session().clone();
    run.drive(cancel).await;
    let answer = shop.messages(&session).await.pop().unwrap();
    assert_eq!(answer["content"][0]["content"], "Interrupted: this was not run.");
    let mut next = shop.start("hello", Some(session)).await;
    assert_eq!(code(&next.end().await), "done");
}

#[tokio::test]
async fn a_yes_that_comes_with_the_interruption_runs_nothing() {
    let cancel = CancellationToken::new();
    let cancels = cancel.clone();
    let mut shop = Workshop::playing(&call("Write", "file_path = 'a.txt', content = 'x'", 1));
    shop.consent = ConsentSource::Program(ApprovalCallback::new(move |_| {
        cancels.cancel();
        std::future::ready(true)
    }));
    let run = shop.begin(Arc::new(shop.model.clone()), "go", None).await;
    run.drive(cancel).await;
    assert_eq!((shop.file("a.txt"), shop.statuses()), (None, vec![200]));
}

#[tokio::test]
async fn nobody_waits_out_a_retry() {
    let mut shop = Workshop::unattended(
        r#"
        chunk = 6
        [[script]]
        prompt = '^go$'
        [[script.turn]]
        say = "This was taken back."
        cut = { after_events = 6, times = 100 }
        [[script]]
        [[script.turn]]
        say = "Here I am."
        "#,
    );
    shop.config = RunnerConfig { retries: RetrySettings::default(), ..shop.config };
    let mut run = shop.start("go", None).await;
    run.until(|seen| matches!(seen, LogFollowerItem::Live(it) if is_retry(&it.news)).then_some(()))
        .await;
    run.interrupt().await;
    assert!(run.texts().is_empty(), "what was void stays void: {:?}", run.texts());
    goes_on(&shop, run).await;
    assert_eq!(shop.statuses(), [200, 200]);
}

#[tokio::test]
async fn a_run_that_was_interrupted_before_it_began_asks_nothing() {
    let shop = Workshop::unattended(STREAMED);
    let run = shop.begin(Arc::new(shop.model.clone()), "go", None).await;
    let session = run.session().clone();
    let cancel = CancellationToken::new();
    cancel.cancel();
    run.drive(cancel).await;
    assert!(shop.model.recorded().is_empty());
    let mut next = shop.start("hello", Some(session)).await;
    assert_eq!(code(&next.end().await), "done");
}

/// Returns a scenario that makes a call, many times over in one answer.
fn call(tool: &str, input: &str, repeat: u32) -> String {
    format!(
        "[[script]]\nprompt = '^go$'\n[[script.turn]]\nsay = \"I'll do it.\"\n\
         call = {{ tool = '{tool}', input = {{ {input} }}, repeat = {repeat} }}\n\
         [[script.turn]]\nsay = 'Done.'\n\
         [[script]]\n[[script.turn]]\nsay = 'Here I am.'"
    )
}

/// Lets the time pass until the first piece of text has come.
async fn until_text(shop: &Workshop, run: &mut Running) -> String {
    // "Two files." takes two pieces and a seal.
    for _ in 0..4 {
        shop.somebody_waits().await;
        shop.clock.advance(Duration::from_secs(1));
    }
    run.until(|seen| match seen {
        LogFollowerItem::Live(live) => match &live.news {
            LiveEvent::TextDelta(text) => Some(text.clone()),
            LiveEvent::Retry { .. } | LiveEvent::ToolOutput { .. } => None,
        },
        LogFollowerItem::Logged(_) => None,
    })
    .await
}

fn is_retry(news: &LiveEvent) -> bool {
    matches!(news, LiveEvent::Retry { .. })
}

/// The conversation takes another prompt, the API takes the conversation, and nothing else happens.
async fn goes_on(shop: &Workshop, run: Running) {
    let mut next = shop.start("hello", Some(run.session)).await;
    assert_eq!(code(&next.end().await), "done", "{:?}", next.events().last());
    assert_eq!(next.texts(), ["Here I am."]);
    let foreign = |seen: &&LogFollowerItem| match seen {
        LogFollowerItem::Logged(entry) => entry.run != Some(next.id),
        LogFollowerItem::Live(live) => live.run != Some(next.id),
    };
    let foreign: Vec<_> = next.seen.iter().filter(foreign).filter_map(event).collect();
    assert_eq!(foreign, Vec::<&Event>::new(), "the run that was interrupted goes on");
}
