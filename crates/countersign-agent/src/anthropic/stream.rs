//! From the bytes of an event stream to typed events.

use std::error::Error;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use serde_json::Value;
use sse_stream::{Sse, SseByteStream};

use crate::model::{ModelError, ModelEventStream, ModelStreamEvent};

/// Reads a stream of events up to its end, or up to the first error.
///
/// Bytes that end before the answer does are [`ModelError::CutOff`].
pub(crate) fn events<S, E>(bytes: S, host: String) -> ModelEventStream
where
    S: Stream<Item = Result<Bytes, E>> + Send + 'static,
    E: Error + Send + Sync + 'static,
{
    let frames = Box::pin(SseByteStream::new(bytes));
    let reading = Some((frames, host));
    stream::unfold(reading, |reading| async {
        let (mut frames, host) = reading?;
        let event = loop {
            match frames.next().await {
                Some(Ok(frame)) => {
                    if let Some(event) = read(frame) {
                        break event;
                    }
                }
                Some(Err(error)) => break Err(broken(error, &host)),
                None => break Err(ModelError::CutOff),
            }
        };
        let goes_on = !matches!(event, Err(_) | Ok(ModelStreamEvent::MessageStop));
        Some((event, goes_on.then_some((frames, host))))
    })
    .boxed()
}

/// Reads one frame; one without data says nothing.
fn read(frame: Sse) -> Option<Result<ModelStreamEvent, ModelError>> {
    let data = frame.data.filter(|data| !data.trim().is_empty())?;
    let mut value: Value = match serde_json::from_str(&data) {
        Ok(value) => value,
        Err(error) => return Some(Err(ModelError::protocol(error))),
    };
    // Some servers name the event only outside of the data.
    if let (Some(fields), Some(name)) = (value.as_object_mut(), frame.event) {
        fields.entry("type").or_insert(Value::String(name));
    }
    Some(ModelStreamEvent::from_json(value))
}

fn broken(error: sse_stream::Error, host: &str) -> ModelError {
    match error {
        sse_stream::Error::Body(error) => match error.downcast_ref::<reqwest::Error>() {
            Some(error) if error.is_timeout() => ModelError::TimedOut { host: host.to_owned() },
            _ => ModelError::CutOff,
        },
        other => ModelError::protocol(other),
    }
}

#[cfg(test)]
mod tests;
