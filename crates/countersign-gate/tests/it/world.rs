//! A gate on a real file, a clock moved by hand, and a planner that says what it is told to.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    ApprovalId, ApprovedBy, CallPlan, Decision, Effect, EffectTarget, Execution, InvalidCall,
    PathClass, Permit, Planner, Preview, RunId, ToolCall, WorkspaceSide,
};
use countersign_gate::{
    Admission, CallEntry, CallTerms, DecideError, DecisionTimeouts, Event, Gate, GateSettings,
    LocalSubmission, ManualClock, NewRun, PermitCollector, Rulebook, SubmitOptions, new_id,
};
use jiff::Timestamp;
use serde_json::json;

use crate::database::{Database, ON_POSTGRES};

pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) database: Database,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::on(Database::new()).await
    }

    /// A server on a database that may have something in it.
    pub(crate) async fn on(database: Database) -> Self {
        let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
        let gate = open(&database, &clock).await;
        Self { gate, clock, database }
    }

    /// The same database after the process died.
    pub(crate) async fn reopened(self) -> Self {
        let Self { gate, clock, database } = self;
        drop(gate);
        let gate = open(&database, &clock).await;
        Self { gate, clock, database }
    }

    /// Another server on the same database, where it can have several.
    pub(crate) async fn another(&self) -> Option<Gate> {
        if !ON_POSTGRES {
            return None;
        }
        let settings = GateSettings::for_database(self.database.url.clone());
        let book = Arc::new(Rulebook::none());
        let gate = Gate::open(settings, self.clock.clone(), book).await.unwrap();
        gate.join().await.unwrap();
        Some(gate)
    }

    pub(crate) async fn with_pending(tool: &str) -> (Self, ApprovalId) {
        let world = Self::new().await;
        let asked = world.ask(tool).await;
        (world, asked.id())
    }

    pub(crate) async fn ask(&self, tool: &str) -> Execution {
        match self
            .gate
            .submit_local(call(tool), &CallTerms::new(writes(), attended()))
            .await
            .unwrap()
        {
            LocalSubmission::Waiting(approval) => *approval,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    pub(crate) async fn approve(&self, id: ApprovalId, by: &str) -> Result<Execution, DecideError> {
        self.gate.decide(id, Decision::Approve { by: ApprovedBy::Person(by.into()) }, None).await
    }

    pub(crate) async fn reject(&self, id: ApprovalId, why: &str) -> Result<Execution, DecideError> {
        let decision =
            Decision::Reject { by: ApprovedBy::Person("bo".into()), feedback: Some(why.into()) };
        self.gate.decide(id, decision, None).await
    }

    pub(crate) fn passing(&self, tool: &str) -> tokio::task::JoinHandle<Admission<Permit>> {
        let (gate, call) = (self.gate.clone(), call(tool));
        tokio::spawn(async move { admit(&gate, call, writes()).await })
    }

    pub(crate) async fn first_waiting(&self) -> Execution {
        loop {
            if let Some(first) =
                self.gate.store().waiting_requests(&"p".into(), None, 100).await.unwrap().pop()
            {
                return first;
            }
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn log(&self) -> Vec<Event> {
        let store = self.gate.store();
        let entries = store.entries(&"p".into(), 0, u64::MAX, usize::MAX).await.unwrap();
        let numbers: Vec<_> = entries.iter().map(|entry| entry.seq).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "no gaps");
        entries.into_iter().map(|entry| entry.event).collect()
    }
}

/// A server on a database; the next one that is opened like this takes the place of the one before.
async fn open(database: &Database, clock: &Arc<ManualClock>) -> Gate {
    let (timeouts, place) =
        (DecisionTimeouts::uniform(Duration::from_mins(1)), Some(database.path("")));
    let settings =
        GateSettings { timeouts, place, ..GateSettings::for_database(database.url.clone()) };
    let gate = Gate::open(settings, clock.clone(), Arc::new(Rulebook::none())).await.unwrap();
    gate.join().await.unwrap();
    gate
}

pub(crate) fn attended() -> SubmitOptions {
    SubmitOptions::attended()
}

pub(crate) fn call(tool: &str) -> ToolCall {
    ToolCall {
        id: new_id(),
        project: "p".into(),
        session: "s".into(),
        run: None,
        tool_use_id: "toolu_1".into(),
        tool_name: tool.into(),
        input: json!({"file_path": "a", "api_key": "hunter2"}),
        cwd: "/ws".into(),
        executor: countersign_core::Executor::Local,
        agent: None,
    }
}

pub(crate) fn new_run(session: &str) -> NewRun {
    NewRun {
        id: new_id::<RunId>(),
        project: "p".into(),
        session: session.into(),
        title: "hello".into(),
        settings: json!({"cwd": "/ws"}),
        message: json!({"role": "user", "content": "hello"}),
        events: vec![Event::Prompt { text: "hello".into() }],
    }
}

/// A planner whose calls read or write one file in the workspace, or are invalid, or panic.
pub(crate) enum Fake {
    Reads,
    Writes,
    Invalid,
    Panics,
}

pub(crate) fn writes() -> Arc<dyn Planner> {
    Arc::new(Fake::Writes)
}

impl Planner for Fake {
    fn plan(&self, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        let place = PathClass { side: WorkspaceSide::Inside, special: None };
        let target = EffectTarget::new("/ws/a", place);
        let effects = match self {
            Self::Reads => vec![Effect::Read(target)],
            Self::Writes => vec![Effect::Write(target)],
            Self::Invalid => return Err(InvalidCall("`file_path` is missing".into())),
            Self::Panics => panic!("a tool with a fault"),
        };
        Ok(CallPlan::new(effects, "Write `a`"))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: vec![] })
    }
}

/// Takes a call through the gate, to its permit.
pub(crate) async fn admit(
    gate: &Gate,
    call: ToolCall,
    planner: Arc<dyn Planner>,
) -> Admission<Permit> {
    let terms = CallTerms::new(planner, attended());
    gate.admit(CallEntry::New(call), &terms, &PermitCollector).await.unwrap()
}

/// Waits for the decision on a request, and for the permit.
pub(crate) async fn wait_for_admission(gate: &Gate, id: ApprovalId) -> Admission<Permit> {
    let asked = gate.store().approval(id).await.unwrap().unwrap();
    let terms = CallTerms::new(writes(), attended());
    gate.admit(CallEntry::Resumed(Box::new(asked)), &terms, &PermitCollector).await.unwrap()
}
