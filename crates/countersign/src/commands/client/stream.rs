//! The event stream: read for as long as the client lives, through restarts of the server.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use countersign_gate::{Clock, SystemClock};
use futures_util::StreamExt;
use reqwest::Response;
use sse_stream::SseByteStream;
use tokio::sync::mpsc::UnboundedSender;

use super::ClientMessage;
use super::server_event::ServerEvent;
use crate::commands::server_link::{LinkError, ServerLink, ServerRefusal};

/// Returns the waits between tries: longer each time, never in step with others, without an end.
pub(super) fn retry_delays() -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(250))
        .with_max_delay(Duration::from_secs(5))
        .with_jitter()
        .without_max_times()
        .build()
}

/// Reads the stream and passes on what it says; ends only when the server refuses us.
pub(super) async fn follow(
    link: Arc<ServerLink>,
    client: String,
    news: UnboundedSender<ClientMessage>,
) {
    let mut reader = ServerStreamReader { last: None, news };
    let mut waits = self::retry_delays();
    let mut was_connected = false;
    loop {
        let lost = match link.stream(&client, reader.last.as_deref()).await {
            Ok(response) => {
                reader.tell(ClientMessage::Connected { again: was_connected });
                was_connected = true;
                let (heard, why) = reader.read(response).await;
                if heard {
                    waits = self::retry_delays();
                }
                why
            }
            Err(LinkError::Refused(refusal)) if forgets(&refusal, &reader) => {
                reader.last = None;
                continue;
            }
            Err(LinkError::Refused(refusal)) if !refusal.code.is_empty() || !was_connected => {
                reader.tell(ClientMessage::Refused(refusal));
                return;
            }
            Err(error) => error.to_string(),
        };
        reader.tell(ClientMessage::Lost { why: lost });
        SystemClock.sleep(waits.next().unwrap_or_default()).await;
    }
}

/// The server's log does not reach to where we were: it was put back, or is another one.
fn forgets(refusal: &ServerRefusal, reader: &ServerStreamReader) -> bool {
    refusal.code == "bad_cursor" && reader.last.is_some()
}

/// Says in plain words how a stream broke off.
fn broken(error: &sse_stream::Error) -> String {
    let timed_out = match error {
        sse_stream::Error::Body(cause) => {
            cause.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout)
        }
        _ => false,
    };
    if timed_out { "nothing was heard for a while" } else { "the stream broke off" }.to_owned()
}

struct ServerStreamReader {
    /// The number of the last event that was passed on.
    last: Option<String>,
    news: UnboundedSender<ClientMessage>,
}

impl ServerStreamReader {
    fn tell(&self, news: ClientMessage) {
        // Nobody listens any more: the client is about to end.
        let _ = self.news.send(news);
    }

    /// Reads to the end; returns whether anything came, and why it ended.
    async fn read(&mut self, response: Response) -> (bool, String) {
        let mut frames = Box::pin(SseByteStream::new(response.bytes_stream()));
        let mut heard = false;
        while let Some(frame) = frames.next().await {
            let frame = match frame {
                Ok(frame) => frame,
                Err(error) => return (heard, broken(&error)),
            };
            heard = true;
            if let Some(data) = frame.data {
                match ServerEvent::read(frame.event.as_deref().unwrap_or_default(), &data) {
                    Ok(ServerEvent::Other) => {}
                    Ok(event) => self.tell(ClientMessage::Said(event)),
                    Err(why) => self.tell(ClientMessage::Unreadable(why)),
                }
            }
            if let Some(id) = frame.id.filter(|id| !id.is_empty()) {
                self.last = Some(id);
            }
        }
        (heard, "the server ended the stream".to_owned())
    }
}
