//! Plays an answer in time, down to the bytes and to the point where they break off.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use countersign_gate::Clock;
use futures_util::{Stream, stream};
use serde_json::Value;

use super::checks::ApiError;
use super::scenario::CutAfter;

/// An answer, and how it comes.
#[derive(Clone, Debug)]
pub(super) struct Performance {
    pub(super) delay: Duration,
    pub(super) pace: Duration,
    pub(super) events: Vec<Value>,
    pub(super) whole: Value,
    pub(super) ending: Ending,
}

/// How an answer ends.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// As it should.
    Whole,
    /// The connection breaks.
    Cut(CutAfter),
    /// The server gives up after this many events.
    Fail(usize, ApiError),
}

/// The connection breaks here, because the scenario says so.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the scenario cuts the connection here")]
pub(super) struct Broken;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Pause(Duration),
    Send(Bytes),
    Break,
}

/// Returns the bytes of an answer as they come.
pub(super) fn stream(
    performance: Performance,
    clock: Arc<dyn Clock>,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send + 'static {
    let acts = VecDeque::from(acts(performance));
    stream::unfold((acts, clock), |(mut acts, clock)| async move {
        loop {
            match acts.pop_front()? {
                Act::Pause(period) => clock.sleep(period).await,
                Act::Send(bytes) => return Some((Ok(bytes), (acts, clock))),
                Act::Break => {
                    // Lets what was sent go out before the connection is dropped.
                    tokio::task::yield_now().await;
                    return Some((Err(Broken), (acts, clock)));
                }
            }
        }
    })
}

fn acts(performance: Performance) -> Vec<Act> {
    let Performance { events, pace, ending, .. } = performance;
    let most = match &ending {
        Ending::Cut(CutAfter::Events(most)) | Ending::Fail(most, _) => *most,
        Ending::Whole | Ending::Cut(CutAfter::Bytes(_)) => usize::MAX,
    };
    let mut acts = Vec::new();
    for event in events.iter().take(most) {
        if is_delta(event) && !pace.is_zero() {
            acts.push(Act::Pause(pace));
        }
        acts.push(Act::Send(frame(event)));
    }
    match ending {
        Ending::Whole => {}
        Ending::Cut(CutAfter::Events(_)) => acts.push(Act::Break),
        Ending::Cut(CutAfter::Bytes(most)) => cut(&mut acts, most),
        Ending::Fail(_, error) => acts.push(Act::Send(frame(&error.body()))),
    }
    acts
}

/// Leaves the acts up to the byte at which the connection breaks.
fn cut(acts: &mut Vec<Act>, most: usize) {
    let mut left = most;
    let mut broken = Vec::new();
    for act in acts.drain(..) {
        match act {
            Act::Send(bytes) if bytes.len() > left => {
                broken.push(Act::Send(bytes.slice(..left)));
                break;
            }
            Act::Send(bytes) => {
                left -= bytes.len();
                broken.push(Act::Send(bytes));
            }
            other => broken.push(other),
        }
    }
    broken.push(Act::Break);
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
        let kinds: Vec<bool> =
            acts(with(Ending::Whole)).iter().map(|act| matches!(act, Act::Pause(PACE))).collect();
        assert_eq!(kinds, [false, true, false, false]);
    }

    #[test]
    fn an_answer_breaks_where_it_should() {
        let after = |after| acts(with(Ending::Cut(after)));
        assert_eq!(after(CutAfter::Events(1)), [Act::Send(frame(&ping())), Act::Break]);
        let first = frame(&ping());
        let bytes = first.len() + 3;
        assert_eq!(
            after(CutAfter::Bytes(bytes)),
            [Act::Send(first), Act::Pause(PACE), Act::Send(Bytes::from_static(b"eve")), Act::Break]
        );
    }

    fn with(ending: Ending) -> Performance {
        Performance {
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
