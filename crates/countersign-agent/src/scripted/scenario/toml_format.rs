//! A scenario as it is written in TOML.

use std::num::NonZeroUsize;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::template::{JsonTemplate, PlaceholderNames, TextTemplate};
use super::{DisconnectPoint, ScenarioError, ScenarioPosition, pattern};
use crate::model::PartialAnswerUsage;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioToml {
    pub(super) name: Option<String>,
    pub(super) key: Option<String>,
    pub(super) chunk: Option<NonZeroUsize>,
    #[serde(default)]
    pub(super) pace_ms: u64,
    #[serde(default)]
    pub(super) script: Vec<ScriptToml>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptToml {
    pub(super) prompt: Option<String>,
    pub(super) system: Option<String>,
    #[serde(default)]
    pub(super) turn: Vec<TurnToml>,
}

/// A turn, or an alternative of one.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TurnToml {
    pub(super) name: Option<String>,
    pub(super) either: Vec<TurnToml>,
    pub(super) when: Option<ConditionToml>,
    pub(super) expect: Option<ConditionToml>,
    pub(super) think: Option<String>,
    pub(super) say: Option<String>,
    pub(super) call: Option<CallListToml>,
    pub(super) next: Option<String>,
    pub(super) stop_reason: Option<String>,
    pub(super) usage: UsageToml,
    pub(super) delay_ms: u64,
    pub(super) chunk: Option<NonZeroUsize>,
    pub(super) pace_ms: Option<u64>,
    pub(super) fail: Option<FailureToml>,
    pub(super) cut: Option<DisconnectToml>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionToml {
    result: Option<String>,
    is_error: Option<bool>,
    count: Option<usize>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a call is { tool = \"…\", input = { … }, id = \"…\", repeat = 1 }")]
pub(super) enum CallListToml {
    One(CallToml),
    Many(Vec<CallToml>),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallToml {
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
pub(super) struct UsageToml {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailureToml {
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
pub(super) struct DisconnectToml {
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

impl ConditionToml {
    pub(super) fn resolve(
        self,
        key: &str,
        place: &ScenarioPosition,
    ) -> Result<super::ResultCondition, ScenarioError> {
        let Self { result, is_error, count } = self;
        if result.is_none() && is_error.is_none() && count.is_none() {
            return Err(place.mistake(format_args!("`{key}` asks for nothing")));
        }
        let result = pattern(result.as_deref(), key, place)?;
        Ok(super::ResultCondition { result, is_error, count })
    }
}

impl CallListToml {
    pub(super) fn into_vec(self) -> Vec<CallToml> {
        match self {
            Self::One(call) => vec![call],
            Self::Many(calls) => calls,
        }
    }
}

impl CallToml {
    pub(super) fn resolve(
        self,
        names: &PlaceholderNames,
        place: &ScenarioPosition,
    ) -> Result<super::ScriptedCall, ScenarioError> {
        let Self { tool, input, id, repeat } = self;
        if id.as_ref().is_some_and(|id| repeat > 1 && !id.contains("{{i}}")) {
            return Err(place.mistake("a fixed `id` cannot repeat: put `{{i}}` into it"));
        }
        let input = JsonTemplate::parse(Value::Object(input), names).map_err(place.unknown())?;
        let id =
            id.map(|id| TextTemplate::parse(&id, names)).transpose().map_err(place.unknown())?;
        Ok(super::ScriptedCall { tool, input, id, repeat })
    }
}

impl FailureToml {
    pub(super) fn resolve(self) -> super::ScriptedFailure {
        let Self { status, kind, message, retry_after, after_events, times } = self;
        let kind = kind.unwrap_or_else(|| kind_of(status).to_owned());
        let message = message.unwrap_or_else(|| match kind.as_str() {
            "overloaded_error" => "Overloaded".to_owned(),
            _ => format!("The scenario fails here with status {status}"),
        });
        super::ScriptedFailure { status, kind, message, retry_after, after_events, times }
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

impl DisconnectToml {
    pub(super) fn resolve(
        self,
        place: &ScenarioPosition,
    ) -> Result<super::ScriptedDisconnect, ScenarioError> {
        let after = match (self.after_bytes, self.after_events) {
            (Some(bytes), None) => DisconnectPoint::Bytes(bytes),
            (None, Some(events)) => DisconnectPoint::Events(events),
            _ => return Err(place.mistake("`cut` needs `after_bytes` or `after_events`")),
        };
        Ok(super::ScriptedDisconnect { after, times: self.times })
    }
}

impl From<UsageToml> for PartialAnswerUsage {
    fn from(usage: UsageToml) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
        }
    }
}
