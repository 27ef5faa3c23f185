//! Plays a scenario: checks a request, finds its cue, counts failures, keeps the record.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::Value;
use uuid::Uuid;

use super::answer::Answer;
use super::asked::Asked;
use super::checks::{self, ApiError};
use super::cue::{self, Cue};
use super::perform::{Ending, Performance};
use super::recorded::{Recorded, RecordedRequest};
use super::scenario::{Fail, Place, Scenario, Step};

/// A scenario in play.
#[derive(Debug)]
pub(super) struct Player {
    scenario: Scenario,
    recorded: Recorded,
    /// How often each place has been come to.
    visits: Mutex<HashMap<Place, u32>>,
}

/// What comes of a request.
#[derive(Debug)]
pub(super) enum Played {
    Refused(ApiError),
    Answer(Performance),
}

impl Player {
    pub(super) fn new(scenario: Scenario) -> Self {
        Self { scenario, recorded: Recorded::default(), visits: Mutex::default() }
    }

    pub(super) fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// Returns whether a request with this key may ask.
    pub(super) fn admits(&self, key: Option<&str>) -> bool {
        self.scenario.key.as_ref().is_none_or(|wanted| key == Some(wanted.expose_secret()))
    }

    /// Answers a request.
    pub(super) fn play(&self, path: &str, body: Value, now: Timestamp) -> Played {
        let length = body.to_string().len();
        let (place, played) = self.decide(&body, length);
        let status = match &played {
            Played::Refused(error) => error.status,
            Played::Answer(_) => 200,
        };
        let (path, place) = (path.to_owned(), place.map(|place| place.to_string()));
        self.recorded.push(RecordedRequest { at: now, path, status, place, body }, length);
        played
    }

    fn decide(&self, body: &Value, length: usize) -> (Option<Place>, Played) {
        if let Err(error) = checks::check(body) {
            return (None, Played::Refused(error));
        }
        let asked = Asked::read(body);
        match cue::find(&self.scenario, &asked) {
            Err(problem) => {
                let message = format!("scenario `{}`: {problem}", self.scenario.name);
                tracing::warn!(%message, "the scenario has no answer");
                (None, Played::Refused(ApiError::invalid(message)))
            }
            Ok(cue) => (Some(cue.step.place.clone()), self.perform(&cue, &asked, body, length)),
        }
    }

    fn perform(&self, cue: &Cue<'_>, asked: &Asked, body: &Value, length: usize) -> Played {
        let step = cue.step;
        let ending = match self.fate(step) {
            Fate::Fail(fail) => match fail.after_events {
                None => return Played::Refused(fail.into()),
                Some(events) => Ending::Fail(events, fail.into()),
            },
            Fate::Cut(ending) => ending,
            Fate::Good => Ending::Whole,
        };
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
        let answer = Answer::say(cue, model, asked.offers_tools, length, &mut new_id);
        Played::Answer(Performance {
            delay: step.manner.delay,
            pace: step.manner.pace,
            events: answer.events(step.manner.chunk.get()),
            whole: answer.whole(),
            ending,
        })
    }

    /// Counts the visit to a step and returns what becomes of it: it fails first, then it is cut.
    fn fate<'s>(&self, step: &'s Step) -> Fate<'s> {
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        let visits = visits.entry(step.place.clone()).or_default();
        let before = *visits;
        *visits = visits.saturating_add(1);
        let fails = step.fail.as_ref().map_or(0, |fail| fail.times);
        let cuts = step.cut.map_or(0, |cut| cut.times);
        match (&step.fail, step.cut) {
            (Some(fail), _) if before < fails => Fate::Fail(fail),
            (_, Some(cut)) if before < fails.saturating_add(cuts) => {
                Fate::Cut(Ending::Cut(cut.after))
            }
            _ => Fate::Good,
        }
    }
}

/// What becomes of a visit to a step.
enum Fate<'s> {
    Good,
    Fail(&'s Fail),
    Cut(Ending),
}

impl From<&Fail> for ApiError {
    fn from(fail: &Fail) -> Self {
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
