//! A turn: one answer of the model, and the answers to all calls in it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use countersign_core::{
    Approval, ApprovalId, Effect, Event, Failure, Invalid, Permit, Plan, Planner, Preview, Stance,
    ToolCall, ToolOutput, Usage,
};
use countersign_gate::{DecideError, News, Passage, StoreError, Submitted, Terms, new_id};
use countersign_tools::{Tool, ToolError};
use futures_util::future::join_all;
use serde_json::json;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::message::{Block, Message, ToolResult, ToolUse};
use crate::model::StopReason;
use crate::reply::{Draft, Reply};
use crate::respond::{Progress, respond};
use crate::runner::{Run, Stop, to_value};

const NOT_RUN: &str = "Interrupted: this was not run.";

/// How often a call that keeps moving under its approval is asked for again.
const ASK_AGAIN: usize = 3;

/// What came of running a call.
enum Ran {
    /// It has its answer.
    Done(ToolOutput),
    /// It would not have done what was approved, and did nothing.
    Moved { stale: ApprovalId, what: String },
}

/// What follows a turn.
pub(crate) enum TurnEnd {
    /// The model is to be asked again.
    GoOn,
    /// The model is done.
    Done,
}

/// One turn of a run.
pub(crate) struct Turn<'a> {
    run: &'a Run,
    cancel: &'a CancellationToken,
    /// Calls are handed in one by one, so that people see them in the model's order. Who waits at a
    /// Tokio mutex is served in the order they came.
    handing_in: Mutex<()>,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(run: &'a Run, cancel: &'a CancellationToken) -> Self {
        Self { run, cancel, handing_in: Mutex::new(()) }
    }

    /// Asks the model, runs what it calls, and records both.
    pub(crate) async fn take(self) -> Result<(Vec<Message>, TurnEnd, Usage), Stop> {
        let reply = self.ask_model().await?;
        let usage = Usage {
            input_tokens: reply.usage.input_tokens
                + reply.usage.cache_read_input_tokens
                + reply.usage.cache_creation_input_tokens,
            output_tokens: reply.usage.output_tokens,
        };
        let mut messages = Vec::new();
        if !reply.message.content.is_empty() {
            messages.push(reply.message.clone());
            self.record(&reply.message).await?;
        }
        let calls = calls_of(&reply);
        if calls.is_empty() {
            return Ok((messages, self.without_calls(&reply)?, usage));
        }
        messages.push(self.answer(&calls).await?);
        if self.cancel.is_cancelled() {
            Err(Stop::Cancelled)
        } else {
            Ok((messages, TurnEnd::GoOn, usage))
        }
    }

    fn without_calls(&self, reply: &Reply) -> Result<TurnEnd, Stop> {
        match &reply.stop_reason {
            StopReason::MaxTokens => Err(Stop::MaxTokens(self.run.request.max_tokens)),
            StopReason::Refusal => Err(Stop::Refusal),
            // The server paused a long answer; the same conversation goes on.
            StopReason::PauseTurn => Ok(TurnEnd::GoOn),
            _ => Ok(TurnEnd::Done),
        }
    }

    /// Streams one answer. Interrupted, what has come of it is recorded, its calls answered.
    async fn ask_model(&self) -> Result<Reply, Stop> {
        let runner = &self.run.runner;
        let journal = &self.run.journal;
        let mut draft = Draft::new();
        let mut is_void = false;
        let mut show = |progress: Progress<'_>| {
            // Until the next try brings something, the draft is what was just taken back.
            is_void = matches!(progress, Progress::Retry { .. });
            if let Some(news) = news_of(&progress) {
                journal.show(news);
            }
        };
        let clock = runner.gate.clock().as_ref();
        let answering = respond(
            runner.model.as_ref(),
            &self.run.request,
            runner.config.retries,
            clock,
            &mut draft,
            &mut show,
        );
        let answered = tokio::select! {
            // In this order: a run that was cancelled asks nothing more.
            biased;
            () = self.cancel.cancelled() => None,
            answered = answering => Some(answered),
        };
        if let Some(Ok(reply)) = answered {
            return Ok(reply);
        }
        if let Some(message) = draft.interrupted().filter(|_| !is_void) {
            self.record(&message).await?;
            let calls: Vec<_> = message.tool_uses().cloned().collect();
            self.leave_open(&calls).await?;
        }
        match answered {
            Some(Err(error)) => Err(error.into()),
            _ => Err(Stop::Cancelled),
        }
    }

    /// Records what the model said, and tells of it.
    async fn record(&self, message: &Message) -> Result<(), Stop> {
        let events = message.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(Event::Text { text: text.text.clone() }),
            Block::ToolUse(call) => Some(Event::ToolUse {
                id: call.id.as_str().into(),
                name: call.name.clone(),
                input: call.input.clone(),
            }),
            _ => None,
        });
        let events = events.collect();
        Ok(self.run.journal.record(vec![to_value(message)?], events).await?)
    }

    /// Answers calls that will not be made, because the answer they came in was broken off.
    async fn leave_open(&self, calls: &[ToolUse]) -> Result<(), Stop> {
        if calls.is_empty() {
            return Ok(());
        }
        let answers = calls.iter().map(|call| ToolResult::error(call.id.clone(), NOT_RUN));
        let message = Message::results(answers);
        let events = calls.iter().map(|call| Event::ToolResult {
            tool_use_id: call.id.as_str().into(),
            content: NOT_RUN.to_owned(),
            is_error: true,
        });
        let events = events.collect();
        Ok(self.run.journal.record(vec![to_value(&message)?], events).await?)
    }

    /// Takes all calls of one answer through the gate, and answers them in the model's order.
    ///
    /// They go side by side, except that calls that change the same file go one after the other:
    /// each is previewed on what the one before it left.
    async fn answer(&self, calls: &[ToolUse]) -> Result<Message, Stop> {
        let lanes = join_all(self.lanes(calls).await.into_iter().map(|lane| async move {
            let mut answers = Vec::with_capacity(lane.len());
            for (position, call) in lane {
                answers.push((position, self.call(call).await));
            }
            answers
        }));
        let mut answers: Vec<_> = lanes.await.into_iter().flatten().collect();
        answers.sort_by_key(|(position, _)| *position);
        let results = answers.into_iter().zip(calls).map(|((_, output), call)| {
            if output.is_error {
                ToolResult::error(call.id.clone(), output.content)
            } else {
                ToolResult::ok(call.id.clone(), output.content)
            }
        });
        let message = Message::results(results);
        self.run.journal.record(vec![to_value(&message)?], Vec::new()).await?;
        Ok(message)
    }

    /// Groups calls by the file they change; a call that changes none has a lane of its own.
    async fn lanes<'c>(&self, calls: &'c [ToolUse]) -> Vec<Vec<(usize, &'c ToolUse)>> {
        let mut lanes: Vec<Vec<_>> = Vec::new();
        let mut lane_of: HashMap<PathBuf, usize> = HashMap::new();
        for (position, call) in calls.iter().enumerate() {
            let Some(path) = self.changed_file(call).await else {
                lanes.push(vec![(position, call)]);
                continue;
            };
            let lane = *lane_of.entry(path).or_insert(lanes.len());
            match lanes.get_mut(lane) {
                Some(lane) => lane.push((position, call)),
                None => lanes.push(vec![(position, call)]),
            }
        }
        lanes
    }

    async fn changed_file(&self, call: &ToolUse) -> Option<PathBuf> {
        let planner = self.planner(call);
        let call = self.tool_call(call);
        let plan = tokio::task::spawn_blocking(move || planner.plan(&call)).await.ok()?.ok()?;
        // A command is not bound to the files it touches, so it need not wait for another.
        let bound = plan.commands.is_empty();
        plan.effects.into_iter().filter(|_| bound).find_map(|effect| match effect {
            Effect::Write(target) => Some(target.path),
            _ => None,
        })
    }

    /// One call: through the gate, run if it may, recorded whatever comes of it.
    ///
    /// What moved between the decision and the running is asked for again, a few times.
    async fn call(&self, call: &ToolUse) -> ToolOutput {
        let tool = self.run.runner.toolbox.get(&call.name);
        let terms = self.terms(call, tool).await;
        let mut passage = self.pass(call, &terms).await;
        for again in (0..=ASK_AGAIN).rev() {
            let ran = match passage {
                Ok(Passage::Refused(stands)) => {
                    return stands.answer().unwrap_or_else(not_recorded);
                }
                Ok(Passage::Permitted(permit)) => self.execute(*permit, tool, again > 0).await,
                Err(error) => {
                    let error: &dyn std::error::Error = &error;
                    tracing::error!(error, tool = call.name, "a call could not be recorded");
                    return not_recorded();
                }
            };
            passage = match ran {
                Ran::Done(output) => return output,
                Ran::Moved { stale, what } => self.pass_again(call, stale, what, &terms).await,
            };
        }
        not_recorded()
    }

    async fn terms(&self, call: &ToolUse, tool: Option<&Arc<dyn Tool>>) -> Terms {
        tokio::select! {
            biased;
            // Nobody has said yet that nobody need be asked.
            () = self.cancel.cancelled() => {
                Stance::ToolDecides { needs_approval: true }.into()
            }
            terms = self.run.runner.consent.terms(tool, &call.input) => terms,
        }
    }

    async fn pass(&self, call: &ToolUse, terms: &Terms) -> Result<Passage, StoreError> {
        let made = self.tool_call(call);
        let in_order = self.handing_in.lock().await;
        let submitted = self.run.runner.gate.submit(made, self.planner(call), terms).await?;
        drop(in_order);
        self.passage(submitted).await
    }

    async fn pass_again(
        &self,
        call: &ToolUse,
        stale: ApprovalId,
        what: String,
        terms: &Terms,
    ) -> Result<Passage, StoreError> {
        let gate = &self.run.runner.gate;
        let submitted = gate.ask_again(stale, what, self.planner(call), terms).await?;
        self.passage(submitted).await
    }

    async fn passage(&self, submitted: Submitted) -> Result<Passage, StoreError> {
        match submitted {
            Submitted::Permitted(permit) => Ok(Passage::Permitted(permit)),
            Submitted::Refused(approval) => Ok(Passage::Refused(approval)),
            Submitted::Waiting(asked) => self.admission(&asked).await,
        }
    }

    /// Waits for the decision, or takes the request back when the run is cancelled.
    async fn admission(&self, asked: &Approval) -> Result<Passage, StoreError> {
        let gate = &self.run.runner.gate;
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => gate.cancel(asked.id).await?,
            decided = gate.wait(asked.id) => drop(decided?),
            error = self.ask_program(asked) => return Err(error),
        }
        // Only now, where nothing can drop it half-way: it may start the call.
        gate.admission(asked.id).await
    }

    /// Puts a request before the program, if it is the program that decides.
    ///
    /// Returns only if the decision could not be recorded. What came of it is read from the gate,
    /// where the deadline may have been faster.
    async fn ask_program(&self, asked: &Approval) -> StoreError {
        let runner = &self.run.runner;
        if let Some(callback) = runner.consent.callback() {
            if let Some(reading) = &runner.reading {
                reading.reaches(asked.id).await;
            }
            let decision = callback.decide(asked).await;
            let seen = Some(asked.digest.clone());
            if let Err(DecideError::Store(error)) =
                runner.gate.decide(asked.id, decision, seen).await
            {
                return error;
            }
        }
        std::future::pending().await
    }

    async fn execute(
        &self,
        permit: Permit,
        tool: Option<&Arc<dyn Tool>>,
        may_ask_again: bool,
    ) -> Ran {
        let id = permit.approval();
        let outcome = match self.run_tool(permit, tool).await {
            Err(failure) if failure.error_type == "drift" && may_ask_again => {
                return Ran::Moved { stale: id, what: failure.error };
            }
            outcome => outcome,
        };
        let told = match &outcome {
            Ok(output) => output.clone(),
            Err(failure) => ToolOutput::error(failure.error.clone()),
        };
        Ran::Done(match self.run.runner.gate.finish(id, outcome).await {
            Ok(stands) => stands.answer().unwrap_or(told),
            Err(DecideError::AlreadySettled(stands)) => stands.0.answer().unwrap_or(told),
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::error!(error, approval = %id, "a result could not be recorded");
                told
            }
        })
    }

    async fn run_tool(
        &self,
        permit: Permit,
        tool: Option<&Arc<dyn Tool>>,
    ) -> Result<ToolOutput, Failure> {
        let Some(tool) = tool.cloned() else {
            // The planner of a missing tool refuses every call, so no permit can come of one.
            return Err(Failure {
                error_type: "unknown_tool".into(),
                error: "no such tool".into(),
            });
        };
        if self.cancel.is_cancelled() {
            return Err(Failure { error_type: "interrupted".into(), error: NOT_RUN.into() });
        }
        let cancel = self.cancel.clone();
        // On a task of its own: a tool that panics must not take the other calls along.
        let running = tokio::spawn(countersign_tools::run(tool, permit, cancel));
        let ran = AbortOnDropHandle::new(running).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a tool panicked");
            Err(ToolError::Broken)
        });
        ran.map_err(|error| failure(&error))
    }

    fn tool_call(&self, call: &ToolUse) -> ToolCall {
        let journal = &self.run.journal;
        ToolCall {
            id: new_id(),
            project: journal.project().clone(),
            session: journal.session().clone(),
            run: Some(journal.run()),
            tool_use_id: call.id.as_str().into(),
            tool_name: call.name.clone(),
            input: call.input.clone(),
            cwd: self.run.runner.config.cwd.clone(),
        }
    }

    /// Returns who plans a call: its tool, or one that refuses it with the reason.
    fn planner(&self, call: &ToolUse) -> Arc<dyn Planner> {
        let toolbox = &self.run.runner.toolbox;
        match (&call.broken_input, toolbox.get(&call.name)) {
            (Some(_), _) => Arc::new(Refuses(format!(
                "The input of `{}` was not a whole JSON object; send the call again",
                call.name
            ))),
            (None, Some(tool)) => tool.clone(),
            (None, None) => Arc::new(Refuses(format!(
                "Unknown tool: {}. There are: {}",
                call.name,
                toolbox.names().collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}

/// Returns the calls of an answer; the one that the end of the answer cut off counts as broken.
fn calls_of(reply: &Reply) -> Vec<ToolUse> {
    let mut calls: Vec<_> = reply.message.tool_uses().cloned().collect();
    if reply.stop_reason == StopReason::MaxTokens
        && let Some(last) = calls.last_mut()
        && last.input == json!({})
    {
        // Cut before its input began: that it has none is not what the model meant to say.
        last.broken_input.get_or_insert_default();
    }
    calls
}

fn news_of(progress: &Progress<'_>) -> Option<News> {
    match progress {
        Progress::TextDelta(text) => Some(News::TextDelta((*text).to_owned())),
        Progress::Retry { attempt, wait, reason } => Some(News::Retry {
            attempt: *attempt,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            reason: reason.to_string(),
        }),
        Progress::ThinkingDelta(_) | Progress::ToolInput { .. } => None,
    }
}

/// Plans nothing: for calls that cannot be made, so that they too go through the gate and its record.
struct Refuses(String);

impl Planner for Refuses {
    fn plan(&self, _: &ToolCall) -> Result<Plan, Invalid> {
        Err(Invalid(self.0.clone()))
    }

    fn preview(&self, _: &ToolCall) -> Result<Preview, Invalid> {
        Err(Invalid(self.0.clone()))
    }
}

fn failure(error: &ToolError) -> Failure {
    Failure { error_type: error.kind().to_owned(), error: error.to_string() }
}

fn not_recorded() -> ToolOutput {
    ToolOutput::error("The call could not be recorded, so it was not run")
}
