//! Plays an answer in time, down to the bytes and to the point where they break off.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use countersign_gate::Clock;
use futures_util::{Stream, stream};
use serde_json::Value;

use super::checks::ScriptedApiError;
use super::scenario::DisconnectPoint;

/// An answer, and how it comes.
#[derive(Clone, Debug)]
pub(super) struct PacedAnswer {
    pub(super) delay: Duration,
    pub(super) pace: Duration,
    pub(super) events: Vec<Value>,
    pub(super) whole: Value,
    pub(super) ending: AnswerEnding,
}

/// How an answer ends.
#[derive(Clone, Debug)]
pub(super) enum AnswerEnding {
    /// As it should.
    Whole,
    /// The connection breaks.
    Cut(DisconnectPoint),
    /// The server gives up after this many events.
    Fail(usize, ScriptedApiError),
}

/// The connection breaks here, because the scenario says so.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the scenario cuts the connection here")]
pub(super) struct DisconnectError;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PlaybackAction {
    Pause(Duration),
    Send(Bytes),
    Break,
}

/// Returns the bytes of an answer as they come.
pub(super) fn stream(
    performance: PacedAnswer,
    clock: Arc<dyn Clock>,
) -> impl Stream<Item = Result<Bytes, DisconnectError>> + Send + 'static {
    let acts = VecDeque::from(acts(performance));
    stream::unfold((acts, clock), |(mut acts, clock)| async move {
        loop {
            match acts.pop_front()? {
                PlaybackAction::Pause(period) => clock.sleep(period).await,
                PlaybackAction::Send(bytes) => return Some((Ok(bytes), (acts, clock))),
                PlaybackAction::Break => {
                    // Lets what was sent go out before the connection is dropped.
                    tokio::task::yield_now().await;
                    return Some((Err(DisconnectError), (acts, clock)));
                }
            }
        }
    })
}

fn acts(performance: PacedAnswer) -> Vec<PlaybackAction> {
    let PacedAnswer { events, pace, ending, .. } = performance;
    let most = match &ending {
        AnswerEnding::Cut(DisconnectPoint::Events(most)) | AnswerEnding::Fail(most, _) => *most,
        AnswerEnding::Whole | AnswerEnding::Cut(DisconnectPoint::Bytes(_)) => usize::MAX,
    };
    let mut acts = Vec::new();
    for event in events.iter().take(most) {
        if is_delta(event) && !pace.is_zero() {
            acts.push(PlaybackAction::Pause(pace));
        }
        acts.push(PlaybackAction::Send(frame(event)));
    }
    match ending {
        AnswerEnding::Whole => {}
        AnswerEnding::Cut(DisconnectPoint::Events(_)) => acts.push(PlaybackAction::Break),
        AnswerEnding::Cut(DisconnectPoint::Bytes(most)) => cut(&mut acts, most),
        AnswerEnding::Fail(_, error) => acts.push(PlaybackAction::Send(frame(&error.body()))),
    }
    acts
}

/// Leaves the acts up to the byte at which the connection breaks.
fn cut(acts: &mut Vec<PlaybackAction>, most: usize) {
    let mut left = most;
    let mut broken = Vec::new();
    for act in acts.drain(..) {
        match act {
            PlaybackAction::Send(bytes) if bytes.len() > left => {
                broken.push(PlaybackAction::Send(bytes.slice(..left)));
                break;
            }
            PlaybackAction::Send(bytes) => {
                left -= bytes.len();
                broken.push(PlaybackAction::Send(bytes));
            }
            other => broken.push(other),
        }
    }
    broken.push(PlaybackAction::Break);
    *acts = broken;
}

fn is_delta(event: &Value) -> bool {
    event.get("type").and_then(Value::as_str) == Some("content_block_delta")
}

/// Returns an event as it goes over the wire.
fn frame(event: &Value) -> Bytes {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {event}\n\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PACE: Duration = Duration::from_millis(5);

    #[test]
    fn a_pause_comes_before_each_piece() {
        let kinds: Vec<bool> = acts(with(AnswerEnding::Whole))
            .iter()
            .map(|act| matches!(act, PlaybackAction::Pause(PACE)))
            .collect();
        assert_eq!(kinds, [false, true, false, false]);
    }

    #[test]
    fn an_answer_breaks_where_it_should() {
        let after = |after| acts(with(AnswerEnding::Cut(after)));
        assert_eq!(
            after(DisconnectPoint::Events(1)),
            [PlaybackAction::Send(frame(&ping())), PlaybackAction::Break]
        );
        let first = frame(&ping());
        let bytes = first.len() + 3;
        assert_eq!(
            after(DisconnectPoint::Bytes(bytes)),
            [
                PlaybackAction::Send(first),
                PlaybackAction::Pause(PACE),
                PlaybackAction::Send(Bytes::from_static(b"eve")),
                PlaybackAction::Break
            ]
        );
    }

    fn with(ending: AnswerEnding) -> PacedAnswer {
        PacedAnswer {
            delay: Duration::ZERO,
            pace: PACE,
            events: vec![ping(), json!({"type": "content_block_delta"}), ping()],
            whole: Value::Null,
            ending,
        }
    }

    fn ping() -> Value {
        json!({"type": "ping"})
    }
}
