//! A gate on a real file, a clock moved by hand, and a planner that says what it is told to.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    Approval, ApprovalId, By, Decision, Effect, Invalid, Place, Plan, Planner, Preview, RunId,
    Side, Stance, Target, ToolCall,
};
use countersign_gate::{
    DecideError, Event, Gate, ManualClock, NewRun, Passage, Rulebook, Settings, Submitted, Terms,
    Timeouts, new_id,
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
        let clock = Arc::new(ManualClock::at(Timestamp::UNIX_EPOCH));
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
        let settings = Settings::of(self.database.url.clone());
        let book = Arc::new(Rulebook::none());
        let gate = Gate::open(settings, self.clock.clone(), book).await.unwrap();
        gate.join().await.unwrap();
        Some(gate)
    }

    pub(crate) async fn with_pending(tool: &str) -> (Self, ApprovalId) {
        let world = Self::new().await;
        let asked = world.ask(tool).await;
        (world, asked.id)
    }

    pub(crate) async fn ask(&self, tool: &str) -> Approval {
        match self.gate.submit(call(tool), writes(), &attended()).await.unwrap() {
            Submitted::Waiting(approval) => *approval,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    pub(crate) async fn approve(&self, id: ApprovalId, by: &str) -> Result<Approval, DecideError> {
        self.gate.decide(id, Decision::Approve { by: By::Person(by.into()) }, None).await
    }

    pub(crate) async fn reject(&self, id: ApprovalId, why: &str) -> Result<Approval, DecideError> {
        let decision = Decision::Reject { by: By::Person("bo".into()), feedback: Some(why.into()) };
        self.gate.decide(id, decision, None).await
    }

    pub(crate) fn passing(&self, tool: &str) -> tokio::task::JoinHandle<Passage> {
        let (gate, call) = (self.gate.clone(), call(tool));
        tokio::spawn(async move { gate.pass(call, writes(), &attended()).await.unwrap() })
    }

    pub(crate) async fn first_waiting(&self) -> Approval {
        loop {
            if let Some(first) =
                self.gate.store().waiting(&"p".into(), None, 100).await.unwrap().pop()
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
    let (timeouts, place) = (Timeouts::all(Duration::from_mins(1)), Some(database.path("")));
    let settings = Settings { timeouts, place, ..Settings::of(database.url.clone()) };
    let gate = Gate::open(settings, clock.clone(), Arc::new(Rulebook::none())).await.unwrap();
    gate.join().await.unwrap();
    gate
}

pub(crate) fn attended() -> Terms {
    Stance::Attended { auto_approve_read: true }.into()
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
    fn plan(&self, _: &ToolCall) -> Result<Plan, Invalid> {
        let place = Place { side: Side::Inside, special: None };
        let target = Target::new("/ws/a", place);
        let effects = match self {
            Self::Reads => vec![Effect::Read(target)],
            Self::Writes => vec![Effect::Write(target)],
            Self::Invalid => return Err(Invalid("`file_path` is missing".into())),
            Self::Panics => panic!("a tool with a fault"),
        };
        Ok(Plan::new(effects, "Write `a`"))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: vec![] })
    }
}
