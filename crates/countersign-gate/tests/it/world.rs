//! A gate on a real file, a clock moved by hand, and a planner that says what it is told to.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_core::{
    Approval, ApprovalId, By, Decision, Effect, Invalid, Place, Plan, Planner, Preview, RunId,
    Side, Stance, Target, ToolCall,
};
use countersign_gate::{
    Clock, DecideError, Event, Gate, ManualClock, NewRun, Passage, Rulebook, Submitted, Terms,
    Timeouts, new_id,
};
use jiff::Timestamp;
use serde_json::json;
use tempfile::TempDir;

pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) clock: Arc<ManualClock>,
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::at(Timestamp::UNIX_EPOCH));
        let gate = open(&folder.path().join("gate.db"), &clock);
        Self { gate, clock, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same database after the process died.
    pub(crate) fn reopened(self) -> Self {
        let Self { gate, clock, folder } = self;
        drop(gate);
        let gate = open(&folder.path().join("gate.db"), &clock);
        Self { gate, clock, folder }
    }

    pub(crate) async fn with_pending(tool: &str) -> (Self, ApprovalId) {
        let world = Self::new();
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
            if let Some(first) = self.gate.store().waiting(&"p".into()).await.unwrap().pop() {
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

fn open(file: &Path, clock: &Arc<ManualClock>) -> Gate {
    let clock: Arc<dyn Clock> = clock.clone();
    let rulebook = Arc::new(Rulebook::none());
    Gate::open(file, clock, Timeouts::all(Duration::from_mins(1)), rulebook).unwrap()
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
    }
}

pub(crate) fn new_run(session: &str) -> NewRun {
    NewRun {
        id: new_id::<RunId>(),
        project: "p".into(),
        session: session.into(),
        title: "hello".into(),
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
