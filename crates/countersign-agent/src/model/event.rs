//! The events of one streamed answer, typed.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{ApiErrorDetails, ModelError};
use crate::message::MessageBlock;

/// A step of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelStreamEvent {
    /// The answer begins.
    MessageStart {
        /// The server's name for the answer.
        id: Option<String>,
        /// The model that answers.
        model: Option<String>,
        /// What the request cost.
        usage: PartialAnswerUsage,
    },
    /// A block begins. It may be whole already.
    BlockStart {
        /// Its place in the message.
        index: u64,
        /// What is known of it.
        block: MessageBlock,
    },
    /// More text.
    TextDelta {
        /// The block.
        index: u64,
        /// The text to add.
        text: String,
    },
    /// More of a thought.
    ThinkingDelta {
        /// The block.
        index: u64,
        /// The text to add.
        thinking: String,
    },
    /// The seal of a thought.
    SignatureDelta {
        /// The block.
        index: u64,
        /// The text to add.
        signature: String,
    },
    /// More of a tool's input, as a piece of JSON text.
    InputJsonDelta {
        /// The block.
        index: u64,
        /// The text to add.
        json: String,
    },
    /// A source for a text.
    CitationsDelta {
        /// The block.
        index: u64,
        /// The citation to add.
        citation: Value,
    },
    /// A block is whole.
    BlockStop {
        /// The block.
        index: u64,
    },
    /// Why the answer ends, and what it cost so far.
    MessageDelta {
        /// Why it ends.
        stop_reason: Option<AnswerStopReason>,
        /// Totals up to here, not additions.
        usage: PartialAnswerUsage,
    },
    /// The answer is whole.
    MessageStop,
    /// A sign of life.
    Ping,
    /// An event, or a kind of delta, that this version does not know.
    Unknown(Value),
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnswerStopReason {
    /// The model had said all.
    EndTurn,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The answer reached its longest length.
    MaxTokens,
    /// The answer reached a stop sequence.
    StopSequence,
    /// A long turn pauses; the same conversation goes on.
    PauseTurn,
    /// The model declines.
    Refusal,
    /// Another one, by the API's name.
    Other(String),
}

impl AnswerStopReason {
    /// Returns the API's name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for AnswerStopReason {
    fn from(name: &str) -> Self {
        match name {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Serialize for AnswerStopReason {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for AnswerStopReason {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|name| Self::from(name.as_str()))
    }
}

/// What an answer cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerUsage {
    /// Read at the full price.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Read into the cache.
    pub cache_creation_input_tokens: u64,
    /// Read from the cache.
    pub cache_read_input_tokens: u64,
}

/// What one event says about the cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PartialAnswerUsage {
    /// Read at the full price.
    pub input_tokens: Option<u64>,
    /// Written.
    pub output_tokens: Option<u64>,
    /// Read into the cache.
    pub cache_creation_input_tokens: Option<u64>,
    /// Read from the cache.
    pub cache_read_input_tokens: Option<u64>,
}

impl AnswerUsage {
    /// Takes over what an event says; what it leaves out stays.
    pub fn update(&mut self, partial: PartialAnswerUsage) {
        let take = |total: &mut u64, said: Option<u64>| *total = said.unwrap_or(*total);
        take(&mut self.input_tokens, partial.input_tokens);
        take(&mut self.output_tokens, partial.output_tokens);
        take(&mut self.cache_creation_input_tokens, partial.cache_creation_input_tokens);
        take(&mut self.cache_read_input_tokens, partial.cache_read_input_tokens);
    }
}

impl ModelStreamEvent {
    /// Reads the data of one server-sent event.
    ///
    /// An `error` event is an error.
    pub fn parse(data: &str) -> Result<Self, ModelError> {
        let value = serde_json::from_str(data).map_err(ModelError::protocol)?;
        Self::from_json(value)
    }

    /// Reads one event from its JSON.
    pub(crate) fn from_json(value: Value) -> Result<Self, ModelError> {
        let wire = WireEvent::deserialize(&value).map_err(ModelError::protocol)?;
        Ok(match wire {
            WireEvent::MessageStart { message } => Self::MessageStart {
                id: message.id,
                model: message.model,
                usage: message.usage.unwrap_or_default(),
            },
            WireEvent::ContentBlockStart { index, content_block } => {
                Self::BlockStart { index, block: content_block }
            }
            WireEvent::ContentBlockDelta { index, delta } => match delta {
                WireDelta::TextDelta { text } => Self::TextDelta { index, text },
                WireDelta::ThinkingDelta { thinking } => Self::ThinkingDelta { index, thinking },
                WireDelta::SignatureDelta { signature } => {
                    Self::SignatureDelta { index, signature }
                }
                WireDelta::InputJsonDelta { partial_json } => {
                    Self::InputJsonDelta { index, json: partial_json }
                }
                WireDelta::CitationsDelta { citation } => Self::CitationsDelta { index, citation },
                WireDelta::Unknown => Self::Unknown(value),
            },
            WireEvent::ContentBlockStop { index } => Self::BlockStop { index },
            WireEvent::MessageDelta { delta, usage } => Self::MessageDelta {
                stop_reason: delta.stop_reason,
                usage: usage.unwrap_or_default(),
            },
            WireEvent::MessageStop => Self::MessageStop,
            WireEvent::Ping => Self::Ping,
            WireEvent::Error { error } => return Err(error.into()),
            WireEvent::Unknown => Self::Unknown(value),
        })
    }

    /// Turns a whole answer, as it comes when it was not streamed, into events.
    #[cfg(feature = "anthropic")]
    pub(crate) fn from_whole_answer(answer: Value) -> Result<Vec<Self>, ModelError> {
        let answer = WholeAnswer::deserialize(answer).map_err(ModelError::protocol)?;
        let WholeAnswer { id, model, content, stop_reason, usage } = answer;
        let usage = usage.unwrap_or_default();
        let mut events = vec![Self::MessageStart { id, model, usage }];
        for (index, block) in (0..).zip(content) {
            events.push(Self::BlockStart { index, block });
            events.push(Self::BlockStop { index });
        }
        events.push(Self::MessageDelta { stop_reason, usage });
        events.push(Self::MessageStop);
        Ok(events)
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireEvent {
    MessageStart {
        message: WireMessage,
    },
    ContentBlockStart {
        index: u64,
        content_block: MessageBlock,
    },
    ContentBlockDelta {
        index: u64,
        delta: WireDelta,
    },
    ContentBlockStop {
        index: u64,
    },
    MessageDelta {
        #[serde(default)]
        delta: WireStopDelta,
        usage: Option<PartialAnswerUsage>,
    },
    MessageStop,
    Ping,
    Error {
        error: WireError,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct WireMessage {
    id: Option<String>,
    model: Option<String>,
    usage: Option<PartialAnswerUsage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    CitationsDelta {
        citation: Value,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Default, Deserialize)]
struct WireStopDelta {
    stop_reason: Option<AnswerStopReason>,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

impl From<WireError> for ModelError {
    fn from(WireError { kind, message }: WireError) -> Self {
        ApiErrorDetails { kind, message, ..ApiErrorDetails::default() }.into()
    }
}

#[cfg(feature = "anthropic")]
#[derive(Deserialize)]
struct WholeAnswer {
    id: Option<String>,
    model: Option<String>,
    content: Vec<MessageBlock>,
    stop_reason: Option<AnswerStopReason>,
    usage: Option<PartialAnswerUsage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_error() {
        let event = r#"{"type":"new_thing","x":1}"#;
        assert!(matches!(ModelStreamEvent::parse(event), Ok(ModelStreamEvent::Unknown(_))));
        let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}"#;
        assert!(matches!(ModelStreamEvent::parse(delta), Ok(ModelStreamEvent::Unknown(_))));
    }

    #[test]
    fn an_error_event_is_an_error() {
        let event =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(
            ModelStreamEvent::parse(event),
            Err(ModelError::Overloaded { retry_after: None })
        );
    }

    #[test]
    fn totals_replace_and_gaps_stay() {
        let mut usage =
            AnswerUsage { input_tokens: 10, output_tokens: 1, ..AnswerUsage::default() };
        usage.update(PartialAnswerUsage {
            output_tokens: Some(42),
            ..PartialAnswerUsage::default()
        });
        assert_eq!(
            usage,
            AnswerUsage { input_tokens: 10, output_tokens: 42, ..AnswerUsage::default() }
        );
    }

    #[test]
    fn garbage_is_a_protocol_error() {
        for garbage in ["", "null", "[1]", r#"{"type":"content_block_start"}"#, "{\"type\":3}"] {
            assert_eq!(
                ModelStreamEvent::parse(garbage).unwrap_err().code(),
                "protocol",
                "{garbage}"
            );
        }
    }
}
