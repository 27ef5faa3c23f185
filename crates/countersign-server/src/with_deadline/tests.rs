//! What a caller hears when a change takes too long.

use std::future::pending;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use countersign_core::{Executor, SessionId};
use countersign_gate::{Project, StoreError, new_id};

use super::*;

const SOON: Duration = Duration::from_millis(50);

/// A planner that comes to no end before it is told to.
struct StuckPlanner(Mutex<Receiver<()>>);

impl Planner for StuckPlanner {
    fn plan(&self, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let _ = self.0.lock().unwrap().recv();
        Err(InvalidCall("given up".to_owned()))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        self.plan(call).and(Err(InvalidCall(String::new())))
    }
}

#[tokio::test]
async fn a_call_that_takes_long_to_judge_is_not_blamed_on_the_database() {
    let (go_on, until) = channel();
    let planner = Arc::new(StuckPlanner(Mutex::new(until)));
    let judged = judge_within(SOON, planner, |planner| async move {
        let _ = tokio::task::spawn_blocking(move || planner.plan(&call())).await;
        Ok::<_, StoreError>(())
    });
    assert_eq!(judged.await.unwrap_err().code, "judging");
    drop(go_on);
}

#[tokio::test]
async fn a_silent_database_is_named_after_the_call_was_judged() {
    let (_, until) = channel();
    let planner = Arc::new(StuckPlanner(Mutex::new(until)));
    let judged = judge_within(SOON, planner, |planner| async move {
        let _ = planner.plan(&call());
        pending::<Result<(), StoreError>>().await
    });
    assert_eq!(judged.await.unwrap_err().code, "store");
}

fn call() -> ToolCall {
    ToolCall {
        id: new_id(),
        project: Project::from_root("/ws").id,
        session: SessionId::from("s"),
        run: None,
        tool_use_id: "t".to_owned().into(),
        tool_name: "Bash".to_owned(),
        input: serde_json::json!({}),
        cwd: "/ws".into(),
        executor: Executor::Caller,
        agent: None,
    }
}
