//! The library face (S5): an agent inside a Rust program, with or without somebody to ask.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use countersign_core::{
    ApprovalId, Event, ExecutionStatus, ProjectId, RunId, SessionId, TokenUsage, mask_input,
};
use countersign_gate::{
    Clock, DecisionTimeouts, Gate, LiveEvent, LogFollower, LogFollowerItem, Rulebook, StoreError,
    SystemClock,
};
use countersign_tools::Toolbox;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::consent::{ApprovalCallback, ConsentSource, ReaderProgress};
use crate::model::Model;
use crate::runner::{BeginError, RunPrompt, Runner};
use crate::runner_config::RunnerConfig;

/// How an agent behaves. Start from [`AgentOptions::new`]:
///
/// ```
/// # use countersign_agent::{AgentOptions, ApprovalCallback, RunnerConfig};
/// # use countersign_tools::Toolbox;
/// # let (config, tools) = (RunnerConfig::new("/tmp"), Toolbox::default());
/// let options = AgentOptions {
///     auto_approve: false,
///     on_tool_approval: Some(ApprovalCallback::new(async |request| request.tool_name != "Bash")),
///     ..AgentOptions::new(config, tools)
/// };
/// ```
pub struct AgentOptions {
    /// Working directory, model, limits.
    pub config: RunnerConfig,
    /// The tools it may call.
    pub tools: Toolbox,
    /// Whether every tool runs without asking. **True unless you say otherwise** (S5.1): a callback
    /// is then never asked.
    pub auto_approve: bool,
    /// Asked where a tool says that it needs approval and `auto_approve` is false.
    ///
    /// If there is none then, every call is approved, with a warning (S5.6).
    pub on_tool_approval: Option<ApprovalCallback>,
    /// How long the callback may take before the call counts as refused. A day, unless set.
    pub approval_timeout: Duration,
    /// Where the time comes from: the machine's clock, unless set. For tests.
    pub clock: Arc<dyn Clock>,
}

impl AgentOptions {
    /// Returns the defaults: every tool runs, nobody is asked.
    pub fn new(config: RunnerConfig, tools: Toolbox) -> Self {
        Self {
            config,
            tools,
            auto_approve: true,
            on_tool_approval: None,
            approval_timeout: Duration::from_hours(24),
            clock: Arc::new(SystemClock),
        }
    }

    /// Returns what is surely not meant.
    fn warning(&self) -> Option<&'static str> {
        match (self.auto_approve, &self.on_tool_approval) {
            (false, None) => Some(NOBODY_TO_ASK),
            (true, Some(_)) => Some(NEVER_ASKED),
            (true, None) | (false, Some(_)) => None,
        }
    }
}

const NOBODY_TO_ASK: &str = "auto_approve is false but there is no on_tool_approval callback: every \
                             tool call is approved without anybody being asked";

const NEVER_ASKED: &str = "there is an on_tool_approval callback but auto_approve is true: every tool \
                           call runs and the callback is never asked";

/// What happens while an agent works.
///
/// As JSON it is what a browser reads: `{"type": "tool_approval", "toolName": "Bash", …}`.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// Something is set up in a way that is surely not meant. Comes first.
    Warning(String),
    /// The model wrote some more. Who reads slowly may miss some; [`AgentEvent::Text`] has it all.
    TextDelta(String),
    /// The model's answer broke off and is asked for again: the deltas since the last text are void.
    Retry {
        /// Which attempt comes next.
        attempt: u32,
        /// Why.
        reason: String,
    },
    /// The model finished a text: the deltas before it, put together.
    Text(String),
    /// The model wants to use a tool.
    ToolUse {
        /// Its id of the call.
        id: String,
        /// The tool.
        tool_name: String,
        /// What it wants to give it.
        params: Value,
    },
    /// A call that had to be asked for was decided (S5.5).
    ToolApproval {
        /// The model's id of the call: which of several it is.
        id: String,
        /// The tool.
        tool_name: String,
        /// What the model wants to give it.
        params: Value,
        /// Whether it may run.
        approved: bool,
    },
    /// A tool answered, or did not get to. In the order they finish, not in that of the calls.
    ToolResult {
        /// The model's id of the call.
        id: String,
        /// What the model is told.
        content: String,
        /// Whether it tells of a failure.
        is_error: bool,
    },
    /// The prompt is answered. Nothing follows.
    Done {
        /// What that took.
        usage: TokenUsage,
    },
    /// The prompt could not be answered. Nothing follows; [`Agent::go_on`] goes on from there.
    Failed {
        /// A stable word for programs.
        code: String,
        /// A sentence for people.
        message: String,
        /// What they can do about it.
        hint: Option<String>,
    },
}

/// What happens while one prompt is answered, up to [`AgentEvent::Done`] or [`AgentEvent::Failed`].
///
/// Dropping it interrupts the run: what waits is taken back, what runs is broken off. Read it to its
/// end: where a program decides, it is asked when the reading has come to the request, so that a
/// question never overtakes the words that led to it.
#[must_use = "dropping the events interrupts the run"]
pub struct AgentEventStream(BoxStream<'static, AgentEvent>);

impl AgentEventStream {
    /// Returns what happens next; none after the end.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        self.0.next().await
    }
}

impl Stream for AgentEventStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.0.poll_next_unpin(context)
    }
}

/// An agent: a model, tools, and whoever decides.
pub struct Agent {
    runner: Runner,
    latest: Mutex<Option<LatestConversation>>,
    warning: Option<&'static str>,
}

/// The conversation that comes next if nobody starts another.
#[derive(Clone)]
struct LatestConversation {
    session: SessionId,
    interrupted: CancellationToken,
    over: CancellationToken,
}

impl Agent {
    /// Returns an agent that keeps its records in memory.
    ///
    /// Panics outside of a Tokio runtime.
    pub fn new(model: Arc<dyn Model>, options: AgentOptions) -> Result<Self, StoreError> {
        let warning = options.warning();
        if let Some(warning) = warning {
            tracing::warn!("{warning}");
        }
        let AgentOptions { config, tools, auto_approve, on_tool_approval, approval_timeout, clock } =
            options;
        let consent = match on_tool_approval {
            _ if auto_approve => ConsentSource::Nobody,
            Some(callback) => ConsentSource::Program(callback),
            // S5.6 to the letter: approve, and say so loudly.
            None => ConsentSource::Program(ApprovalCallback::new(async |request| {
                tracing::warn!(tool = request.tool_name, "{NOBODY_TO_ASK}");
                true
            })),
        };
        let gate = Gate::in_memory(
            clock,
            DecisionTimeouts::uniform(approval_timeout),
            Arc::new(Rulebook::none()),
        )?;
        let reading = Some(Arc::default());
        let runner = Runner { reading, ..Runner::new(gate, model, tools, consent, config) };
        Ok(Self { runner, latest: Mutex::default(), warning })
    }

    /// Starts a new conversation with a prompt and returns what happens.
    pub async fn run(&self, prompt: &str) -> Result<AgentEventStream, BeginError> {
        self.start(prompt, None).await
    }

    /// Goes on with the conversation that was started last, or starts the first one.
    ///
    /// If its last run was interrupted, waits until that has come to its end. If it is still going
    /// on, that is [`BeginError::Busy`].
    pub async fn go_on(&self, prompt: &str) -> Result<AgentEventStream, BeginError> {
        let latest = self.latest().clone();
        if let Some(latest) = latest.as_ref().filter(|it| it.interrupted.is_cancelled()) {
            latest.over.cancelled().await;
        }
        self.start(prompt, latest.map(|it| it.session)).await
    }

    async fn start(
        &self,
        prompt: &str,
        session: Option<SessionId>,
    ) -> Result<AgentEventStream, BeginError> {
        let project = ProjectId::from("library");
        let gate = &self.runner.gate;
        let head = gate.store().head(&project).await?;
        let follow = gate.follow(&project, head).await?;
        let prompt = RunPrompt { project, session, text: prompt.to_owned() };
        let run = self.runner.begin(prompt).await?;
        let (interrupted, over) = (CancellationToken::new(), CancellationToken::new());
        *self.latest() = Some(LatestConversation {
            session: run.session().clone(),
            interrupted: interrupted.clone(),
            over: over.clone(),
        });
        let watch = RunEventReader {
            gate: gate.clone(),
            follow,
            run: run.id(),
            warning: self.warning,
            is_over: false,
            reading: self.runner.reading.clone(),
            _interrupts: interrupted.clone().drop_guard(),
        };
        tokio::spawn(async move {
            let _says_when = over.drop_guard();
            run.drive(interrupted).await;
        });
        let events = stream::unfold(watch, |mut watch| async move {
            watch.next().await.map(|event| (event, watch))
        });
        Ok(AgentEventStream(events.boxed()))
    }

    fn latest(&self) -> MutexGuard<'_, Option<LatestConversation>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads one run's events from the log and says them in the library's words.
struct RunEventReader {
    gate: Gate,
    follow: LogFollower,
    run: RunId,
    warning: Option<&'static str>,
    is_over: bool,
    reading: Option<Arc<ReaderProgress>>,
    _interrupts: DropGuard,
}

impl RunEventReader {
    async fn next(&mut self) -> Option<AgentEvent> {
        if let Some(warning) = self.warning.take() {
            return Some(AgentEvent::Warning(warning.to_owned()));
        }
        while !self.is_over {
            let seen = self.follow.next().await?;
            let told = match seen {
                Ok(seen) => self.tell(seen).await,
                Err(error) => Err(error),
            };
            let told = told.unwrap_or_else(|error| Some(unreadable(&error)));
            if let Some(event) = told {
                self.is_over = matches!(event, AgentEvent::Done { .. } | AgentEvent::Failed { .. });
                return Some(event);
            }
        }
        None
    }

    async fn tell(&self, seen: LogFollowerItem) -> Result<Option<AgentEvent>, StoreError> {
        Ok(match seen {
            LogFollowerItem::Live(live) if live.run == Some(self.run) => of_news(live.news),
            LogFollowerItem::Logged(entry) if entry.run == Some(self.run) => {
                self.of_event(entry.event).await?
            }
            LogFollowerItem::Live(_) | LogFollowerItem::Logged(_) => None,
        })
    }

    async fn of_event(&self, event: Event) -> Result<Option<AgentEvent>, StoreError> {
        Ok(Some(match event {
            Event::Text { text } => AgentEvent::Text(text),
            Event::ToolUse { id, name, input, .. } => {
                AgentEvent::ToolUse { id: id.to_string(), tool_name: name, params: input }
            }
            Event::ApprovalResolved { approval, status, .. } => {
                return self.decision(approval, status == ExecutionStatus::Approved).await;
            }
            Event::ToolResult { tool_use_id, content, is_error } => {
                AgentEvent::ToolResult { id: tool_use_id.to_string(), content, is_error }
            }
            Event::RunDone { usage, .. } => AgentEvent::Done { usage },
            Event::RunFailed { code, message, hint } => AgentEvent::Failed { code, message, hint },
            Event::ApprovalRequested { approval } => {
                if let Some(reading) = &self.reading {
                    reading.mark_reached(approval);
                }
                return Ok(None);
            }
            Event::RunStarted { .. }
            | Event::RunResumed
            | Event::Prompt { .. }
            | Event::ToolState { .. }
            // The library runs its tools itself.
            | Event::ExecutionSignal { .. }
            | Event::ResultReceived { .. }
            | Event::ResultRefused { .. }
            | Event::Undone { .. }
            | Event::Rehearsed { .. }
            | Event::ClientLookWanted { .. }
            | Event::ConversationMended { .. }
            | Event::SettingsChanged => return Ok(None),
        }))
    }

    async fn decision(
        &self,
        approval: ApprovalId,
        approved: bool,
    ) -> Result<Option<AgentEvent>, StoreError> {
        let found = self.gate.store().approval(approval).await?;
        Ok(found.map(|it| AgentEvent::ToolApproval {
            id: it.call().tool_use_id.to_string(),
            tool_name: it.call().tool_name.clone(),
            // Once it has run, its secrets are masked: so they always are.
            params: mask_input(&it.call().input),
            approved,
        }))
    }
}

fn of_news(news: LiveEvent) -> Option<AgentEvent> {
    match news {
        LiveEvent::TextDelta(text) => Some(AgentEvent::TextDelta(text)),
        LiveEvent::Retry { attempt, reason, .. } => Some(AgentEvent::Retry { attempt, reason }),
        LiveEvent::ToolOutput { .. } => None,
    }
}

fn unreadable(error: &StoreError) -> AgentEvent {
    AgentEvent::Failed { code: "store".to_owned(), message: error.to_string(), hint: None }
}
