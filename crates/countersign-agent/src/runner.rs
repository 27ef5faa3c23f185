//! The runner: takes a prompt to its end, turn by turn, and leaves a conversation the API accepts.

use std::sync::Arc;

use countersign_core::{Event, ProjectId, RunId, SessionId, TokenUsage};
use countersign_gate::{Gate, NewRun, RunEnd, RunJournal, StoreError, new_id};
use countersign_tools::Toolbox;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::answer_outcome::AnswerFollowUp;
use crate::consent::{ConsentSource, ReaderProgress};
use crate::message::{ModelMessage, to_value};
use crate::model::{Model, ModelRequest, ToolSpec};
use crate::result_pairing::is_paired;
use crate::run_settings::RunSettings;
use crate::runner_config::RunnerConfig;
use crate::stop::{ClosingRecord, RunHalt, RunStopCause};
use crate::task::{self, Lineage};
use crate::turn::{RunTurn, TurnEnd};

/// What a person asks.
#[derive(Clone, Debug)]
pub struct RunPrompt {
    /// The project whose policy and log apply.
    pub project: ProjectId,
    /// The conversation to go on with; a new one if none.
    pub session: Option<SessionId>,
    /// Their words.
    pub text: String,
}

/// Why a run did not begin.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// There is nothing to ask.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The conversation is in the middle of a run.
    #[error("this conversation is still busy with an earlier prompt")]
    Busy,
    /// It could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Everything a conversation needs.
#[derive(Clone)]
pub struct Runner {
    pub(crate) gate: Gate,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) toolbox: Toolbox,
    pub(crate) consent: ConsentSource,
    pub(crate) config: RunnerConfig,
    /// Where a program reads the events that asks for consent itself.
    pub(crate) reading: Option<Arc<ReaderProgress>>,
}

/// How whoever drives a run is told to stop.
#[derive(Clone, Debug, Default)]
pub struct RunSignals {
    /// Ends the run: what waits is taken back, what runs is broken off, and every call is answered,
    /// so that the conversation can go on.
    pub cancel: CancellationToken,
    /// Leaves the run as it stands, for a later driver ([`Runner::resume`]): the model is no longer
    /// listened to, what waits goes on waiting, nothing more starts. What runs may come to its end.
    pub suspend: CancellationToken,
}

impl From<CancellationToken> for RunSignals {
    fn from(cancel: CancellationToken) -> Self {
        Self { cancel, suspend: CancellationToken::new() }
    }
}

/// A run that is recorded and can now be driven to its end.
///
/// Dropped before its end (its driver went away, or something in it panicked) it is recorded as
/// broken off, so that its conversation is not busy for ever. One that was told to suspend stays as
/// it is, however it is dropped.
pub struct AgentRun {
    pub(crate) runner: Runner,
    pub(crate) journal: RunJournal,
    pub(crate) request: ModelRequest,
    /// What all answers so far have taken.
    pub(crate) usage: TokenUsage,
    /// How many answers there have been.
    pub(crate) answers: u32,
    /// The last answer, where an earlier driver has not done all it asks for.
    pub(crate) left: Option<AnswerFollowUp>,
    /// Whether somebody stopped the run before its earlier driver went away.
    pub(crate) was_cancelled: bool,
    pub(crate) suspend: CancellationToken,
    pub(crate) is_over: bool,
    /// Who works here: the main agent or, within its run, one of its children.
    pub(crate) kin: Lineage,
}

impl Runner {
    /// Returns a runner.
    pub fn new(
        gate: Gate,
        model: Arc<dyn Model>,
        toolbox: Toolbox,
        consent: ConsentSource,
        config: RunnerConfig,
    ) -> Self {
        Self { gate, model, toolbox, consent, config, reading: None }
    }

    /// Records the prompt and makes ready to run it.
    pub async fn begin(&self, prompt: RunPrompt) -> Result<AgentRun, BeginError> {
        if prompt.text.trim().is_empty() {
            return Err(BeginError::EmptyPrompt);
        }
        let runner = self.clone();
        // On a task of its own: a caller that goes away in the middle leaves a run that is dropped,
        // and so ended, not one that is recorded and driven by nobody.
        match tokio::spawn(async move { runner.record(prompt).await }.in_current_span()).await {
            Ok(begun) => begun,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(StoreError::Closed.into()),
            },
        }
    }

    async fn record(&self, prompt: RunPrompt) -> Result<AgentRun, BeginError> {
        let RunPrompt { project, session, text } = prompt;
        let session = session.unwrap_or_else(|| new_id::<RunId>().to_string().into());
        let request = self.request();
        let run = NewRun {
            id: new_id(),
            project: project.clone(),
            session: session.clone(),
            title: title(&text),
            settings: to_value(&RunSettings::from_config(&self.config, &self.consent))?,
            // What an earlier run left open is answered when the conversation is ours, not before.
            message: to_value(&ModelMessage::user(&text))?,
            events: vec![
                Event::RunStarted {
                    model: self.config.model.clone(),
                    tools: self.toolbox.names().map(str::to_owned).collect(),
                },
                Event::Prompt { text },
            ],
        };
        let journal = self.gate.begin_run(run).await?.ok_or(BeginError::Busy)?;
        let mut run = AgentRun::new(self.clone(), journal, request);
        // Only now that it is ours: another run may have come and gone before.
        run.request.messages = self.history(&project, &session).await?;
        if !is_paired(&run.request.messages) {
            self.gate.repair_conversation(&project, &session, Some(run.id())).await?;
            run.request.messages = self.history(&project, &session).await?;
        }
        Ok(run)
    }

    async fn history(
        &self,
        project: &ProjectId,
        session: &SessionId,
    ) -> Result<Vec<ModelMessage>, StoreError> {
        let stored = self.gate.store().messages(project, session).await?;
        let read = |message| {
            serde_json::from_value(message).map_err(|source| StoreError::corrupt("message", source))
        };
        stored.into_iter().map(read).collect()
    }

    /// Returns what the model is asked, but for the conversation.
    pub(crate) fn request(&self) -> ModelRequest {
        let tools = self.toolbox.iter().map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            input_schema: tool.input_schema(),
        });
        ModelRequest {
            model: self.config.model.clone(),
            max_tokens: self.config.max_tokens,
            system: self.config.system(),
            tools: tools.collect(),
            ..ModelRequest::default()
        }
    }
}

impl AgentRun {
    pub(crate) fn new(runner: Runner, journal: RunJournal, request: ModelRequest) -> Self {
        Self {
            runner,
            journal,
            request,
            usage: TokenUsage::default(),
            answers: 0,
            left: None,
            was_cancelled: false,
            suspend: CancellationToken::new(),
            is_over: false,
            kin: Lineage::default(),
        }
    }

    /// Returns the conversation.
    pub fn session(&self) -> &SessionId {
        self.journal.session()
    }

    /// Returns the run's id.
    pub fn id(&self) -> RunId {
        self.journal.run()
    }

    /// Drives the run to its end and records how it ended, unless it is told to suspend.
    ///
    /// A token alone is one that cancels.
    pub async fn drive(self, signals: impl Into<RunSignals>) {
        let span = self.journal.span();
        self.drive_to_end(signals.into()).instrument(span).await;
    }

    async fn drive_to_end(mut self, signals: RunSignals) {
        self.suspend = signals.suspend.clone();
        if self.was_cancelled {
            signals.cancel.cancel();
        }
        let (end, mut words, event) = match self.run_turns(&signals).await {
            Ok(()) => {
                let usage = self.kin.total_usage(self.usage);
                (RunEnd::Done, ClosingRecord::default(), Event::RunDone { usage, cost: None })
            }
            Err(RunHalt::Over(stop, words)) => (stop.end(), words, stop.event()),
            Err(RunHalt::Suspended) => {
                self.journal.discard_draft();
                self.is_over = true;
                return;
            }
        };
        words.events.push(event);
        end_run(&self.journal, end, words).await;
        self.is_over = true;
    }

    pub(crate) async fn run_turns(&mut self, signals: &RunSignals) -> Result<(), RunHalt> {
        self.runner.toolbox = task::toolbox_with_task(self, signals);
        if let Some(answer) = self.left.take()
            && let TurnEnd::Done = self.follow(&answer, signals).await?
        {
            return Ok(());
        }
        let most = self.runner.config.max_turns;
        while self.answers < most {
            let (message, outcome) = RunTurn::new(self, signals).ask().await?;
            self.answers += 1;
            self.usage.input_tokens += outcome.usage.input_tokens;
            self.usage.output_tokens += outcome.usage.output_tokens;
            let answer = outcome.into_follow_up(&message);
            if !message.content.is_empty() {
                self.request.messages.push(message);
            }
            if let TurnEnd::Done = self.follow(&answer, signals).await? {
                return Ok(());
            }
        }
        Err(RunStopCause::TooManyTurns(most).into())
    }

    async fn follow(
        &mut self,
        answer: &AnswerFollowUp,
        signals: &RunSignals,
    ) -> Result<TurnEnd, RunHalt> {
        let (results, end) = RunTurn::new(self, signals).follow(answer).await?;
        self.request.messages.extend(results);
        Ok(end)
    }
}

impl Drop for AgentRun {
    fn drop(&mut self) {
        // Without a runtime the process is ending; the next one finds the run and goes on with it.
        let (false, Ok(runtime)) = (self.is_over, Handle::try_current()) else { return };
        let (gate, journal) = (self.runner.gate.clone(), self.journal.clone());
        let stop = if std::thread::panicking() {
            RunStopCause::Broken
        } else if self.suspend.is_cancelled() {
            return;
        } else {
            RunStopCause::Cancelled
        };
        runtime.spawn(async move {
            if let Err(error) = gate.cancel_run(journal.run()).await {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, "the calls of a dropped run could not be taken back");
            }
            let words = ClosingRecord { messages: Vec::new(), events: vec![stop.event()] };
            end_run(&journal, stop.end(), words).await;
        });
    }
}

pub(crate) async fn end_run(journal: &RunJournal, end: RunEnd, words: ClosingRecord) {
    if let Err(error) = journal.end(end, words.messages, words.events).await {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, run = %journal.run(), "the end of a run could not be recorded");
    }
}

/// The first line of a prompt, short enough for a list.
pub(crate) fn title(text: &str) -> String {
    const LONGEST: usize = 80;
    let line = text.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}
