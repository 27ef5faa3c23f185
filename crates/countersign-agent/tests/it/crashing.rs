//! A process that dies at every point of a run, one after the other, and the one after it again.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use countersign_agent::{AgentRun, RunSignals};
use countersign_core::{Event, ToolOutput};
use tokio::sync::oneshot;
use tokio::task::yield_now;

use crate::lives::Lives;
use crate::resuming::whole;
use crate::workshop::{Workshop, code, project};

const TALK: &str = r#"
[[script]]
[[script.turn]]
say = "Let me look, and do two things."
call = [
  { tool = "Read", input = { file_path = "notes.txt" } },
  { tool = "Own", input = { what = "one" } },
  { tool = "Own", input = { what = "two" } },
]
[[script.turn]]
say = "And a third."
call = { tool = "Own", input = { what = "three" } }
[[script.turn]]
say = "All done."
"#;

/// Dies after the first, the second, the third … step of its driver; then again a few steps later;
/// then it is let live. The tools themselves are the witness of what ran.
#[test]
fn at_whatever_point_it_dies_nothing_is_lost_and_nothing_runs_twice() {
    let mut told = BTreeSet::new();
    for steps in 0.. {
        let mut lives = Lives::playing(TALK).with_witness(|own| own, working);
        lives.shop.write("notes.txt", "a note");
        let died = lives.live(async |shop| {
            let run = shop.begin(Arc::new(shop.model.clone()), "go", None).await;
            dies_after(steps, shop, run).await
        });
        if !died {
            assert!(steps > 20, "it died at {steps} points only");
            break;
        }
        lives.live(async |shop| {
            if let Some(run) = left(shop).await {
                dies_after(steps * 7 % 23, shop, run).await;
            }
        });
        ends_well(&mut lives, steps, &mut told);
    }
    let interrupted = |told: &String| told.contains("Whether it took effect is unknown");
    assert!(told.iter().any(interrupted), "some died while a tool ran: {told:?}");
}

/// Goes on until the end, and looks at what became of it all.
fn ends_well(lives: &mut Lives, steps: usize, told: &mut BTreeSet<String>) {
    let results = lives.live(async |shop| {
        let Some(mut run) = shop.resume_left(Arc::new(shop.model.clone())).await else {
            // The second of them came to the end.
            return Vec::new();
        };
        let person = tokio::spawn(approves(shop.gate.clone()));
        assert_eq!(code(&run.end().await), "done", "after {steps} steps");
        person.abort();
        whole(shop, &run).await;
        let texts = ["Let me look, and do two things.", "And a third.", "All done."];
        assert_eq!(run.texts(), texts, "after {steps} steps");
        let first = run.events().position(|event| matches!(event, Event::RunResumed));
        assert!(first.is_some(), "after {steps} steps");
        run.results().iter().map(|(told, _)| (*told).to_owned()).collect()
    });
    let ran = lives.witness.saw();
    let once: BTreeSet<_> = ran.iter().collect();
    assert_eq!(ran.len(), once.len(), "after {steps} steps: {ran:?}");
    let did = results.iter().filter(|told| told.starts_with("did it")).count();
    assert!(did <= ran.len(), "after {steps} steps: {did} say so, {ran:?} ran");
    told.extend(results);
}

/// Takes a while, so that there is a middle to die in.
async fn working(_: usize) -> ToolOutput {
    for _ in 0..3 {
        yield_now().await;
    }
    ToolOutput::ok("did it")
}

async fn left(shop: &Workshop) -> Option<AgentRun> {
    shop.gate.recover().await.unwrap();
    let left = shop.gate.take_over_runs(&[project()]).await.unwrap().pop()?;
    Some(shop.runner(Arc::new(shop.model.clone())).resume(left).await.unwrap())
}

/// Drives a run for so many steps beside somebody who approves everything. Returns whether it was
/// not over by then: the caller dies.
async fn dies_after(steps: usize, shop: &Workshop, run: AgentRun) -> bool {
    let (dead, death) = oneshot::channel();
    let driving = Box::pin(run.drive(RunSignals::default()));
    let mortal = tokio::spawn(Mortal { driving, steps, dead: Some(dead) });
    tokio::spawn(approves(shop.gate.clone()));
    tokio::select! {
        biased;
        died = death => died.is_ok(),
        lived = mortal => { lived.unwrap(); false }
    }
}

/// Says yes to all that waits, for ever.
async fn approves(gate: countersign_gate::Gate) {
    loop {
        for asked in gate.store().waiting_requests(&project(), None, 100).await.unwrap() {
            let by = countersign_core::ApprovedBy::Person("ana".into());
            let yes = countersign_core::Decision::Approve { by };
            gate.decide(asked.id(), yes, None).await.unwrap();
        }
        yield_now().await;
    }
}

/// A driver that gets so many steps, and then not one more.
struct Mortal<F> {
    driving: Pin<Box<F>>,
    steps: usize,
    dead: Option<oneshot::Sender<()>>,
}

impl<F: Future<Output = ()>> Future for Mortal<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.steps == 0 {
            if let Some(dead) = self.dead.take() {
                dead.send(()).unwrap();
            }
            return Poll::Pending;
        }
        self.steps -= 1;
        self.driving.as_mut().poll(context)
    }
}
