//! Runs whose calls a client runs: the model hears what the client says, whoever drives the run then.

use std::time::Duration;

use countersign_core::{
    Event, Execution, ExecutionReport, ExecutionStatus, Executor, ReportedOutcome, ToolOutput,
};
use serde_json::json;

use crate::lives::Lives;
use crate::resuming::whole;
use crate::workshop::{Own, Running, Workshop, code, event, project};

const TALK: &str = r#"
[[script]]
prompt = '^go$'
[[script.turn]]
call = [{ tool = "Own", input = { what = "one" }, id = "toolu_one" }]
[[script.turn]]
say = "It said: {{result}}"
"#;

#[test]
fn the_client_runs_it_and_the_model_hears_what_it_says() {
    let mut lives = reading();
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let lent = lent(shop, &mut run).await;
        report(shop, &lent, "from afar").await;
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.texts(), ["It said: from afar"]);
        whole(shop, &run).await;
    });
    assert!(lives.witness.saw().is_empty(), "nothing ran here");
}

#[test]
fn a_rejection_goes_back_to_the_model_which_goes_on() {
    let mut lives = elsewhere(|own| own);
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let asked = run.until_asked().await;
        let decision = countersign_core::Decision::Reject {
            by: countersign_core::ApprovedBy::Person("ana".into()),
            feedback: Some("not now".into()),
        };
        shop.gate.decide(asked, decision, None).await.unwrap();
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.texts(), ["It said: User rejected: not now"]);
    });
}

#[test]
fn a_run_whose_driver_died_waits_for_the_same_client() {
    let mut lives = reading();
    let lent = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        lent(shop, &mut run).await
    });
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        run.until(|seen| matches!(event(seen)?, Event::RunResumed).then_some(())).await;
        assert_eq!(shop.approval(lent.id()).await.status(), ExecutionStatus::Executing);
        report(shop, &lent, "late but there").await;
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.texts(), ["It said: late but there"]);
        let signals = run.events().filter(|it| matches!(it, Event::ExecutionSignal { .. }));
        assert_eq!(signals.count(), 1, "it is not lent again");
        whole(shop, &run).await;
    });
}

#[test]
fn what_the_client_said_while_nobody_drove_the_run_is_not_lost() {
    let mut lives = reading();
    let lent = lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        lent(shop, &mut run).await
    });
    lives.live(async |shop| report(shop, &lent, "meanwhile").await);
    lives.live(async |shop| {
        let mut run = shop.resume().await;
        assert_eq!(code(&run.end().await), "done");
        assert_eq!(run.texts(), ["It said: meanwhile"]);
        whole(shop, &run).await;
    });
}

#[test]
fn a_client_that_is_lost_is_told_to_the_model_which_goes_on() {
    let mut lives = reading();
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        lent(shop, &mut run).await;
        shop.clock.advance(Duration::from_secs(30));
        assert_eq!(code(&run.end().await), "done");
        let [text] = run.texts()[..] else { panic!("{:?}", run.texts()) };
        assert!(text.contains("The client that was to run this is gone"), "{text}");
    });
}

#[test]
fn stopping_the_run_gives_up_what_the_client_runs() {
    let mut lives = reading();
    lives.live(async |shop| {
        let mut run = shop.start("go", None).await;
        let lent = lent(shop, &mut run).await;
        run.interrupt().await;
        assert_eq!(shop.approval(lent.id()).await.status(), ExecutionStatus::Failed);
        let [(told, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
        assert!(told.contains("Whether it took effect is unknown"), "{told}");
    });
}

fn reading() -> Lives {
    elsewhere(|own| own.reading("/ws/a"))
}

fn elsewhere(fitted: fn(Own) -> Own) -> Lives {
    let mut lives =
        Lives::playing(TALK).with_witness(fitted, async |_| ToolOutput::ok("it ran here"));
    lives.shop.config.executor = Executor::Client;
    lives
}

/// Waits until a client could run the call, and lends it to one.
async fn lent(shop: &Workshop, run: &mut Running) -> Execution {
    run.until(|seen| match event(seen)? {
        Event::ToolState { status: ExecutionStatus::Approved, .. } => Some(()),
        _ => None,
    })
    .await;
    let client = countersign_gate::ExecutorCandidate {
        client: "c".to_owned(),
        is_named: true,
        shows_files: false,
    };
    let role = shop.gate.acquire_executor_lease(&project(), &client, || ()).await.unwrap();
    let lease = Duration::from_secs(30);
    assert_eq!(shop.gate.lend_all(&role, |_| lease).await.unwrap(), Some(1));
    shop.gate.store().lent_calls(&project(), "c").await.unwrap().remove(0)
}

async fn report(shop: &Workshop, lent: &Execution, out: &str) {
    let report = ExecutionReport::from_json(&json!({"success": true, "stdout": out})).unwrap();
    let token = lent.lease().map(|lease| lease.token.clone());
    shop.gate.report(lent.id(), token, ReportedOutcome::Done(report)).await.unwrap();
}
