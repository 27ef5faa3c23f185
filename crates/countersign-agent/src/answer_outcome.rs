//! The outcome of an answer: what its message does not say, kept beside it.

use countersign_core::{Execution, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::message::{MessageToolUse, ModelMessage};
use crate::model::AnswerStopReason;
use crate::reply::ModelReply;

/// How an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct AnswerOutcome {
    /// Why.
    stop_reason: Option<AnswerStopReason>,
    /// What it took.
    pub(crate) usage: TokenUsage,
    /// The calls whose input was not a whole JSON object: they must not run, now or later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<String>,
}

impl AnswerOutcome {
    pub(crate) fn from_reply(reply: &ModelReply) -> Self {
        let broken = reply.message.tool_uses().filter(|call| call.broken_input.is_some());
        Self {
            stop_reason: Some(reply.stop_reason.clone()),
            usage: TokenUsage {
                input_tokens: reply.usage.input_tokens
                    + reply.usage.cache_read_input_tokens
                    + reply.usage.cache_creation_input_tokens,
                output_tokens: reply.usage.output_tokens,
            },
            broken: broken.map(|call| call.id.clone()).collect(),
        }
    }

    /// Returns what is to be done about an answer that said this.
    pub(crate) fn into_follow_up(self, message: &ModelMessage) -> AnswerFollowUp {
        let mut calls: Vec<_> = message.tool_uses().cloned().collect();
        for call in calls.iter_mut().filter(|call| self.broken.contains(&call.id)) {
            call.broken_input.get_or_insert_default();
        }
        let stop_reason = self.stop_reason.unwrap_or(if calls.is_empty() {
            AnswerStopReason::EndTurn
        } else {
            AnswerStopReason::ToolUse
        });
        if stop_reason == AnswerStopReason::MaxTokens
            && let Some(last) = calls.last_mut()
            && last.input == json!({})
        {
            // Cut before its input began: that it has none is not what the model meant to say.
            last.broken_input.get_or_insert_default();
        }
        let calls = calls.into_iter().map(|call| UnansweredCall { call, stands: None }).collect();
        AnswerFollowUp { calls, stop_reason }
    }
}

/// What is to be done about an answer.
#[derive(Clone, Debug)]
pub(crate) struct AnswerFollowUp {
    /// The calls in it, in the model's order.
    pub(crate) calls: Vec<UnansweredCall>,
    /// Why it ended.
    pub(crate) stop_reason: AnswerStopReason,
}

/// A call that has no answer yet.
#[derive(Clone, Debug)]
pub(crate) struct UnansweredCall {
    pub(crate) call: MessageToolUse,
    /// How far an earlier driver of the run has come with it.
    pub(crate) stands: Option<Execution>,
}
