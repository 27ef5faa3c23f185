//! Secrets: kept in clear for as long as something needs them, and nowhere once nothing does.

use std::time::Duration;

use countersign_core::{ApprovedBy, Decision, ExecutionStatus, RunId, ToolCall, ToolOutput};
use countersign_gate::{CallTerms, LocalSubmission, NewRun, NewRunMessage, RunEnd};
use serde_json::{Value, json};

use crate::world::{World, attended, call, new_run, writes};

const TOKEN: &str = "ghp_0123456789abcdefghijNEW1";

/// A secret by its name alone: nothing in its look gives it away.
const KEY: &str = "blue-Horse7";

fn deploy(run: Option<RunId>) -> ToolCall {
    let input = json!({
        "command": format!("TOKEN={TOKEN} ./deploy --with '{KEY}'"),
        "env": {"DB_PASSWORD": KEY},
    });
    ToolCall { input, run, ..call("Bash") }
}

impl World {
    async fn ask_to(&self, call: ToolCall) -> countersign_core::Execution {
        match self.gate.submit_local(call, &CallTerms::new(writes(), attended())).await.unwrap() {
            LocalSubmission::Waiting(approval) => *approval,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    fn assert_holds(&self, held: bool, when: &str) {
        for secret in [TOKEN, KEY] {
            let found = self.database.holds(secret);
            assert_eq!(found, held, "{when}: {secret} in {}", self.database.dump());
        }
    }

    async fn assert_sound(&self) {
        let report = self.gate.store().verify_audit().await.unwrap();
        assert_eq!(report.broken, None);
    }
}

#[tokio::test]
async fn a_call_that_ran_leaves_no_secret_in_any_column_or_file() {
    let world = World::new().await;
    let asked = world.ask_to(deploy(None)).await;
    let read = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(read.call().input, deploy(None).input, "what waits is whole");
    let world = world.reopened().await;
    world.assert_holds(true, "what waits needs it");
    let by = ApprovedBy::person("ana", Some(format!("go, with {TOKEN}")));
    world.gate.decide(asked.id(), Decision::Approve { by }, None).await.unwrap();
    let permit = world.gate.start(asked.id()).await.unwrap().unwrap();
    assert_eq!(permit.call().input, deploy(None).input, "what runs is what was asked for");
    let output = ToolOutput::ok(format!("deployed by {TOKEN}, {KEY}\n{}", "x".repeat(5000)));
    let finished = world.gate.finish(asked.id(), Ok(output.clone())).await.unwrap();
    assert_eq!(finished.to_tool_output(), Some(output), "whoever ran it has its answer");
    world.assert_holds(false, "settled");
    let kept = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(
        kept.call().input,
        json!({"command": "TOKEN=*** ./deploy --with '***'", "env": {"DB_PASSWORD": "***"}})
    );
    assert_eq!((kept.status(), kept.digest()), (ExecutionStatus::Completed, asked.digest()));
    world.assert_sound().await;
}

#[tokio::test]
async fn however_a_call_is_settled_its_secrets_go_with_that() {
    let world = World::new().await;
    let rejected = world.ask_to(deploy(None)).await;
    world.reject(rejected.id(), &format!("not with {TOKEN}")).await.unwrap();
    world.assert_holds(false, "rejected");
    let cancelled = world.ask_to(deploy(None)).await;
    world.gate.cancel(cancelled.id()).await.unwrap();
    world.assert_holds(false, "cancelled");
    let expired = world.ask_to(deploy(None)).await;
    world.clock.advance(Duration::from_mins(2));
    assert_eq!(
        world.gate.wait_for_decision(expired.id()).await.unwrap().status(),
        ExecutionStatus::Timeout
    );
    world.assert_holds(false, "timed out");
    let invalid = std::sync::Arc::new(crate::world::Fake::Invalid);
    let refused =
        world.gate.submit_local(deploy(None), &CallTerms::new(invalid, attended())).await.unwrap();
    assert!(matches!(refused, LocalSubmission::Refused(_)), "{refused:?}");
    world.assert_holds(false, "refused");
    world.assert_sound().await;
}

#[tokio::test]
async fn a_run_knows_its_secrets_until_it_is_over_and_nobody_does_after() {
    let world = World::new().await;
    let prompt = json!({"role": "user", "content": format!("use {TOKEN}")});
    let title = format!("use {TOKEN}");
    let run = NewRun { message: prompt.clone(), title, ..new_run("s") };
    let journal = world.gate.begin_run(run).await.unwrap().unwrap();
    let call = deploy(Some(journal.run()));
    let said = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": call.input.clone()},
    ]});
    journal.record(vec![said.clone().into()], Vec::new()).await.unwrap();
    let asked = world.ask_to(call).await;
    world.approve(asked.id(), "ana").await.unwrap();
    world.gate.start(asked.id()).await.unwrap().unwrap();
    let output = ToolOutput::ok(format!("used {TOKEN}, {KEY}"));
    world.gate.finish(asked.id(), Ok(output.clone())).await.unwrap();
    let world = world.reopened().await;
    let stands = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(
        stands.to_tool_output(),
        Some(output),
        "who goes on with the run can still tell the model"
    );
    let left = world.gate.take_over_runs(&["p".into()]).await.unwrap();
    let journal = world.gate.resume_run(&left[0]).await.unwrap().unwrap();
    let told = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": format!("used {TOKEN}, {KEY}")},
    ]});
    let told_message = NewRunMessage { body: told.clone(), outcome: None };
    journal.record(vec![told_message], Vec::new()).await.unwrap();
    let stands = world.gate.store().approval(asked.id()).await.unwrap().unwrap();
    assert_eq!(
        stands.to_tool_output(),
        Some(ToolOutput::ok("used ***, ***")),
        "the model has been told"
    );
    assert_eq!(messages(&world).await, [prompt, said, told], "as it was said");
    world.assert_holds(true, "the run goes on");
    journal.end(RunEnd::Done, Vec::new(), Vec::new()).await.unwrap();
    world.assert_holds(false, "the run is over");
    let gone = "[secret_removed]";
    assert_eq!(
        messages(&world).await,
        [
            json!({"role": "user", "content": format!("use {gone}")}),
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {
                    "command": format!("TOKEN={gone} ./deploy --with '{gone}'"),
                    "env": {"DB_PASSWORD": gone},
                }},
            ]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": format!("used {gone}, {gone}")},
            ]}),
        ]
    );
    world.assert_sound().await;
}

async fn messages(world: &World) -> Vec<Value> {
    world.gate.store().messages(&"p".into(), &"s".into()).await.unwrap()
}

#[tokio::test]
async fn a_masked_call_is_never_taken_for_one_that_can_run() {
    let world = World::new().await;
    let asked = world.ask_to(deploy(None)).await;
    let world = world.reopened().await;
    world.database.sql("DELETE FROM clear_calls");
    let lost = world.gate.store().approval(asked.id()).await.unwrap_err();
    assert!(lost.to_string().contains("request"), "{lost}");
    assert!(world.approve(asked.id(), "ana").await.is_err());
}
