//! Plays a scenario: checks a request, finds its cue, counts failures, keeps the record.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::Value;
use uuid::Uuid;

use super::answer::ScriptedAnswer;
use super::checks::{self, ScriptedApiError};
use super::paced_stream::{AnswerEnding, PacedAnswer};
use super::request_log::{RecordedRequest, RequestLog};
use super::request_summary::RequestSummary;
use super::scenario::{Scenario, ScenarioPosition, ScriptStep, ScriptedFailure};
use super::step_lookup::{self, StepMatch};

/// A scenario in play.
#[derive(Debug)]
pub(super) struct ScenarioPlayer {
    scenario: Scenario,
    recorded: RequestLog,
    /// How often each place has been come to.
    visits: Mutex<HashMap<ScenarioPosition, u32>>,
}

/// What comes of a request.
#[derive(Debug)]
pub(super) enum ScenarioResponse {
    Refused(ScriptedApiError),
    Answer(PacedAnswer),
}

impl ScenarioPlayer {
    pub(super) fn new(scenario: Scenario) -> Self {
        Self { scenario, recorded: RequestLog::default(), visits: Mutex::default() }
    }

    pub(super) fn recorded(&self) -> &RequestLog {
        &self.recorded
    }

    /// Returns whether a request with this key may ask.
    pub(super) fn admits(&self, key: Option<&str>) -> bool {
        self.scenario.key.as_ref().is_none_or(|wanted| key == Some(wanted.expose_secret()))
    }

    /// Answers a request.
    pub(super) fn play(&self, path: &str, body: Value, now: Timestamp) -> ScenarioResponse {
        let length = body.to_string().len();
        let (place, played) = self.decide(&body, length);
        let status = match &played {
            ScenarioResponse::Refused(error) => error.status,
            ScenarioResponse::Answer(_) => 200,
        };
        let (path, place) = (path.to_owned(), place.map(|place| place.to_string()));
        self.recorded.push(RecordedRequest { at: now, path, status, place, body }, length);
        played
    }

    fn decide(&self, body: &Value, length: usize) -> (Option<ScenarioPosition>, ScenarioResponse) {
        if let Err(error) = checks::check(body) {
            return (None, ScenarioResponse::Refused(error));
        }
        let asked = RequestSummary::read(body);
        match step_lookup::find(&self.scenario, &asked) {
            Err(problem) => {
                let message = format!("scenario `{}`: {problem}", self.scenario.name);
                tracing::warn!(%message, "the scenario has no answer");
                (None, ScenarioResponse::Refused(ScriptedApiError::invalid(message)))
            }
            Ok(cue) => (Some(cue.step.place.clone()), self.perform(&cue, &asked, body, length)),
        }
    }

    fn perform(
        &self,
        cue: &StepMatch<'_>,
        asked: &RequestSummary,
        body: &Value,
        length: usize,
    ) -> ScenarioResponse {
        let step = cue.step;
        let ending = match self.fate(step) {
            VisitOutcome::Fail(fail) => match fail.after_events {
                None => return ScenarioResponse::Refused(fail.into()),
                Some(events) => AnswerEnding::Fail(events, fail.into()),
            },
            VisitOutcome::Cut(ending) => ending,
            VisitOutcome::Good => AnswerEnding::Whole,
        };
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
        let answer = ScriptedAnswer::from_step(cue, model, asked.offers_tools, length, &mut new_id);
        ScenarioResponse::Answer(PacedAnswer {
            delay: step.manner.delay,
            pace: step.manner.pace,
            events: answer.events(step.manner.chunk.get()),
            whole: answer.whole(),
            ending,
        })
    }

    /// Counts the visit to a step and returns what becomes of it: it fails first, then it is cut.
    fn fate<'s>(&self, step: &'s ScriptStep) -> VisitOutcome<'s> {
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        let visits = visits.entry(step.place.clone()).or_default();
        let before = *visits;
        *visits = visits.saturating_add(1);
        let fails = step.fail.as_ref().map_or(0, |fail| fail.times);
        let cuts = step.cut.map_or(0, |cut| cut.times);
        match (&step.fail, step.cut) {
            (Some(fail), _) if before < fails => VisitOutcome::Fail(fail),
            (_, Some(cut)) if before < fails.saturating_add(cuts) => {
                VisitOutcome::Cut(AnswerEnding::Cut(cut.after))
            }
            _ => VisitOutcome::Good,
        }
    }
}

/// What becomes of a visit to a step.
enum VisitOutcome<'s> {
    Good,
    Fail(&'s ScriptedFailure),
    Cut(AnswerEnding),
}

impl From<&ScriptedFailure> for ScriptedApiError {
    fn from(fail: &ScriptedFailure) -> Self {
        Self {
            status: fail.status,
            kind: fail.kind.clone(),
            message: fail.message.clone(),
            retry_after: fail.retry_after,
        }
    }
}

fn new_id(kind: &str) -> String {
    format!("{kind}_{}", Uuid::now_v7().simple())
}
