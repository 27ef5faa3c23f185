//! Puts the events of a streamed answer together: [`ReplyDraft`] while it comes, [`ModelReply`] when whole.
//!
//! Pure: knows neither the network nor the time.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::message::{MessageBlock, MessageToolUse, ModelMessage};
use crate::model::{AnswerStopReason, AnswerUsage, ModelError, ModelStreamEvent};

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// What the model said. May be empty; the API refuses an empty message on replay.
    pub message: ModelMessage,
    /// Why it ended.
    pub stop_reason: AnswerStopReason,
    /// What it cost.
    pub usage: AnswerUsage,
    /// The server's name for the answer.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
}

/// An answer that is still coming.
///
/// Belongs to the caller of [`ask_model`](crate::ask_model()), so that what has come is at hand when the
/// answer is interrupted.
#[derive(Clone, Debug, Default)]
pub struct ReplyDraft {
    id: Option<String>,
    model: Option<String>,
    parts: BTreeMap<u64, BlockDraft>,
    stop_reason: Option<AnswerStopReason>,
    usage: AnswerUsage,
    whole: bool,
}

/// A block that is still coming.
#[derive(Clone, Debug)]
struct BlockDraft {
    block: MessageBlock,
    /// The pieces of a tool's input, to be read when the block is whole.
    json: String,
    whole: bool,
}

impl ReplyDraft {
    /// Returns a draft to which nothing has come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: ModelStreamEvent) -> Result<(), ModelError> {
        match event {
            ModelStreamEvent::MessageStart { id, model, usage } => {
                (self.id, self.model) = (id, model);
                self.usage.update(usage);
            }
            ModelStreamEvent::BlockStart { index, block } => {
                self.parts.insert(index, BlockDraft { block, json: String::new(), whole: false });
            }
            ModelStreamEvent::BlockStop { index } => self.part(index)?.close(),
            ModelStreamEvent::TextDelta { index, text } => match &mut self.part(index)?.block {
                MessageBlock::Text(block) => block.text.push_str(&text),
                _ => return Err(misplaced("text", index)),
            },
            ModelStreamEvent::ThinkingDelta { index, thinking } => {
                match &mut self.part(index)?.block {
                    MessageBlock::Thinking(block) => block.thinking.push_str(&thinking),
                    _ => return Err(misplaced("thinking", index)),
                }
            }
            ModelStreamEvent::SignatureDelta { index, signature } => {
                match &mut self.part(index)?.block {
                    MessageBlock::Thinking(block) => {
                        block.signature.get_or_insert_default().push_str(&signature);
                    }
                    _ => return Err(misplaced("a signature", index)),
                }
            }
            ModelStreamEvent::InputJsonDelta { index, json } => {
                self.part(index)?.json.push_str(&json);
            }
            ModelStreamEvent::CitationsDelta { index, citation } => {
                self.part(index)?.cite(citation);
            }
            ModelStreamEvent::MessageDelta { stop_reason, usage } => {
                self.stop_reason = stop_reason.or(self.stop_reason.take());
                self.usage.update(usage);
            }
            ModelStreamEvent::MessageStop => {
                // Some servers leave the end of the last block out.
                self.parts.values_mut().for_each(BlockDraft::close);
                self.whole = true;
            }
            ModelStreamEvent::Ping | ModelStreamEvent::Unknown(_) => {}
        }
        Ok(())
    }

    /// Returns the answer, leaving the draft empty.
    ///
    /// An answer without its end is [`ModelError::CutOff`]; what has come of it stays in the draft.
    pub fn finish(&mut self) -> Result<ModelReply, ModelError> {
        if !self.whole {
            return Err(ModelError::CutOff);
        }
        let Self { id, model, parts, stop_reason, usage, whole: _ } = std::mem::take(self);
        let content: Vec<MessageBlock> =
            parts.into_values().map(|part| part.block).filter(|block| !is_blank(block)).collect();
        let message = ModelMessage::assistant(content);
        let stop_reason = stop_reason.unwrap_or_else(|| match message.tool_uses().next() {
            Some(_) => AnswerStopReason::ToolUse,
            None => AnswerStopReason::EndTurn,
        });
        Ok(ModelReply { message, stop_reason, usage, id, model })
    }

    /// Returns what has come so far as a message that the API accepts on replay, if there is any.
    ///
    /// Text is kept as far as it came; calls and thoughts only when whole. Who keeps the message
    /// has to answer the calls in it, if only with "interrupted".
    pub fn interrupted_message(&self) -> Option<ModelMessage> {
        let kept = self.parts.values().filter(|part| part.is_replayable());
        let mut content: Vec<MessageBlock> = kept.map(|part| part.block.clone()).collect();
        // A message must not end in a thought.
        while matches!(
            content.last(),
            Some(MessageBlock::Thinking(_) | MessageBlock::RedactedThinking(_))
        ) {
            content.pop();
        }
        (!content.is_empty()).then(|| ModelMessage::assistant(content))
    }

    /// Returns what the answer has cost so far.
    pub fn usage(&self) -> AnswerUsage {
        self.usage
    }

    /// Returns the name of the tool whose input comes in the block at `index`.
    pub(crate) fn tool_name(&self, index: u64) -> Option<&str> {
        match &self.parts.get(&index)?.block {
            MessageBlock::ToolUse(call) => Some(&call.name),
            _ => None,
        }
    }

    fn part(&mut self, index: u64) -> Result<&mut BlockDraft, ModelError> {
        self.parts
            .get_mut(&index)
            .ok_or_else(|| ModelError::protocol(format_args!("block {index} has no beginning")))
    }
}

impl BlockDraft {
    /// Marks the block as whole and reads the input that came in pieces.
    fn close(&mut self) {
        self.whole = true;
        match &mut self.block {
            MessageBlock::ToolUse(call) => read_input(call, &self.json),
            // A call the server makes itself: replayed, never run by us.
            MessageBlock::Other(Value::Object(fields)) if !self.json.is_empty() => {
                let input = serde_json::from_str(&self.json);
                fields.insert("input".into(), input.unwrap_or_else(|_| empty()));
            }
            _ => {}
        }
        self.json.clear();
    }

    fn cite(&mut self, citation: Value) {
        if let MessageBlock::Text(block) = &mut self.block {
            let citations = block.extra.entry("citations").or_insert(Value::Null);
            match citations {
                Value::Array(list) => list.push(citation),
                _ => *citations = Value::Array(vec![citation]),
            }
        }
    }

    fn is_replayable(&self) -> bool {
        match &self.block {
            MessageBlock::Text(_) => !is_blank(&self.block),
            MessageBlock::Thinking(thought) => {
                self.whole && thought.signature.as_ref().is_some_and(|seal| !seal.is_empty())
            }
            MessageBlock::RedactedThinking(_)
            | MessageBlock::ToolUse(_)
            | MessageBlock::ToolResult(_)
            | MessageBlock::Other(_) => self.whole,
        }
    }
}

/// Gives a call the input that came in pieces; none at all means the one it began with.
fn read_input(call: &mut MessageToolUse, json: &str) {
    let came = if json.trim().is_empty() {
        call.input.is_object().then(|| call.input.clone()).ok_or_else(|| call.input.to_string())
    } else {
        serde_json::from_str::<Value>(json)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| json.to_owned())
    };
    match came {
        Ok(input) => call.input = input,
        Err(text) => {
            call.input = empty();
            call.broken_input = Some(text);
        }
    }
}

fn empty() -> Value {
    Value::Object(Map::new())
}

/// Returns whether the API would refuse the block for having no text.
fn is_blank(block: &MessageBlock) -> bool {
    matches!(block, MessageBlock::Text(text) if text.text.trim().is_empty())
}

fn misplaced(what: &str, index: u64) -> ModelError {
    ModelError::protocol(format_args!("{what} came for block {index}, which is of another kind"))
}

#[cfg(test)]
mod tests;
