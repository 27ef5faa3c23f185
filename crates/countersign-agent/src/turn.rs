//! A turn: one answer of the model, and the answers to all calls in it.

use std::collections::HashMap;
use std::path::PathBuf;

use countersign_core::{Effect, Event};
use countersign_gate::{ACTIVITY, LiveEvent, NewRunMessage};
use futures_util::future::join_all;
use tokio::sync::Mutex;

use crate::answer_outcome::{AnswerFollowUp, AnswerOutcome, UnansweredCall};
use crate::ask_model::{AnswerProgress, ask_model};
use crate::message::{MessageBlock, MessageToolResult, MessageToolUse, ModelMessage, to_value};
use crate::model::AnswerStopReason;
use crate::rehearsal::HeldRehearsals;
use crate::reply::ReplyDraft;
use crate::result_pairing::ensure_paired;
use crate::runner::{AgentRun, RunSignals};
use crate::stop::{ClosingRecord, RunHalt, RunStopCause};

pub(crate) const NOT_RUN: &str = "Interrupted: this was not run.";

/// What follows a turn.
pub(crate) enum TurnEnd {
    /// The model is to be asked again.
    GoOn,
    /// The model is done.
    Done,
}

/// One turn of a run.
pub(crate) struct RunTurn<'a> {
    pub(crate) run: &'a AgentRun,
    pub(crate) signals: &'a RunSignals,
    /// Calls are handed in one by one, so that people see them in the model's order. Who waits at a
    /// Tokio mutex is served in the order they came.
    pub(crate) handing_in: Mutex<()>,
    pub(crate) rehearsals: HeldRehearsals,
}

impl<'a> RunTurn<'a> {
    pub(crate) fn new(run: &'a AgentRun, signals: &'a RunSignals) -> Self {
        Self { run, signals, handing_in: Mutex::new(()), rehearsals: HeldRehearsals::default() }
    }

    /// Asks the model and records what it says.
    pub(crate) async fn ask(&self) -> Result<(ModelMessage, AnswerOutcome), RunHalt> {
        let runner = &self.run.runner;
        let journal = &self.run.journal;
        let mut draft = ReplyDraft::new();
        let mut is_void = false;
        let mut show = |progress: AnswerProgress<'_>| {
            // Until the next try brings something, the draft is what was just taken back.
            is_void = matches!(progress, AnswerProgress::Retry { .. });
            if let Some(news) = news_of(&progress) {
                journal.show_live(news);
            }
        };
        let clock = runner.gate.clock().as_ref();
        let request = ensure_paired(&self.run.request);
        let answering = ask_model(
            runner.model.as_ref(),
            &request,
            runner.config.retries,
            clock,
            &mut draft,
            &mut show,
        );
        let answered = tokio::select! {
            // In this order: a run that was cancelled asks nothing more.
            biased;
            () = self.signals.cancel.cancelled() => Err(RunStopCause::Cancelled),
            // Nothing has come of it yet: whoever goes on asks again.
            () = self.signals.suspend.cancelled() => return Err(RunHalt::Suspended),
            answered = answering => answered.map_err(RunStopCause::from),
        };
        match answered {
            Ok(reply) => {
                tracing::info!(
                    target: ACTIVITY,
                    run_id = %self.run.id(),
                    stop_reason = reply.stop_reason.as_str(),
                    input_tokens = reply.usage.input_tokens,
                    output_tokens = reply.usage.output_tokens,
                    "model answered"
                );
                let outcome = AnswerOutcome::from_reply(&reply);
                self.record(&reply.message, &outcome).await?;
                Ok((reply.message, outcome))
            }
            Err(stop) => Err(match draft.interrupted_message().filter(|_| !is_void) {
                Some(message) => RunHalt::Over(stop, broken_off(&message)?),
                None => stop.into(),
            }),
        }
    }

    /// Records what the model said, and tells of it. The API refuses a message without content.
    async fn record(
        &self,
        message: &ModelMessage,
        outcome: &AnswerOutcome,
    ) -> Result<(), RunStopCause> {
        if message.content.is_empty() {
            return Ok(());
        }
        let said = NewRunMessage { body: to_value(message)?, outcome: Some(to_value(outcome)?) };
        Ok(self.run.journal.record(vec![said], events_from_message(message)).await?)
    }

    /// Does what an answer asks for. Returns the answers to its calls, if there are any.
    pub(crate) async fn follow(
        &self,
        answer: &AnswerFollowUp,
    ) -> Result<(Option<ModelMessage>, TurnEnd), RunHalt> {
        if answer.calls.is_empty() {
            return Ok((None, self.without_calls(&answer.stop_reason)?));
        }
        let results = self.answer(&answer.calls).await?;
        Ok((Some(results), TurnEnd::GoOn))
    }

    fn without_calls(&self, stop_reason: &AnswerStopReason) -> Result<TurnEnd, RunStopCause> {
        match stop_reason {
            AnswerStopReason::MaxTokens => {
                Err(RunStopCause::MaxTokens(self.run.request.max_tokens))
            }
            AnswerStopReason::Refusal => Err(RunStopCause::Refusal),
            // The server paused a long answer; the same conversation goes on.
            AnswerStopReason::PauseTurn => Ok(TurnEnd::GoOn),
            _ => Ok(TurnEnd::Done),
        }
    }

    /// Takes all calls of one answer through the gate, and answers them in the model's order.
    ///
    /// They go side by side, except that calls that change the same file go one after the other:
    /// each is previewed on what the one before it left.
    async fn answer(&self, calls: &[UnansweredCall]) -> Result<ModelMessage, RunHalt> {
        let lanes = join_all(self.lanes(calls).await.into_iter().map(|lane| async move {
            let mut answers = Vec::with_capacity(lane.len());
            for (position, open) in lane {
                answers.push((position, Box::pin(self.answer_call(open)).await));
            }
            answers
        }));
        let mut answers: Vec<_> = lanes.await.into_iter().flatten().collect();
        answers.sort_by_key(|(position, _)| *position);
        let results = answers.into_iter().zip(calls).map(|((_, output), open)| {
            let (id, output) = (open.call.id.clone(), output?);
            Some(MessageToolResult::from_output(id, output))
        });
        // What was answered stands in the record, also where some were not.
        let results: Option<Vec<_>> = results.collect();
        let message = ModelMessage::results(results.ok_or(RunHalt::Suspended)?);
        let messages = vec![to_value(&message)?.into()];
        if self.signals.cancel.is_cancelled() {
            return Err(RunHalt::Over(
                RunStopCause::Cancelled,
                ClosingRecord { messages, events: Vec::new() },
            ));
        }
        self.run.journal.record(messages, Vec::new()).await?;
        Ok(message)
    }

    /// Groups calls by the file they change; a call that changes none has a lane of its own.
    async fn lanes<'c>(
        &self,
        calls: &'c [UnansweredCall],
    ) -> Vec<Vec<(usize, &'c UnansweredCall)>> {
        let mut lanes: Vec<Vec<_>> = Vec::new();
        let mut lane_of: HashMap<PathBuf, usize> = HashMap::new();
        for (position, open) in calls.iter().enumerate() {
            let Some(path) = self.changed_file(&open.call).await else {
                lanes.push(vec![(position, open)]);
                continue;
            };
            let lane = *lane_of.entry(path).or_insert(lanes.len());
            match lanes.get_mut(lane) {
                Some(lane) => lane.push((position, open)),
                None => lanes.push(vec![(position, open)]),
            }
        }
        lanes
    }

    async fn changed_file(&self, call: &MessageToolUse) -> Option<PathBuf> {
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
}

/// Returns the last words of a run whose answer was broken off: what came of it, its calls answered.
fn broken_off(message: &ModelMessage) -> Result<ClosingRecord, RunStopCause> {
    let mut words = ClosingRecord {
        messages: vec![to_value(message)?.into()],
        events: events_from_message(message),
    };
    let calls: Vec<_> = message.tool_uses().map(|call| call.id.as_str()).collect();
    if !calls.is_empty() {
        let answers = calls.iter().map(|id| MessageToolResult::error(*id, NOT_RUN));
        words.messages.push(to_value(&ModelMessage::results(answers))?.into());
        words.events.extend(calls.iter().map(|id| Event::ToolResult {
            tool_use_id: (*id).into(),
            content: NOT_RUN.to_owned(),
            is_error: true,
        }));
    }
    Ok(words)
}

/// Returns what tells of a message of the model.
fn events_from_message(message: &ModelMessage) -> Vec<Event> {
    let events = message.content.iter().filter_map(|block| match block {
        MessageBlock::Text(text) => Some(Event::Text { text: text.text.clone() }),
        MessageBlock::ToolUse(call) => Some(Event::ToolUse {
            id: call.id.as_str().into(),
            name: call.name.clone(),
            input: call.input.clone(),
            agent: None,
        }),
        _ => None,
    });
    events.collect()
}

fn news_of(progress: &AnswerProgress<'_>) -> Option<LiveEvent> {
    match progress {
        AnswerProgress::TextDelta(text) => Some(LiveEvent::TextDelta((*text).to_owned())),
        AnswerProgress::Retry { attempt, wait, reason } => Some(LiveEvent::Retry {
            attempt: *attempt,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            reason: reason.to_string(),
        }),
        AnswerProgress::ThinkingDelta(_) | AnswerProgress::ToolInput { .. } => None,
    }
}
