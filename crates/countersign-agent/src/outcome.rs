//! The outcome of an answer: what its message does not say, kept beside it.

use countersign_core::{Approval, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::message::{Message, ToolUse};
use crate::model::StopReason;
use crate::reply::Reply;

/// How an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Outcome {
    /// Why.
    stop_reason: Option<StopReason>,
    /// What it took.
    pub(crate) usage: Usage,
    /// The calls whose input was not a whole JSON object: they must not run, now or later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<String>,
}

impl Outcome {
    pub(crate) fn of(reply: &Reply) -> Self {
        let broken = reply.message.tool_uses().filter(|call| call.broken_input.is_some());
        Self {
            stop_reason: Some(reply.stop_reason.clone()),
            usage: Usage {
                input_tokens: reply.usage.input_tokens
                    + reply.usage.cache_read_input_tokens
                    + reply.usage.cache_creation_input_tokens,
                output_tokens: reply.usage.output_tokens,
            },
            broken: broken.map(|call| call.id.clone()).collect(),
        }
    }

    /// Returns what is to be done about an answer that said this.
    pub(crate) fn answer(self, message: &Message) -> Answer {
        let mut calls: Vec<_> = message.tool_uses().cloned().collect();
        for call in calls.iter_mut().filter(|call| self.broken.contains(&call.id)) {
            call.broken_input.get_or_insert_default();
        }
        let stop_reason = self.stop_reason.unwrap_or(if calls.is_empty() {
            StopReason::EndTurn
        } else {
            StopReason::ToolUse
        });
        if stop_reason == StopReason::MaxTokens
            && let Some(last) = calls.last_mut()
            && last.input == json!({})
        {
            // Cut before its input began: that it has none is not what the model meant to say.
            last.broken_input.get_or_insert_default();
        }
        let calls = calls.into_iter().map(|call| Open { call, stands: None }).collect();
        Answer { calls, stop_reason }
    }
}

/// What is to be done about an answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The calls in it, in the model's order.
    pub(crate) calls: Vec<Open>,
    /// Why it ended.
    pub(crate) stop_reason: StopReason,
}

/// A call that has no answer yet.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) call: ToolUse,
    /// How far an earlier driver of the run has come with it.
    pub(crate) stands: Option<Approval>,
}
