//! Asks a model for one answer, and asks again when that may help.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use countersign_gate::Clock;
use futures_util::StreamExt;

use crate::message::Block;
use crate::model::{Model, ModelError, Request, StreamEvent};
use crate::reply::{Draft, Reply};

/// What happens while an answer comes.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress<'a> {
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
pub type Observer<'a> = dyn FnMut(Progress<'_>) + Send + 'a;

/// How often and how fast to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// The number of tries in all; 1 means never again.
    pub tries: u32,
    /// The wait before the second try. It doubles each time, and up to as much again is added.
    pub first_wait: Duration,
    /// The longest wait, also when the server asks for a longer one.
    pub longest_wait: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { tries: 6, first_wait: Duration::from_secs(1), longest_wait: Duration::from_mins(1) }
    }
}

/// Asks for one answer, streaming it into `draft`.
///
/// Asks again on what [`ModelError::is_retryable`] names, mid-answer too: no tool runs before an
/// answer is whole, so nothing happens twice. To cancel, drop the future; `draft` then holds what
/// has come of the last try, see [`Draft::interrupted`].
pub async fn respond(
    model: &dyn Model,
    request: &Request,
    retries: Retries,
    clock: &dyn Clock,
    draft: &mut Draft,
    observer: &mut Observer<'_>,
) -> Result<Reply, ModelError> {
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
        observer(Progress::Retry { attempt, wait, reason: &error });
        clock.sleep(wait).await;
    }
}

impl Retries {
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
    request: &Request,
    draft: &mut Draft,
    observer: &mut Observer<'_>,
) -> Result<Reply, ModelError> {
    *draft = Draft::new();
    let mut events = model.stream(request).await?;
    while let Some(event) = events.next().await {
        let event = event?;
        tell(&event, draft, observer);
        draft.apply(event)?;
    }
    draft.finish()
}

fn tell(event: &StreamEvent, draft: &Draft, observer: &mut Observer<'_>) {
    match event {
        StreamEvent::TextDelta { text, .. } => observer(Progress::TextDelta(text)),
        StreamEvent::ThinkingDelta { thinking, .. } => observer(Progress::ThinkingDelta(thinking)),
        StreamEvent::InputJsonDelta { index, json } => {
            if let Some(name) = draft.tool_name(*index) {
                observer(Progress::ToolInput { name, json });
            }
        }
        StreamEvent::BlockStart { block, .. } => match block {
            Block::Text(text) if !text.text.is_empty() => {
                observer(Progress::TextDelta(&text.text));
            }
            Block::Thinking(thought) if !thought.thinking.is_empty() => {
                observer(Progress::ThinkingDelta(&thought.thinking));
            }
            Block::ToolUse(call) => observer(Progress::ToolInput { name: &call.name, json: "" }),
            _ => {}
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests;
