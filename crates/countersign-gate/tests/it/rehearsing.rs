//! Rehearsals are shown with the request, told of, and bind a yes only where they were seen.

use std::sync::Arc;

use countersign_core::{
    ApprovedBy, CallPlan, CommandPreview, Decision, Digest, Effect, Execution, InvalidCall,
    Planner, Preview, RehearsalEnd, RehearsalResult, RehearsalState, ToolCall,
};
use countersign_gate::{CallTerms, DecideError, Event, Gate, LocalSubmission, StoredProject};

use crate::world::{World, attended, call};

#[tokio::test]
async fn each_step_is_told_of_and_what_was_found_is_there_after_a_restart() {
    let world = World::new().await;
    let asked = ask(&world).await;
    for rehearsal in [RehearsalState::Running, done("one")] {
        world.gate.show_rehearsal(asked.id(), rehearsal).await.unwrap();
    }
    // The same once more is nothing new.
    world.gate.show_rehearsal(asked.id(), done("one")).await.unwrap();
    let told = world.log().await;
    let told = told.iter().filter(|it| **it == Event::Rehearsed { approval: asked.id() }).count();
    assert_eq!(told, 2);
    let world = world.reopened().await;
    let stands = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(stands.kept_rehearsal(), Some(&Digest::for_bytes(b"one")));
    assert_eq!(*stands.digest(), stands.binding());
    assert_ne!(stands.digest(), asked.digest());
}

#[tokio::test]
async fn a_yes_means_what_was_seen() {
    let world = World::new().await;
    for is_seen in [true, false] {
        let asked = ask(&world).await;
        world.gate.show_rehearsal(asked.id(), done("one")).await.unwrap();
        let stands = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
        let seen = if is_seen { stands.digest().clone() } else { asked.digest().clone() };
        approve(&world.gate, &asked, seen).await.unwrap();
        let permit = world.gate.start(asked.id()).await.unwrap().unwrap();
        assert_eq!(permit.rehearsal().is_some(), is_seen);
        let shown = world
            .gate
            .store()
            .approval(asked.id())
            .await
            .unwrap()
            .unwrap()
            .preview()
            .cloned()
            .unwrap();
        assert_eq!(shown.rehearsal().is_some(), is_seen, "what was not seen is not kept either");
    }
    let asked = ask(&world).await;
    let other = approve(&world.gate, &asked, Digest::for_bytes(b"something else")).await;
    assert!(matches!(other, Err(DecideError::Drift(_))), "{other:?}");
}

#[tokio::test]
async fn what_is_settled_is_rehearsed_no_more() {
    let world = World::new().await;
    let asked = ask(&world).await;
    approve(&world.gate, &asked, asked.digest().clone()).await.unwrap();
    world.gate.show_rehearsal(asked.id(), done("one")).await.unwrap();
    let permit = world.gate.start(asked.id()).await.unwrap().unwrap();
    assert_eq!(permit.rehearsal(), None);
}

/// Of a decision and a rehearsal that come at the same moment, at two servers where there can be two,
/// whichever is first: no yes keeps what nobody has seen.
#[tokio::test(flavor = "multi_thread")]
async fn no_yes_keeps_a_rehearsal_that_came_after_the_look() {
    let world = World::new().await;
    let other = world.another().await.unwrap_or_else(|| world.gate.clone());
    for round in 0..40 {
        let asked = ask(&world).await;
        let (gate, at) = (other.clone(), asked.clone());
        let deciding = tokio::spawn(async move { approve(&gate, &at, at.digest().clone()).await });
        let found = done(&round.to_string());
        world.gate.show_rehearsal(asked.id(), found).await.unwrap();
        deciding.await.unwrap().unwrap();
        let permit = world.gate.start(asked.id()).await.unwrap().unwrap();
        assert_eq!(permit.rehearsal(), None, "round {round}");
    }
}

#[tokio::test]
async fn commands_are_rehearsed_where_the_project_has_chosen_it() {
    let world = World::new().await;
    let project = countersign_gate::Project::from_root("/ws");
    let now = world.gate.clock().now();
    world.gate.store().register_project(project.clone(), now).await.unwrap();
    assert!(!world.gate.is_rehearsal_enabled(&project.id).await.unwrap());
    let on = |it: &mut StoredProject| it.settings.rehearse = Some(true);
    world.gate.change_project(&project.id, "ana", on).await.unwrap();
    assert!(world.gate.is_rehearsal_enabled(&project.id).await.unwrap());
}

/// Plans a command.
struct Runs;

impl Planner for Runs {
    fn plan(&self, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        Ok(CallPlan::new(vec![Effect::Opaque { why: "a command".into() }], "run"))
    }

    fn preview(&self, _: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(Preview::Command(CommandPreview {
            canonical: None,
            command: "make".into(),
            cwd: "/ws".into(),
            description: None,
            timeout_ms: 1000,
            warnings: Vec::new(),
            parts: Vec::new(),
            rehearsal: None,
        }))
    }
}

async fn ask(world: &World) -> Execution {
    match world
        .gate
        .submit_local(call("Bash"), &CallTerms::new(Arc::new(Runs), attended()))
        .await
        .unwrap()
    {
        LocalSubmission::Waiting(approval) => *approval,
        other => panic!("expected a request, got {other:?}"),
    }
}

async fn approve(gate: &Gate, asked: &Execution, seen: Digest) -> Result<Execution, DecideError> {
    gate.decide(asked.id(), Decision::Approve { by: ApprovedBy::Person("ana".into()) }, Some(seen))
        .await
}

fn done(what: &str) -> RehearsalState {
    RehearsalState::Done(Box::new(RehearsalResult {
        end: RehearsalEnd::Exited { code: 0 },
        output: String::new(),
        files: Vec::new(),
        more_files: 0,
        folders: Vec::new(),
        took_ms: 1,
        runs_again: None,
        digest: Digest::for_bytes(what.as_bytes()),
    }))
}
