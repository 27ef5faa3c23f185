//! Calls that others run: who gets them, for how long, and whose word counts.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ApprovalId, Execution, ExecutionReport, ExecutionState, ExecutionStatus, Executor,
    ReportRejection, ReportedOutcome, ToolCall, ToolOutput,
};
use countersign_gate::{
    CallTerms, Event, ExecutorCandidate, ExecutorLease, Gate, RemoteSubmission, ReportError,
};
use serde_json::json;

use crate::world::{Fake, World, attended, call, new_run, writes};

const LEASE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn what_is_allowed_waits_for_the_client_which_gets_it_once() {
    let world = World::new().await;
    let approved = world.allowed(Executor::Client).await;
    assert_eq!(approved.status(), ExecutionStatus::Approved);
    let role = world.role("c1").await;
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(1));
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(0));
    let lent = world.stands(approved.id()).await;
    let lease = lent.lease().unwrap();
    assert_eq!(lease.holder, "c1");
    let runs = world.gate.store().lent_calls(&"p".into(), "c1").await.unwrap();
    assert_eq!(runs, std::slice::from_ref(&lent));
    let told = world.report(&lent, Some("ok")).await.unwrap();
    assert_eq!(told.to_tool_output(), Some(ToolOutput::ok("ok")));
    assert_eq!(
        world.told().await,
        ["state APPROVED", "state EXECUTING", "signal c1", "received", "state COMPLETED", "result"]
    );
}

#[tokio::test]
async fn of_two_clients_the_first_has_the_role_until_it_goes() {
    let world = World::new().await;
    let first = world.role("c1").await;
    let waiting = {
        let gate = world.gate.clone();
        tokio::spawn(async move {
            gate.acquire_executor_lease(&"p".into(), &named("c2"), || ()).await.unwrap()
        })
    };
    let approved = world.allowed(Executor::Client).await;
    assert_eq!(world.gate.lend_all(&first, |_| LEASE).await.unwrap(), Some(1));
    assert_eq!(world.stands(approved.id()).await.lease().unwrap().holder, "c1");
    assert_eq!(
        world.gate.store().connected_client(&"p".into()).await.unwrap().as_deref(),
        Some("c1")
    );
    drop(first);
    let second = waiting.await.unwrap();
    assert_eq!(second.client(), "c2");
    let next = world.allowed(Executor::Client).await;
    assert_eq!(world.gate.lend_all(&second, |_| LEASE).await.unwrap(), Some(1));
    assert_eq!(world.stands(next.id()).await.lease().unwrap().holder, "c2");
}

#[tokio::test]
async fn at_another_server_nobody_has_the_role_while_it_is_held() {
    let world = World::new().await;
    let Some(other) = world.another().await else { return };
    let first = world.role("c1").await;
    let elsewhere = other.clone();
    let waiting = tokio::spawn(async move {
        elsewhere.acquire_executor_lease(&"p".into(), &named("c2"), || ()).await.unwrap()
    });
    let approved = world.allowed(Executor::Client).await;
    assert_eq!(world.gate.lend_all(&first, |_| LEASE).await.unwrap(), Some(1));
    assert_eq!(world.stands(approved.id()).await.lease().unwrap().holder, "c1");
    drop(first);
    while !waiting.is_finished() {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    let second = waiting.await.unwrap();
    let next = world.allowed(Executor::Client).await;
    assert_eq!(other.lend_all(&second, |_| LEASE).await.unwrap(), Some(1));
    assert_eq!(world.stands(next.id()).await.lease().unwrap().holder, "c2");
}

#[tokio::test]
async fn a_client_with_a_name_takes_the_role_of_one_without_also_at_another_server() {
    let world = World::new().await;
    let unnamed = ExecutorCandidate { is_named: false, ..named("connection:1") };
    let gate = &world.gate;
    let first = gate.acquire_executor_lease(&"p".into(), &unnamed, || ()).await.unwrap();
    let other = world.another().await.unwrap_or_else(|| gate.clone());
    let named = tokio::spawn(async move {
        other.acquire_executor_lease(&"p".into(), &named("c2"), || ()).await.unwrap()
    });
    let over = tokio::spawn(async move { first.wait_until_lost().await });
    while !(named.is_finished() && over.is_finished()) {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    let second = named.await.unwrap();
    assert_eq!(gate.store().connected_client(&"p".into()).await.unwrap().as_deref(), Some("c2"));
    let (stands_by, told) = tokio::sync::oneshot::channel();
    let stands_by = std::sync::Mutex::new(Some(stands_by));
    let again = {
        let gate = gate.clone();
        tokio::spawn(async move {
            let tell = || {
                if let Some(stands_by) = stands_by.lock().unwrap().take() {
                    let _ = stands_by.send(());
                }
            };
            gate.acquire_executor_lease(&"p".into(), &unnamed, tell).await.unwrap()
        })
    };
    told.await.unwrap();
    assert!(!again.is_finished(), "it stands by");
    drop(second);
    while !again.is_finished() {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    assert_eq!(again.await.unwrap().client(), "connection:1");
}

#[tokio::test]
async fn a_server_that_died_holds_no_role() {
    let world = World::new().await;
    let role = world.role("c1").await;
    // Dropped outside of the runtime, as in a process that ends: its row stays.
    std::thread::spawn(move || drop(role)).join().unwrap();
    let world = world.reopened().await;
    let role = world.role("c2").await;
    let approved = world.allowed(Executor::Client).await;
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(1));
    assert_eq!(world.stands(approved.id()).await.lease().unwrap().holder, "c2");
}

#[tokio::test]
async fn who_is_silent_is_lost_and_its_result_comes_too_late() {
    let world = World::new().await;
    let lent = world.lent().await;
    world.clock.advance(Duration::from_secs(20));
    let token = lent.lease().unwrap().token.clone();
    world.gate.renew(lent.id(), &token, LEASE).await.unwrap();
    world.clock.advance(Duration::from_secs(29));
    assert_eq!(world.stands(lent.id()).await.status(), ExecutionStatus::Executing);
    let settled = world.settling(lent.id());
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(kind_of(&settled.await.unwrap()), "client_lost");
    let late = world.report(&lent, Some("ok")).await.unwrap_err();
    assert!(matches!(late, ReportError::NotTaken(ReportRejection::Settled(_))), "{late:?}");
    assert!(world.gate.renew(lent.id(), &token, LEASE).await.is_err());
    assert_eq!(world.told().await.pop().unwrap(), "refused");
    let audit = world.gate.store().verify_audit().await.unwrap();
    assert_eq!(audit.broken, None);
    let rows = world.gate.store().audit_rows(None, None, 100).await.unwrap();
    assert!(rows.last().unwrap().body.contains("result_refused"));
}

#[tokio::test]
async fn the_word_of_a_stranger_counts_for_nothing() {
    let world = World::new().await;
    let lent = world.lent().await;
    let foreign = world.gate.report(lent.id(), Some("x".into()), done("bad")).await.unwrap_err();
    assert!(matches!(foreign, ReportError::NotTaken(ReportRejection::Foreign(_))), "{foreign:?}");
    assert!(world.gate.renew(lent.id(), "x", LEASE).await.is_err());
    world.report(&lent, Some("good")).await.unwrap();
    assert_eq!(world.stands(lent.id()).await.to_tool_output(), Some(ToolOutput::ok("good")));
}

#[tokio::test]
async fn the_same_result_again_is_fine_and_another_is_not() {
    let world = World::new().await;
    let lent = world.lent().await;
    let first = world.report(&lent, Some("ok")).await.unwrap();
    let again = world.report(&lent, Some("ok")).await.unwrap();
    // Its secrets have gone meanwhile.
    assert_eq!((again.id(), &again.state()), (first.id(), &first.state()));
    assert!(world.report(&lent, Some("other")).await.is_err());
    assert!(world.report(&lent, None).await.is_err());
    assert_eq!(world.stands(lent.id()).await.state(), first.state());
}

#[tokio::test]
async fn of_two_results_at_once_one_stands() {
    let world = World::new().await;
    for _ in 0..8 {
        let lent = world.lent().await;
        let (a, b) = tokio::join!(world.report(&lent, Some("a")), world.report(&lent, Some("b")));
        assert_ne!(a.is_ok(), b.is_ok());
        let stands = a.or(b).unwrap();
        assert_eq!(world.stands(lent.id()).await.state(), stands.state());
    }
}

#[tokio::test]
async fn what_nobody_comes_for_is_told_to_whoever_waits() {
    let world = World::new().await;
    let approved = world.allowed(Executor::Client).await;
    let settled = world.settling(approved.id());
    world.clock.advance(Duration::from_mins(5));
    assert_eq!(kind_of(&settled.await.unwrap()), "no_client");
    let role = world.role("c1").await;
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(0));
}

#[tokio::test]
async fn a_person_decides_before_a_client_gets_it() {
    let world = World::new().await;
    let role = world.role("c1").await;
    let asked = world.asked(Executor::Client).await;
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(0));
    world.approve(asked.id(), "ana").await.unwrap();
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(1));
    let rejected = world.asked(Executor::Client).await;
    world.reject(rejected.id(), "no").await.unwrap();
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(0));
    let stands = world.gate.wait_until_settled(rejected.id()).await.unwrap();
    assert_eq!(stands.to_tool_output(), Some(ToolOutput::error("User rejected: no")));
}

#[tokio::test]
async fn a_caller_gets_the_same_call_for_the_same_id() {
    let world = World::new().await;
    let made = |input: &str| ToolCall {
        input: json!({ "file_path": input }),
        executor: Executor::Caller,
        ..call("Read")
    };
    let terms = CallTerms::new(Arc::new(Fake::Reads), attended());
    let submit = |call| world.gate.submit_remote(call, &terms);
    let (a, b) = tokio::join!(submit(made("a")), submit(made("a")));
    let (new, known) = match (a.unwrap(), b.unwrap()) {
        (RemoteSubmission::Approved(new), RemoteSubmission::Existing(known))
        | (RemoteSubmission::Existing(known), RemoteSubmission::Approved(new)) => (new, known),
        other => panic!("{other:?}"),
    };
    assert_eq!(new, known);
    let other = ToolCall { session: "other".into(), ..made("a") };
    assert!(matches!(submit(other).await.unwrap(), RemoteSubmission::Approved(_)));
    let RemoteSubmission::Existing(stands) = submit(made("b")).await.unwrap() else {
        panic!("it is new")
    };
    assert_eq!(stands.call().input, json!({"file_path": "a"}));
}

#[tokio::test]
async fn a_caller_reports_with_or_without_a_lease_and_nobody_else_gets_one() {
    let world = World::new().await;
    let plain = world.allowed(Executor::Caller).await;
    let told = world.gate.report(plain.id(), None, done("ok")).await.unwrap();
    assert_eq!(told.status(), ExecutionStatus::Completed);
    let leased = world.allowed_as("toolu_2", Executor::Caller).await;
    let lend = || world.gate.lend(leased.id(), "script", LEASE);
    let (a, b) = tokio::join!(lend(), lend());
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_ne!(a.is_ok(), b.is_ok());
    let role = world.role("c1").await;
    assert_eq!(world.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(0));
    let of_client = world.allowed(Executor::Client).await;
    assert!(world.gate.lend(of_client.id(), "script", LEASE).await.unwrap().is_err());
}

#[tokio::test]
async fn whoever_waits_for_another_state_is_woken() {
    let world = World::new().await;
    let asked = world.asked(Executor::Caller).await;
    let (gate, id) = (world.gate.clone(), asked.id());
    let changed = tokio::spawn(async move {
        gate.wait_for_change(id, ExecutionStatus::AwaitingApproval).await.unwrap()
    });
    world.approve(asked.id(), "ana").await.unwrap();
    assert_eq!(changed.await.unwrap().status(), ExecutionStatus::Approved);
}

#[tokio::test]
async fn a_restart_leaves_what_a_client_runs_to_the_client() {
    let world = World::new().await;
    let lent = world.lent().await;
    let world = world.reopened().await;
    world.gate.recover().await.unwrap();
    assert_eq!(world.stands(lent.id()).await.status(), ExecutionStatus::Executing);
    let told = world.report(&lent, Some("ok")).await.unwrap();
    assert_eq!(told.to_tool_output(), Some(ToolOutput::ok("ok")));
}

#[tokio::test]
async fn a_stopped_run_gives_up_what_a_client_runs() {
    let world = World::new().await;
    let run = new_run("s");
    let id = run.id;
    world.gate.begin_run(run).await.unwrap().unwrap();
    let made = ToolCall { run: Some(id), executor: Executor::Client, ..call("Read") };
    let RemoteSubmission::Approved(approved) = world
        .gate
        .submit_remote(made, &CallTerms::new(Arc::new(Fake::Reads), attended()))
        .await
        .unwrap()
    else {
        panic!("not approved")
    };
    let role = world.role("c1").await;
    world.gate.lend_all(&role, |_| LEASE).await.unwrap();
    world.gate.cancel_run(id).await.unwrap();
    assert_eq!(kind_of(&world.stands(approved.id()).await), "interrupted");
}

impl World {
    async fn allowed(&self, executor: Executor) -> Execution {
        self.allowed_as("toolu_1", executor).await
    }

    async fn allowed_as(&self, tool_use: &str, executor: Executor) -> Execution {
        let made = ToolCall { executor, tool_use_id: tool_use.into(), ..call("Read") };
        match self
            .gate
            .submit_remote(made, &CallTerms::new(Arc::new(Fake::Reads), attended()))
            .await
            .unwrap()
        {
            RemoteSubmission::Approved(approved) => *approved,
            other => panic!("expected leave, got {other:?}"),
        }
    }

    async fn asked(&self, executor: Executor) -> Execution {
        let made = ToolCall { executor, ..call("Write") };
        match self.gate.submit_remote(made, &CallTerms::new(writes(), attended())).await.unwrap() {
            RemoteSubmission::Waiting(asked) => *asked,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    async fn role(&self, client: &str) -> ExecutorLease {
        self.gate.acquire_executor_lease(&"p".into(), &named(client), || ()).await.unwrap()
    }

    /// A call that a client has, which has gone since.
    async fn lent(&self) -> Execution {
        let approved = self.allowed(Executor::Client).await;
        let role = self.role("c1").await;
        assert_eq!(self.gate.lend_all(&role, |_| LEASE).await.unwrap(), Some(1));
        self.stands(approved.id()).await
    }

    async fn stands(&self, id: ApprovalId) -> Execution {
        self.gate.store().approval(id).await.unwrap().unwrap()
    }

    async fn report(&self, lent: &Execution, out: Option<&str>) -> Result<Execution, ReportError> {
        let token = lent.lease().map(|lease| lease.token.clone());
        let reported = out.map_or_else(|| ReportedOutcome::Failed("no".into()), done);
        self.gate.report(lent.id(), token, reported).await
    }

    fn settling(&self, id: ApprovalId) -> tokio::task::JoinHandle<Execution> {
        let gate: Gate = self.gate.clone();
        tokio::spawn(async move { gate.wait_until_settled(id).await.unwrap() })
    }

    async fn told(&self) -> Vec<String> {
        let told = self.log().await.into_iter().map(|event| match event {
            Event::ToolState { status, .. } => format!("state {status}"),
            Event::ExecutionSignal { holder, .. } => format!("signal {holder}"),
            Event::ResultReceived { .. } => "received".into(),
            Event::ResultRefused { .. } => "refused".into(),
            Event::ToolResult { .. } => "result".into(),
            other => format!("{other:?}"),
        });
        told.collect()
    }
}

fn done(out: &str) -> ReportedOutcome {
    ReportedOutcome::Done(
        ExecutionReport::from_json(&json!({"success": true, "stdout": out, "exit_code": 0}))
            .unwrap(),
    )
}

#[track_caller]
fn kind_of(approval: &Execution) -> &str {
    match &approval.state() {
        ExecutionState::Failed { failure, .. } => failure.kind.as_str(),
        other => panic!("{other:?}"),
    }
}

fn named(client: &str) -> ExecutorCandidate {
    let client = client.to_owned();
    ExecutorCandidate { client, is_named: true, shows_files: false }
}
