//! A scenario: what the scripted model answers, read strictly from TOML.
//!
//! [`file`] is the text as written, with everything optional; this is what it means, checked, so
//! that nothing can be wrong with it once it plays.

mod toml_format;

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use regex::Regex;
use secrecy::SecretString;

use super::template::{JsonTemplate, PlaceholderNames, TextTemplate, UnknownPlaceholder};
use crate::model::PartialAnswerUsage;

/// What the scripted model answers. See `docs/guide/scripted-model.md` for the format.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(super) name: String,
    pub(super) key: Option<SecretString>,
    // INVARIANT: each script has a turn, each turn a step, each `next` is at most the number of turns.
    pub(super) scripts: Vec<ScenarioScript>,
}

/// The answers to one kind of prompt.
#[derive(Clone, Debug)]
pub(super) struct ScenarioScript {
    pub(super) prompt: Option<Regex>,
    pub(super) system: Option<Regex>,
    pub(super) turns: Vec<ScriptTurn>,
}

/// One answer, or alternatives of which the first that fits is taken.
#[derive(Clone, Debug)]
pub(super) struct ScriptTurn {
    pub(super) steps: Vec<ScriptStep>,
}

/// One answer.
#[derive(Clone, Debug)]
pub(super) struct ScriptStep {
    pub(super) place: ScenarioPosition,
    pub(super) when: Option<ResultCondition>,
    pub(super) expect: Option<ResultCondition>,
    pub(super) think: Option<TextTemplate>,
    pub(super) say: Option<TextTemplate>,
    pub(super) calls: Vec<ScriptedCall>,
    /// The number of the turn that follows.
    pub(super) next: usize,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: PartialAnswerUsage,
    pub(super) manner: AnswerPacing,
    pub(super) fail: Option<ScriptedFailure>,
    pub(super) cut: Option<ScriptedDisconnect>,
}

/// How an answer comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerPacing {
    pub(super) delay: Duration,
    pub(super) pace: Duration,
    /// In characters.
    pub(super) chunk: NonZeroUsize,
}

/// A condition on the results of the calls before.
#[derive(Clone, Debug)]
pub(super) struct ResultCondition {
    pub(super) result: Option<Regex>,
    pub(super) is_error: Option<bool>,
    pub(super) count: Option<usize>,
}

/// A call of a tool, once or many times.
#[derive(Clone, Debug)]
pub(super) struct ScriptedCall {
    pub(super) tool: String,
    pub(super) input: JsonTemplate,
    pub(super) id: Option<TextTemplate>,
    pub(super) repeat: u32,
}

/// An error instead of an answer.
#[derive(Clone, Debug)]
pub(super) struct ScriptedFailure {
    pub(super) status: u16,
    pub(super) kind: String,
    pub(super) message: String,
    pub(super) retry_after: Option<u64>,
    pub(super) after_events: Option<usize>,
    pub(super) times: u32,
}

/// A connection that breaks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptedDisconnect {
    pub(super) after: DisconnectPoint,
    pub(super) times: u32,
}

/// Where a connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisconnectPoint {
    Bytes(usize),
    Events(usize),
}

/// A place in a scenario, counted from 1 for people.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScenarioPosition {
    script: usize,
    prompt: Option<String>,
    turn: usize,
    alternative: Option<usize>,
}

impl fmt::Display for ScenarioPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script {}", self.script)?;
        if let Some(prompt) = &self.prompt {
            write!(f, " (`{}`)", shorten(prompt, 40))?;
        }
        if self.turn > 0 {
            write!(f, ", turn {}", self.turn)?;
        }
        match self.alternative {
            Some(alternative) => write!(f, ", alternative {alternative}"),
            None => Ok(()),
        }
    }
}

/// Returns the beginning of a text, for an error.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Why a text is not a scenario.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// It is not TOML, or has keys or types that do not belong there.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// Something in it makes no sense.
    #[error("{place}: {problem}")]
    Mistake {
        /// Where.
        place: ScenarioPosition,
        /// What.
        problem: String,
    },
    /// There is nothing in it.
    #[error("a scenario needs at least one [[script]]")]
    Empty,
}

impl Scenario {
    /// Reads a scenario from TOML.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let toml_format::ScenarioToml { name, key, chunk, pace_ms, script } = toml::from_str(text)?;
        if script.is_empty() {
            return Err(ScenarioError::Empty);
        }
        let defaults = AnswerPacing {
            delay: Duration::ZERO,
            pace: Duration::from_millis(pace_ms),
            chunk: chunk.unwrap_or(DEFAULT_CHUNK),
        };
        let mut scripts = Vec::new();
        for (number, written) in (1..).zip(script) {
            let place = ScenarioPosition {
                script: number,
                prompt: written.prompt.clone(),
                turn: 0,
                alternative: None,
            };
            // The one before takes everything.
            if scripts.last().is_some_and(ScenarioScript::fits_always) {
                return Err(place.mistake("comes after a script that fits every prompt"));
            }
            scripts.push(ScenarioScript::resolve(written, &place, defaults)?);
        }
        let key = key.map(SecretString::from);
        Ok(Self { name: name.unwrap_or_else(|| "scripted".into()), key, scripts })
    }

    /// Returns the built-in scenario: a short tour of the product.
    pub fn demo() -> Result<Self, ScenarioError> {
        Self::parse(include_str!("demo.toml"))
    }

    /// Returns what the scenario is called.
    pub fn name(&self) -> &str {
        &self.name
    }
}

const DEFAULT_CHUNK: NonZeroUsize = NonZeroUsize::MIN.saturating_add(23);

impl ScenarioScript {
    fn fits_always(&self) -> bool {
        self.prompt.is_none() && self.system.is_none()
    }

    fn resolve(
        written: toml_format::ScriptToml,
        place: &ScenarioPosition,
        defaults: AnswerPacing,
    ) -> Result<Self, ScenarioError> {
        if written.turn.is_empty() {
            return Err(place.mistake("needs at least one [[script.turn]]"));
        }
        let prompt = pattern(written.prompt.as_deref(), "prompt", place)?;
        let system = pattern(written.system.as_deref(), "system", place)?;
        let around = ScriptContext {
            prompt: prompt.as_ref(),
            names: written.turn.iter().map(|turn| turn.name.clone()).collect(),
            defaults,
        };
        around.check_names(place)?;
        let mut turns = Vec::new();
        for (number, turn) in (1..).zip(written.turn) {
            turns.push(around.turn(turn, &ScenarioPosition { turn: number, ..place.clone() })?);
        }
        Ok(Self { prompt, system, turns })
    }
}

/// What a turn needs to know of its script.
struct ScriptContext<'a> {
    prompt: Option<&'a Regex>,
    /// The names of the turns.
    names: Vec<Option<String>>,
    defaults: AnswerPacing,
}

impl ScriptContext<'_> {
    fn check_names(&self, place: &ScenarioPosition) -> Result<(), ScenarioError> {
        for (index, name) in self.names.iter().enumerate() {
            if name.is_some() && self.names.iter().take(index).any(|other| other == name) {
                let name = name.as_deref().unwrap_or_default();
                return Err(place.mistake(format_args!("two turns are named `{name}`")));
            }
        }
        Ok(())
    }

    fn turn(
        &self,
        mut written: toml_format::TurnToml,
        place: &ScenarioPosition,
    ) -> Result<ScriptTurn, ScenarioError> {
        let alternatives = std::mem::take(&mut written.either);
        if alternatives.is_empty() {
            if written.when.is_some() {
                return Err(place.mistake("`when` belongs into an alternative of `either`"));
            }
            return Ok(ScriptTurn { steps: vec![self.step(written, place)?] });
        }
        if written
            != (toml_format::TurnToml {
                name: written.name.clone(),
                ..toml_format::TurnToml::default()
            })
        {
            return Err(place.mistake("`either` goes with nothing but `name`"));
        }
        let mut steps: Vec<ScriptStep> = Vec::new();
        for (number, written) in (1..).zip(alternatives) {
            let place = ScenarioPosition { alternative: Some(number), ..place.clone() };
            if written.name.is_some() || !written.either.is_empty() {
                return Err(place.mistake("an alternative has no `name` and no `either`"));
            }
            if steps.last().is_some_and(|step| step.when.is_none()) {
                return Err(place.mistake("comes after an alternative without `when`"));
            }
            steps.push(self.step(written, &place)?);
        }
        Ok(ScriptTurn { steps })
    }

    fn step(
        &self,
        written: toml_format::TurnToml,
        place: &ScenarioPosition,
    ) -> Result<ScriptStep, ScenarioError> {
        if written.say.is_none() && written.think.is_none() && written.call.is_none() {
            return Err(place.mistake("says nothing: it needs `say`, `think` or `call`"));
        }
        let when = written.when.map(|when| when.resolve("when", place)).transpose()?;
        let expect = written.expect.map(|expect| expect.resolve("expect", place)).transpose()?;
        let found = [&when, &expect].into_iter().flatten().filter_map(|it| it.result.as_ref());
        let names = PlaceholderNames::from_patterns(self.prompt, found);
        let template = |text: Option<String>| {
            text.map(|text| TextTemplate::parse(&text, &names)).transpose().map_err(place.unknown())
        };
        let calls = written.call.map(toml_format::CallListToml::into_vec).unwrap_or_default();
        let next = match &written.next {
            None => place.turn,
            Some(name) => self.named(name, place)?,
        };
        Ok(ScriptStep {
            when,
            expect,
            think: template(written.think)?,
            say: template(written.say)?,
            calls: calls
                .into_iter()
                .map(|call| call.resolve(&names, place))
                .collect::<Result<_, _>>()?,
            next,
            stop_reason: written.stop_reason,
            usage: written.usage.into(),
            manner: AnswerPacing {
                delay: Duration::from_millis(written.delay_ms),
                pace: written.pace_ms.map_or(self.defaults.pace, Duration::from_millis),
                chunk: written.chunk.unwrap_or(self.defaults.chunk),
            },
            fail: written.fail.map(toml_format::FailureToml::resolve),
            cut: written.cut.map(|cut| cut.resolve(place)).transpose()?,
            place: place.clone(),
        })
    }

    fn named(&self, name: &str, place: &ScenarioPosition) -> Result<usize, ScenarioError> {
        self.names.iter().position(|other| other.as_deref() == Some(name)).ok_or_else(|| {
            place.mistake(format_args!("`next` names `{name}`, which is not a turn of this script"))
        })
    }
}

impl ScenarioPosition {
    fn mistake(&self, problem: impl fmt::Display) -> ScenarioError {
        ScenarioError::Mistake { place: self.clone(), problem: problem.to_string() }
    }

    fn unknown(&self) -> impl Fn(UnknownPlaceholder) -> ScenarioError + '_ {
        |UnknownPlaceholder(name)| {
            self.mistake(format_args!("nothing gives a value to `{{{{{name}}}}}`"))
        }
    }
}

fn pattern(
    text: Option<&str>,
    key: &str,
    place: &ScenarioPosition,
) -> Result<Option<Regex>, ScenarioError> {
    text.map(Regex::new).transpose().map_err(|error| {
        place.mistake(format_args!("`{key}` is not a regular expression: {error}"))
    })
}

#[cfg(test)]
mod tests;
