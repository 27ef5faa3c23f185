//! The library face (S5): an agent inside a Rust program, with or without somebody to ask.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_core::{Event, ProjectId, SessionId, Status, Usage};
use countersign_gate::{
    Clock, Follow, Gate, News, Seen, StoreError, SystemClock, Timeouts,
};
use countersign_tools::Toolbox;
use futures_util::Stream;
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::consent::{Callback, Consent};
use crate::model::Model;
use crate::runner::{BeginError, Prompt, Runner, RunnerConfig};

/// How an agent behaves. Start from [`AgentOptions::new`].
pub struct AgentOptions {
    /// Working directory, model, limits.
    pub config: RunnerConfig,
    /// The tools it may call.
    pub tools: Toolbox,
    /// Whether every tool runs without asking. True unless you say otherwise (S5.1).
    pub auto_approve: bool,
    /// Asked where a tool says it needs approval and `auto_approve` is false.
    pub on_tool_approval: Option<Callback>,
    /// How long the callback may take before the call counts as refused.
    pub approval_timeout: Duration,
}

impl AgentOptions {
    /// Returns the defaults: every tool runs.
    pub fn new(config: RunnerConfig, tools: Toolbox) -> Self {
        Self {
            config,
            tools,
            auto_approve: true,
            on_tool_approval: None,
            approval_timeout: Duration::from_hours(24),
        }
    }
}

/// What happens while an agent works.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// Something is set up in a way that is surely not meant.
    Warning(String),
    /// The model wrote some more.
    TextDelta(String),
    /// The model's answer broke off and is asked for again: the deltas since the last text are void.
    Retry {
        /// Which attempt comes next.
        attempt: u32,
        /// Why.
        reason: String,
    },
    /// The model finished a text.
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
        /// The tool.
        tool_name: String,
        /// What the model wants to give it.
        params: Value,
        /// Whether it may run.
        approved: bool,
    },
    /// A tool answered.
    ToolResult {
        /// The model's id of the call.
        id: String,
        /// The answer.
        content: String,
        /// Whether it tells of a failure.
        is_error: bool,
    },
    /// The prompt is answered.
    Done {
        /// What that took.
        usage: Usage,
    },
    /// The prompt could not be answered.
    Failed {
        /// A stable word for programs.
        code: String,
        /// A sentence for people.
        message: String,
    },
}

const NOBODY_TO_ASK: &str = "auto_approve is false but there is no on_tool_approval callback: every \
                             tool call is approved without anybody being asked";

/// An agent: a model, tools, and whoever decides.
pub struct Agent {
    runner: Runner,
    session: Mutex<Option<SessionId>>,
    warning: Option<String>,
}

impl Agent {
    /// Returns an agent that keeps its records in memory. Needs a Tokio runtime.
    pub fn new(model: Arc<dyn Model>, options: AgentOptions) -> Result<Self, StoreError> {
        let AgentOptions { config, tools, auto_approve, on_tool_approval, approval_timeout } = options;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let gate = Gate::in_memory(clock, Timeouts::all(approval_timeout))?;
        let nobody = !auto_approve && on_tool_approval.is_none();
        let consent = match on_tool_approval {
            _ if auto_approve => Consent::Nobody,
            Some(callback) => Consent::Program(callback),
            // S5.6 to the letter: approve, and say so loudly.
            None => Consent::Program(Callback::new(|request| async move {
                tracing::warn!(tool = request.tool_name, "{NOBODY_TO_ASK}");
                true
            })),
        };
        if nobody {
            tracing::warn!("{NOBODY_TO_ASK}");
        }
        Ok(Self {
            runner: Runner::new(gate, model, tools, consent, config),
            session: Mutex::new(None),
            warning: nobody.then(|| NOBODY_TO_ASK.to_owned()),
        })
    }

    /// Starts a new conversation with a prompt and returns what happens.
    ///
    /// Dropping the stream interrupts the run.
    pub async fn run(&self, prompt: &str) -> Result<impl Stream<Item = AgentEvent> + Unpin, BeginError> {
        self.start(prompt, None).await
    }

    /// Goes on with the latest conversation, or starts the first one.
    pub async fn go_on(
        &self,
        prompt: &str,
    ) -> Result<impl Stream<Item = AgentEvent> + Unpin, BeginError> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.start(prompt, session).await
    }

    async fn start(
        &self,
        prompt: &str,
        session: Option<SessionId>,
    ) -> Result<impl Stream<Item = AgentEvent> + Unpin, BeginError> {
        let project = ProjectId::from("library");
        let gate = &self.runner.gate;
        let head = gate.store().head(&project).await?;
        let follow = gate.follow(&project, head).await?;
        let prompt = Prompt { project, session, text: prompt.to_owned() };
        let run = self.runner.begin(prompt).await?;
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.session().clone());
        let cancel = CancellationToken::new();
        let watch = Watch {
            gate: gate.clone(),
            follow,
            run: run.id(),
            warning: self.warning.clone(),
            ended: false,
            _interrupts: cancel.clone().drop_guard(),
        };
        tokio::spawn(run.drive(cancel));
        Ok(Box::pin(futures_util::stream::unfold(watch, |mut watch| async move {
            watch.next().await.map(|event| (event, watch))
        })))
    }
}

/// Reads one run's events from the log and says them in the library's words.
struct Watch {
    gate: Gate,
    follow: Follow,
    run: countersign_core::RunId,
    warning: Option<String>,
    ended: bool,
    _interrupts: DropGuard,
}

impl Watch {
    async fn next(&mut self) -> Option<AgentEvent> {
        if let Some(warning) = self.warning.take() {
            return Some(AgentEvent::Warning(warning));
        }
        while !self.ended {
            let told = match self.follow.next().await? {
                Ok(Seen::Live(live)) if live.run == self.run => Some(of_news(live.news)),
                Ok(Seen::Logged(entry)) if entry.run == Some(self.run) => {
                    self.of_event(entry.event).await
                }
                Ok(_) => None,
                Err(error) => {
                    self.ended = true;
                    Some(AgentEvent::Failed { code: "store".to_owned(), message: error.to_string() })
                }
            };
            if told.is_some() {
                return told;
            }
        }
        None
    }

    async fn of_event(&mut self, event: Event) -> Option<AgentEvent> {
        Some(match event {
            Event::Text { text } => AgentEvent::Text(text),
            Event::ToolUse { id, name, input } => {
                AgentEvent::ToolUse { id: id.to_string(), tool_name: name, params: input }
            }
            Event::ApprovalResolved { approval, status, .. } => {
                let call = self.gate.store().approval(approval).await.ok()??.call;
                AgentEvent::ToolApproval {
                    tool_name: call.tool_name,
                    params: call.input,
                    approved: status == Status::Approved,
                }
            }
            Event::ToolResult { tool_use_id, content, is_error } => {
                AgentEvent::ToolResult { id: tool_use_id.to_string(), content, is_error }
            }
            Event::RunDone { usage } => {
                self.ended = true;
                AgentEvent::Done { usage }
            }
            Event::RunFailed { code, message, .. } => {
                self.ended = true;
                AgentEvent::Failed { code, message }
            }
            Event::RunStarted { .. }
            | Event::Prompt { .. }
            | Event::ApprovalRequested { .. }
            | Event::ToolState { .. } => return None,
        })
    }
}

fn of_news(news: News) -> AgentEvent {
    match news {
        News::TextDelta(text) => AgentEvent::TextDelta(text),
        News::Retry { attempt, reason, .. } => AgentEvent::Retry { attempt, reason },
    }
}
