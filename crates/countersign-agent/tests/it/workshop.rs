//! A workspace in a temporary folder, a scripted model, a gate, and a clock that tests move by hand.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use countersign_agent::model::Model;
use countersign_agent::{
    Agent, AgentEvent, AgentEventStream, AgentOptions, AgentRun, ApprovalCallback, ConsentSource,
    RetrySettings, RunPrompt, RunSignals, Runner, RunnerConfig, Scenario, ScriptedModel,
};
use countersign_core::{
    ApprovalId, ApprovedBy, CallPlan, Decision, Effect, EffectTarget, Event, Execution,
    InvalidCall, PathClass, Planner, Preview, ProjectId, RunId, SessionId, ToolCall, ToolOutput,
    WorkspaceSide,
};
use countersign_gate::{
    DecisionTimeouts, Gate, LiveEvent, LogFollower, LogFollowerItem, ManualClock, Rulebook,
};
use countersign_tools::{Environment, Tool, ToolError, Toolbox, VerifiedPermit, Workspace};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Everything a conversation needs. Time stands still until a test moves it.
pub(crate) struct Workshop {
    pub(crate) root: PathBuf,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) model: ScriptedModel,
    pub(crate) gate: Gate,
    pub(crate) tools: Toolbox,
    pub(crate) config: RunnerConfig,
    pub(crate) consent: ConsentSource,
    _folder: TempDir,
}

impl Workshop {
    /// People decide, reading runs, and a model that fails is asked again at once.
    pub(crate) fn playing(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let clock = Arc::new(ManualClock::starting_at(Timestamp::UNIX_EPOCH));
        let model = ScriptedModel::new(Scenario::parse(scenario).unwrap(), clock.clone());
        let gate =
            Gate::in_memory(clock.clone(), DecisionTimeouts::default(), Arc::new(Rulebook::none()))
                .unwrap();
        let environment = Environment::from(vec![("PATH".into(), "/usr/bin:/bin".into())]);
        let tools = Toolbox::coding(&Workspace::new([root.clone()]).unwrap(), environment);
        let at_once =
            RetrySettings { tries: 6, first_wait: Duration::ZERO, longest_wait: Duration::ZERO };
        let config = RunnerConfig { retries: at_once, ..RunnerConfig::new(&root) };
        let consent = ConsentSource::People { auto_approve_read: true, mode: None };
        Self { root, clock, model, gate, tools, config, consent, _folder: folder }
    }

    /// The same, and everything runs.
    pub(crate) fn unattended(scenario: &str) -> Self {
        Self { consent: ConsentSource::Nobody, ..Self::playing(scenario) }
    }

    pub(crate) fn with_tool(mut self, tool: impl Tool) -> Self {
        self.tools = self.tools.with(tool);
        self
    }

    pub(crate) fn workspace(&self) -> Workspace {
        Workspace::new([self.root.clone()]).unwrap()
    }

    pub(crate) fn options(&self) -> AgentOptions {
        AgentOptions {
            clock: self.clock.clone(),
            ..AgentOptions::new(self.config.clone(), self.tools.clone())
        }
    }

    pub(crate) fn attended(&self, callback: ApprovalCallback) -> AgentOptions {
        AgentOptions { auto_approve: false, on_tool_approval: Some(callback), ..self.options() }
    }

    pub(crate) fn agent(&self, options: AgentOptions) -> Agent {
        Agent::new(Arc::new(self.model.clone()), options).unwrap()
    }

    /// Begins a run and drives it; nothing of it is missed.
    pub(crate) async fn start(&self, prompt: &str, session: Option<SessionId>) -> Running {
        self.start_with(Arc::new(self.model.clone()), prompt, session).await
    }

    pub(crate) async fn start_with(
        &self,
        model: Arc<dyn Model>,
        prompt: &str,
        session: Option<SessionId>,
    ) -> Running {
        let head = self.gate.store().head(&project()).await.unwrap();
        let follow = self.gate.follow(&project(), head).await.unwrap();
        let run = self.begin(model, prompt, session).await;
        Running::driving(run, follow)
    }

    /// Goes on with the one run that is left behind; what was seen of it before is seen again.
    pub(crate) async fn resume(&self) -> Running {
        self.resume_with(Arc::new(self.model.clone())).await
    }

    pub(crate) async fn resume_with(&self, model: Arc<dyn Model>) -> Running {
        self.resume_left(model).await.unwrap()
    }

    /// The same; none if no run is left behind.
    pub(crate) async fn resume_left(&self, model: Arc<dyn Model>) -> Option<Running> {
        self.gate.recover().await.unwrap();
        let mut left = self.gate.take_over_runs(&[project()]).await.unwrap();
        let run = self.runner(model).resume(left.pop()?).await;
        assert_eq!(left, [], "there is one");
        let follow = self.gate.follow(&project(), 0).await.unwrap();
        Some(Running::driving(run.unwrap(), follow))
    }

    pub(crate) async fn begin(
        &self,
        model: Arc<dyn Model>,
        prompt: &str,
        session: Option<SessionId>,
    ) -> AgentRun {
        let prompt = RunPrompt { project: project(), session, text: prompt.into() };
        self.runner(model).begin(prompt).await.unwrap()
    }

    pub(crate) fn runner(&self, model: Arc<dyn Model>) -> Runner {
        let (tools, consent, config) =
            (self.tools.clone(), self.consent.clone(), self.config.clone());
        Runner::new(self.gate.clone(), model, tools, consent, config)
    }

    /// Runs a prompt to its end and returns what happened.
    pub(crate) async fn run(&self, prompt: &str) -> Running {
        let mut running = self.start(prompt, None).await;
        running.end().await;
        running
    }

    pub(crate) async fn approval(&self, id: ApprovalId) -> Execution {
        self.gate.store().approval(id).await.unwrap().unwrap()
    }

    pub(crate) async fn approve(&self, id: ApprovalId) {
        let by = ApprovedBy::Person("ana".into());
        self.gate.decide(id, Decision::Approve { by }, None).await.unwrap();
    }

    pub(crate) async fn messages(&self, session: &SessionId) -> Vec<Value> {
        self.gate.store().messages(&project(), session).await.unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.root.join(name), content).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }

    /// Returns the status of each request that the model got: 400 is a conversation it refused.
    pub(crate) fn statuses(&self) -> Vec<u16> {
        self.model.recorded().all().iter().map(|request| request.status).collect()
    }

    /// Returns the conversation as the model was sent it last, without the marks for the cache.
    pub(crate) fn sent(&self) -> Vec<Value> {
        let mut body = self.model.recorded().last().unwrap().body;
        for message in body["messages"].as_array_mut().unwrap() {
            for block in message["content"].as_array_mut().unwrap() {
                block.as_object_mut().unwrap().shift_remove("cache_control");
            }
        }
        body["messages"].as_array().unwrap().clone()
    }

    /// Waits until somebody waits for the time to pass.
    pub(crate) async fn somebody_waits(&self) {
        while self.clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until somebody waits for the time to pass, or the run is over.
    pub(crate) async fn somebody_waits_or(&self, run: &Running) {
        while self.clock.sleepers() == 0 && !run.driving.is_finished() {
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) fn project() -> ProjectId {
    ProjectId::from("p")
}

/// A run that goes on, and what has been seen of it.
pub(crate) struct Running {
    pub(crate) id: RunId,
    pub(crate) session: SessionId,
    pub(crate) cancel: CancellationToken,
    pub(crate) suspend: CancellationToken,
    pub(crate) seen: Vec<LogFollowerItem>,
    pub(crate) driving: JoinHandle<()>,
    follow: LogFollower,
}

impl Running {
    fn driving(run: AgentRun, follow: LogFollower) -> Self {
        let (id, session) = (run.id(), run.session().clone());
        let signals = RunSignals::default();
        let RunSignals { cancel, suspend } = signals.clone();
        let driving = tokio::spawn(run.drive(signals));
        Self { follow, id, session, cancel, suspend, driving, seen: Vec::new() }
    }

    /// Looks on until something fits; returns what that gives.
    pub(crate) async fn until<T>(
        &mut self,
        mut fits: impl FnMut(&LogFollowerItem) -> Option<T>,
    ) -> T {
        loop {
            let seen = self.follow.next().await.unwrap().unwrap();
            let found = fits(&seen);
            self.seen.push(seen);
            if let Some(found) = found {
                return found;
            }
        }
    }

    pub(crate) async fn until_asked(&mut self) -> ApprovalId {
        self.until(|seen| match event(seen)? {
            Event::ApprovalRequested { approval } => Some(*approval),
            _ => None,
        })
        .await
    }

    /// Looks on to the end of the run, which is returned.
    pub(crate) async fn end(&mut self) -> Event {
        self.until(|seen| match event(seen)? {
            end @ (Event::RunDone { .. } | Event::RunFailed { .. }) => Some(end.clone()),
            _ => None,
        })
        .await
    }

    /// Interrupts the run and waits until it is over.
    pub(crate) async fn interrupt(&mut self) {
        self.cancel.cancel();
        assert_eq!(code(&self.end().await), "cancelled");
        (&mut self.driving).await.unwrap();
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.seen.iter().filter_map(event)
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.events().filter_map(|event| match event {
            Event::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the results in the order they came, each with whether it is an error.
    pub(crate) fn results(&self) -> Vec<(&str, bool)> {
        let results = self.events().filter_map(|event| match event {
            Event::ToolResult { content, is_error, .. } => Some((content.as_str(), *is_error)),
            _ => None,
        });
        results.collect()
    }

    pub(crate) fn news(&self) -> Vec<&LiveEvent> {
        let news = self.seen.iter().filter_map(|seen| match seen {
            LogFollowerItem::Live(live) => Some(&live.news),
            LogFollowerItem::Logged(_) => None,
        });
        news.collect()
    }
}

pub(crate) fn event(seen: &LogFollowerItem) -> Option<&Event> {
    match seen {
        LogFollowerItem::Logged(entry) => Some(&entry.event),
        LogFollowerItem::Live(_) => None,
    }
}

/// Returns the code a run failed with, or `done`.
pub(crate) fn code(end: &Event) -> &str {
    match end {
        Event::RunFailed { code, .. } => code,
        Event::RunDone { .. } => "done",
        _ => panic!("not an end: {end:?}"),
    }
}

/// Returns all events of an agent's run, but for the pieces of text.
pub(crate) async fn all(events: AgentEventStream) -> Vec<AgentEvent> {
    events.filter(|event| std::future::ready(!is_delta(event))).collect().await
}

fn is_delta(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::TextDelta(_))
}

/// Returns the results among events, each with whether it is an error.
pub(crate) fn results(events: &[AgentEvent]) -> Vec<(&str, bool)> {
    let results = events.iter().filter_map(|event| match event {
        AgentEvent::ToolResult { content, is_error, .. } => Some((content.as_str(), *is_error)),
        _ => None,
    });
    results.collect()
}

/// Returns the decisions among events: tool and whether it may run.
pub(crate) fn decisions(events: &[AgentEvent]) -> Vec<(&str, bool)> {
    let decisions = events.iter().filter_map(|event| match event {
        AgentEvent::ToolApproval { tool_name, approved, .. } => {
            Some((tool_name.as_str(), *approved))
        }
        _ => None,
    });
    decisions.collect()
}

/// Returns a callback that never answers, and tells of each call by what closes with it.
pub(crate) fn never_answering() -> (ApprovalCallback, mpsc::UnboundedReceiver<mpsc::Sender<()>>) {
    let (tell, asked) = mpsc::unbounded_channel();
    let callback = ApprovalCallback::new(move |_| {
        let (asking, mut wait) = mpsc::channel(1);
        tell.send(asking).unwrap();
        async move { wait.recv().await.is_some() }
    });
    (callback, asked)
}

type Work = Box<dyn Fn(Value) -> BoxFuture<'static, ToolOutput> + Send + Sync>;

/// A tool called `Own` that does what a test wants, asking first.
pub(crate) struct Own {
    work: Work,
    effect: Effect,
    planning: Box<dyn Fn() + Send + Sync>,
}

impl Own {
    pub(crate) fn new<A>(work: impl Fn(Value) -> A + Send + Sync + 'static) -> Self
    where
        A: Future<Output = ToolOutput> + Send + 'static,
    {
        let work = Box::new(move |input| Box::pin(work(input)) as _);
        let effect = Effect::Opaque { why: "it is a test's own".into() };
        Self { work, effect, planning: Box::new(|| {}) }
    }

    /// Does this, too, whenever a call is planned.
    pub(crate) fn planning(self, planning: impl Fn() + Send + Sync + 'static) -> Self {
        Self { planning: Box::new(planning), ..self }
    }

    /// Says that every call reads this file.
    pub(crate) fn reading(self, path: &str) -> Self {
        let place = PathClass { side: WorkspaceSide::Inside, special: None };
        Self { effect: Effect::Read(EffectTarget::new(path, place)), ..self }
    }

    /// Says that every call changes this file.
    pub(crate) fn changing(self, path: &str) -> Self {
        let place = PathClass { side: WorkspaceSide::Inside, special: None };
        Self { effect: Effect::Write(EffectTarget::new(path, place)), ..self }
    }
}

impl Planner for Own {
    fn plan(&self, _: &ToolCall) -> Result<CallPlan, InvalidCall> {
        (self.planning)();
        Ok(CallPlan::new(vec![self.effect.clone()], "Do it"))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, InvalidCall> {
        Ok(Preview::Generic { input: call.input.clone(), preimages: Vec::new() })
    }
}

#[async_trait]
impl Tool for Own {
    fn name(&self) -> &'static str {
        "Own"
    }

    fn description(&self) -> &'static str {
        "Does what a test wants."
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn needs_approval(&self, _: &Value) -> bool {
        true
    }

    /// Does not listen to `cancel`: nothing but the runner keeps it from running.
    async fn run(
        &self,
        permit: VerifiedPermit,
        _: CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        Ok((self.work)(permit.call().input.clone()).await)
    }
}
