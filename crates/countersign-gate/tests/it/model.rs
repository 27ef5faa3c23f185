//! The gate against a model: whatever happens in whatever order, both say the same.
//!
//! Steps come in pairs that happen at the same time, at two servers where the database has several;
//! the model allows what one order or the other would have given.

use std::time::Duration;

use countersign_core::{ApprovalId, ApprovedBy, Decision, ExecutionStatus, ToolOutput};
use countersign_gate::{DecideError, Gate};
use proptest::prelude::*;

use crate::database::ON_POSTGRES;
use crate::world::World;

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask,
    Approve(usize),
    Reject(usize),
    Cancel(usize),
    Start(usize),
    Finish(usize),
    /// Lets time pass: the deadline is at 60 seconds.
    Wait(u64),
    /// The process dies and comes back.
    Crash,
}

/// A call as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    status: ExecutionStatus,
    deadline: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    now: u64,
    calls: Vec<Call>,
}

impl Model {
    /// Takes a step; returns whether whoever took it was told that it holds.
    fn step(&mut self, step: Step) -> bool {
        let now = self.now;
        let at = match step {
            Step::Ask => {
                let status = ExecutionStatus::AwaitingApproval;
                self.calls.push(Call { status, deadline: now + 60 });
                return true;
            }
            Step::Wait(seconds) => {
                self.now += seconds;
                return true;
            }
            Step::Crash => return true,
            Step::Approve(at)
            | Step::Reject(at)
            | Step::Cancel(at)
            | Step::Start(at)
            | Step::Finish(at) => at,
        };
        let Some(call) = self.calls.get_mut(at) else { return false };
        call.expire(now);
        call.step(step)
    }

    fn expire(&mut self) {
        let now = self.now;
        self.calls.iter_mut().for_each(|call| call.expire(now));
    }
}

impl Call {
    fn expire(&mut self, now: u64) {
        if self.status == ExecutionStatus::AwaitingApproval && now >= self.deadline {
            self.status = ExecutionStatus::Timeout;
        }
    }

    fn step(&mut self, step: Step) -> bool {
        use ExecutionStatus::{
            Approved, AwaitingApproval, Cancelled, Completed, Executing, Rejected,
        };
        let (next, holds) = match (step, self.status) {
            (Step::Approve(_), AwaitingApproval | Approved) => (Approved, true),
            (Step::Reject(_), AwaitingApproval | Rejected) => (Rejected, true),
            (Step::Cancel(_), AwaitingApproval | Approved) => (Cancelled, true),
            (Step::Start(_), Approved) => (Executing, true),
            (Step::Finish(_), Executing) => (Completed, true),
            // Cancelling what cannot be cancelled is no error, nor is a yes to what went on.
            (Step::Cancel(_), stands) | (Step::Approve(_), stands @ (Executing | Completed)) => {
                (stands, true)
            }
            (_, stands) => (stands, false),
        };
        self.status = next;
        holds
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Ask),
        4 => (0..6_usize).prop_map(Step::Approve),
        3 => (0..6_usize).prop_map(Step::Reject),
        2 => (0..6_usize).prop_map(Step::Cancel),
        4 => (0..6_usize).prop_map(Step::Start),
        3 => (0..6_usize).prop_map(Step::Finish),
        2 => (1..40_u64).prop_map(Step::Wait),
        1 => Just(Step::Crash),
    ]
}

/// Takes a step for real; returns whether the gate said that it holds.
async fn take(gate: &Gate, ids: &[ApprovalId], step: Step) -> bool {
    let (Step::Approve(at)
    | Step::Reject(at)
    | Step::Cancel(at)
    | Step::Start(at)
    | Step::Finish(at)) = step
    else {
        return true;
    };
    let Some(&id) = ids.get(at) else { return false };
    let decided = |done: Result<_, DecideError>| match done {
        Ok(_) => true,
        Err(DecideError::AlreadySettled(_)) => false,
        Err(other) => panic!("{other:?}"),
    };
    let by = ApprovedBy::Person("ana".into());
    match step {
        Step::Approve(_) => decided(gate.decide(id, Decision::Approve { by }, None).await),
        Step::Reject(_) => {
            decided(gate.decide(id, Decision::Reject { by, feedback: None }, None).await)
        }
        Step::Cancel(_) => {
            gate.cancel(id).await.unwrap();
            true
        }
        Step::Start(_) => gate.start(id).await.unwrap().is_ok(),
        Step::Finish(_) => decided(gate.finish(id, Ok(ToolOutput::ok("done"))).await),
        Step::Ask | Step::Wait(_) | Step::Crash => true,
    }
}

/// Steps that two can take at the same time.
fn is_concurrent(step: Step) -> bool {
    !matches!(step, Step::Ask | Step::Wait(_) | Step::Crash)
}

async fn play(pairs: Vec<(Step, Step)>) {
    let mut world = World::new().await;
    let mut other = world.another().await;
    let (mut model, mut ids) = (Model::default(), Vec::new());
    for (left, right) in pairs {
        if is_concurrent(left) && is_concurrent(right) {
            let second = other.as_ref().unwrap_or(&world.gate);
            let told = tokio::join!(take(&world.gate, &ids, left), take(second, &ids, right));
            model = agreeing(&model, left, right, told, &world, &ids).await;
            continue;
        }
        for step in [left, right] {
            match step {
                Step::Ask => ids.push(world.ask("Bash").await.id()),
                Step::Wait(seconds) => world.clock.advance(Duration::from_secs(seconds)),
                Step::Crash => {
                    drop(other);
                    world = world.reopened().await;
                    other = world.another().await;
                }
                step => assert_eq!(take(&world.gate, &ids, step).await, model.clone().step(step)),
            }
            model.step(step);
            settle_due(&world, &mut model, &ids).await;
        }
    }
    at_the_end(&world, &mut model, &ids).await;
}

/// Returns the model after two steps at once: in the order that explains what was seen.
async fn agreeing(
    model: &Model,
    left: Step,
    right: Step,
    told: (bool, bool),
    world: &World,
    ids: &[ApprovalId],
) -> Model {
    let (mut one, mut two) = (model.clone(), model.clone());
    let (a, b) = (one.step(left), one.step(right));
    let (d, c) = (two.step(right), two.step(left));
    let stands = standing(world, ids).await;
    for (model, expected) in [(one, (a, b)), (two, (c, d))] {
        if told == expected && stands == model.calls.iter().map(|it| it.status).collect::<Vec<_>>()
        {
            return model;
        }
    }
    panic!("{left:?} and {right:?} at once told {told:?} and left {stands:?}, from {model:?}");
}

async fn standing(world: &World, ids: &[ApprovalId]) -> Vec<ExecutionStatus> {
    let mut standing = Vec::new();
    for id in ids {
        standing.push(world.gate.store().approval(*id).await.unwrap().unwrap().status());
    }
    standing
}

/// Waits until what is due is settled: what else could become of it is not for the model to say.
async fn settle_due(world: &World, model: &mut Model, ids: &[ApprovalId]) {
    model.expire();
    for (id, call) in ids.iter().zip(&model.calls) {
        if call.status == ExecutionStatus::Timeout {
            assert_eq!(
                world.gate.wait_for_decision(*id).await.unwrap().status(),
                ExecutionStatus::Timeout
            );
        }
    }
}

async fn at_the_end(world: &World, model: &mut Model, ids: &[ApprovalId]) {
    let expected: Vec<_> = model.calls.iter().map(|call| call.status).collect();
    assert_eq!(standing(world, ids).await, expected);
    let awaiting = expected.iter().filter(|it| **it == ExecutionStatus::AwaitingApproval).count();
    let waiting = world.gate.store().waiting_requests(&"p".into(), None, 100).await.unwrap();
    assert_eq!(waiting.len(), awaiting);
    assert_eq!(world.gate.store().pending_count(&"p".into()).await.unwrap(), awaiting as u64);
    // Numbered without gaps, and every change in the audit.
    world.log().await;
    assert_eq!(world.gate.store().verify_audit().await.unwrap().broken, None);
}

proptest! {
    // A case on PostgreSQL makes a database of its own, which takes longer than all else in it.
    #![proptest_config(ProptestConfig { cases: if ON_POSTGRES { 12 } else { 48 }, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_in_whatever_order_gate_and_model_agree(
        pairs in prop::collection::vec((any_step(), any_step()), 1..24),
    ) {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        runtime.worker_threads(2).enable_all().build().unwrap().block_on(play(pairs));
    }
}
