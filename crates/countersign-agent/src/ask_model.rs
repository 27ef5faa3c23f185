//! Asks a model for one answer, and asks again when that may help.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use countersign_gate::Clock;
use futures_util::StreamExt;

use crate::message::MessageBlock;
use crate::model::{Model, ModelError, ModelRequest, ModelStreamEvent};
use crate::reply::{ModelReply, ReplyDraft};

/// What happens while an answer comes.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerProgress<'a> {
    /// More text.
    TextDelta(&'a str),
    /// More of a thought.
    ThinkingDelta(&'a str),
    /// More of a tool's input. The first one of a call is empty.
    ToolInput {
        /// The tool.
        name: &'a str,
        /// A piece of JSON text.
        json: &'a str,
    },
    /// This try failed and there will be another: what came in this try is void.
    Retry {
        /// The number of the try that comes next, from 2.
        attempt: u32,
        /// How long it will be until then.
        wait: Duration,
        /// Why.
        reason: &'a ModelError,
    },
}

/// Who is told of the progress.
pub type ProgressObserver<'a> = dyn FnMut(AnswerProgress<'_>) + Send + 'a;

/// How often and how fast to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetrySettings {
    /// The number of tries in all; 1 means never again.
    pub tries: u32,
    /// The wait before the second try. It doubles each time, and up to as much again is added.
    pub first_wait: Duration,
    /// The longest wait, also when the server asks for a longer one.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { tries: 6, first_wait: Duration::from_secs(1), longest_wait: Duration::from_mins(1) }
    }
}

/// Asks for one answer, streaming it into `draft`.
///
/// Asks again on what [`ModelError::is_retryable`] names, mid-answer too: no tool runs before an
/// answer is whole, so nothing happens twice. To cancel, drop the future; `draft` then holds what
/// has come of the last try, see [`ReplyDraft::interrupted_message`].
pub async fn ask_model(
    model: &dyn Model,
    request: &ModelRequest,
    retries: RetrySettings,
    clock: &dyn Clock,
    draft: &mut ReplyDraft,
    observer: &mut ProgressObserver<'_>,
) -> Result<ModelReply, ModelError> {
    let mut waits = retries.waits();
    let mut attempt = 1;
    loop {
        let error = match once(model, request, draft, observer).await {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let Some(wait) = waits.next().filter(|_| error.is_retryable()) else {
            return Err(error);
        };
        let wait = error.retry_after().map_or(wait, |asked| asked.max(wait));
        let wait = wait.min(retries.longest_wait);
        attempt += 1;
        tracing::warn!(model = model.name(), attempt, ?wait, code = error.code(), "asking again");
        observer(AnswerProgress::Retry { attempt, wait, reason: &error });
        clock.sleep(wait).await;
    }
}

impl RetrySettings {
    fn waits(self) -> impl Iterator<Item = Duration> {
        let times = usize::try_from(self.tries.saturating_sub(1)).unwrap_or(usize::MAX);
        ExponentialBuilder::new()
            .with_jitter()
            .with_factor(2.0)
            .with_min_delay(self.first_wait)
            .with_max_delay(self.longest_wait)
            .with_max_times(times)
            .build()
    }
}

/// One try.
async fn once(
    model: &dyn Model,
    request: &ModelRequest,
    draft: &mut ReplyDraft,
    observer: &mut ProgressObserver<'_>,
) -> Result<ModelReply, ModelError> {
    *draft = ReplyDraft::new();
    let mut events = model.stream(request).await?;
    while let Some(event) = events.next().await {
        let event = event?;
        tell(&event, draft, observer);
        draft.apply(event)?;
    }
    draft.finish()
}

fn tell(event: &ModelStreamEvent, draft: &ReplyDraft, observer: &mut ProgressObserver<'_>) {
    match event {
        ModelStreamEvent::TextDelta { text, .. } => observer(AnswerProgress::TextDelta(text)),
        ModelStreamEvent::ThinkingDelta { thinking, .. } => {
            observer(AnswerProgress::ThinkingDelta(thinking));
        }
        ModelStreamEvent::InputJsonDelta { index, json } => {
            if let Some(name) = draft.tool_name(*index) {
                observer(AnswerProgress::ToolInput { name, json });
            }
        }
        ModelStreamEvent::BlockStart { block, .. } => match block {
            MessageBlock::Text(text) if !text.text.is_empty() => {
                observer(AnswerProgress::TextDelta(&text.text));
            }
            MessageBlock::Thinking(thought) if !thought.thinking.is_empty() => {
                observer(AnswerProgress::ThinkingDelta(&thought.thinking));
            }
            MessageBlock::ToolUse(call) => {
                observer(AnswerProgress::ToolInput { name: &call.name, json: "" });
            }
            _ => {}
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests;
