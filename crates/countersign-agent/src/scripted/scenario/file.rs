//! A scenario as it is written in TOML.

use std::num::NonZeroUsize;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::template::{Names, Shape, Template};
use super::{CutAfter, Place, ScenarioError, pattern};
use crate::model::PartialUsage;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: Option<String>,
    pub(super) key: Option<String>,
    pub(super) chunk: Option<NonZeroUsize>,
    #[serde(default)]
    pub(super) pace_ms: u64,
    #[serde(default)]
    pub(super) script: Vec<Script>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    pub(super) prompt: Option<String>,
    pub(super) system: Option<String>,
    #[serde(default)]
    pub(super) turn: Vec<Turn>,
}

/// A turn, or an alternative of one.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Turn {
    pub(super) name: Option<String>,
    pub(super) either: Vec<Turn>,
    pub(super) when: Option<Condition>,
    pub(super) expect: Option<Condition>,
    pub(super) think: Option<String>,
    pub(super) say: Option<String>,
    pub(super) call: Option<Calls>,
    pub(super) next: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Usage,
    pub(super) delay_ms: u64,
    pub(super) chunk: Option<NonZeroUsize>,
    pub(super) pace_ms: Option<u64>,
    pub(super) fail: Option<Fail>,
    pub(super) cut: Option<Cut>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Condition {
    result: Option<String>,
    is_error: Option<bool>,
    count: Option<usize>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a call is { tool = \"…\", input = { … }, id = \"…\", repeat = 1 }")]
pub(super) enum Calls {
    One(Call),
    Many(Vec<Call>),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    tool: String,
    #[serde(default)]
    input: Map<String, Value>,
    id: Option<String>,
    #[serde(default = "once")]
    repeat: u32,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "these are the API's names")]
pub(super) struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fail {
    #[serde(default = "overloaded")]
    status: u16,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
    retry_after: Option<u64>,
    after_events: Option<usize>,
    #[serde(default = "once")]
    times: u32,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cut {
    after_bytes: Option<usize>,
    after_events: Option<usize>,
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

fn overloaded() -> u16 {
    529
}

impl Condition {
    pub(super) fn resolve(
        self,
        key: &str,
        place: &Place,
    ) -> Result<super::Condition, ScenarioError> {
        let Self { result, is_error, count } = self;
        if result.is_none() && is_error.is_none() && count.is_none() {
            return Err(place.mistake(format_args!("`{key}` asks for nothing")));
        }
        let result = pattern(result.as_deref(), key, place)?;
        Ok(super::Condition { result, is_error, count })
    }
}

impl Calls {
    pub(super) fn into_vec(self) -> Vec<Call> {
        match self {
            Self::One(call) => vec![call],
            Self::Many(calls) => calls,
        }
    }
}

impl Call {
    pub(super) fn resolve(
        self,
        names: &Names,
        place: &Place,
    ) -> Result<super::Call, ScenarioError> {
        let Self { tool, input, id, repeat } = self;
        if id.as_ref().is_some_and(|id| repeat > 1 && !id.contains("{{i}}")) {
            return Err(place.mistake("a fixed `id` cannot repeat: put `{{i}}` into it"));
        }
        let input = Shape::parse(Value::Object(input), names).map_err(place.unknown())?;
        let id = id.map(|id| Template::parse(&id, names)).transpose().map_err(place.unknown())?;
        Ok(super::Call { tool, input, id, repeat })
    }
}

impl Fail {
    pub(super) fn resolve(self) -> super::Fail {
        let Self { status, kind, message, retry_after, after_events, times } = self;
        let kind = kind.unwrap_or_else(|| kind_of(status).to_owned());
        let message = message.unwrap_or_else(|| match kind.as_str() {
            "overloaded_error" => "Overloaded".to_owned(),
            _ => format!("The scenario fails here with status {status}"),
        });
        super::Fail { status, kind, message, retry_after, after_events, times }
    }
}

/// Returns the API's name for the error with this status.
fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

impl Cut {
    pub(super) fn resolve(self, place: &Place) -> Result<super::Cut, ScenarioError> {
        let after = match (self.after_bytes, self.after_events) {
            (Some(bytes), None) => CutAfter::Bytes(bytes),
            (None, Some(events)) => CutAfter::Events(events),
            _ => return Err(place.mistake("`cut` needs `after_bytes` or `after_events`")),
        };
        Ok(super::Cut { after, times: self.times })
    }
}

impl From<Usage> for PartialUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
        }
    }
}
