//! The event stream: read for as long as the client lives, through restarts of the server.

use countersign_api::received::ReceivedEvent;
use countersign_gate::{Clock, SystemClock};
use futures_util::StreamExt;
use reqwest::Response;
use sse_stream::SseByteStream;

use crate::api_client::{ApiClient, ApiClientError, ServerRefusal};
use crate::retry::retry_delays;

/// What happens on the stream, and to it.
#[derive(Debug)]
pub enum StreamUpdate {
    /// The stream is open.
    Connected {
        /// Whether it was before.
        again: bool,
    },
    /// It broke off, or cannot be opened; it is tried again.
    Lost {
        /// Why, in words.
        why: String,
    },
    /// The server does not want this client; nothing follows.
    Refused(Box<ServerRefusal>),
    /// The server says something.
    Event(ReceivedEvent),
    /// The server says something that this version cannot read.
    Unreadable(String),
}

/// Reads the stream and passes on what it says; ends only when the server refuses us.
///
/// `client` names this process to the server, for as long as it lives.
pub async fn follow_stream(
    server: ApiClient,
    client: String,
    tell: impl Fn(StreamUpdate) + Send + Sync,
) {
    let mut reader = StreamReader { last: None, tell };
    let mut waits = retry_delays();
    let mut was_connected = false;
    loop {
        let lost = match server.open_stream(&client, reader.last.as_deref()).await {
            Ok(response) => {
                (reader.tell)(StreamUpdate::Connected { again: was_connected });
                was_connected = true;
                let (heard, why) = reader.read(response).await;
                if heard {
                    waits = retry_delays();
                }
                why
            }
            Err(ApiClientError::Refused(refusal))
                if has_forgotten(&refusal, reader.last.as_deref()) =>
            {
                reader.last = None;
                continue;
            }
            Err(ApiClientError::Refused(refusal)) if !refusal.code.is_empty() || !was_connected => {
                (reader.tell)(StreamUpdate::Refused(refusal));
                return;
            }
            Err(error) => error.to_string(),
        };
        (reader.tell)(StreamUpdate::Lost { why: lost });
        SystemClock.sleep(waits.next().unwrap_or_default()).await;
    }
}

/// The server's log does not reach to where we were: it was put back, or is another one.
fn has_forgotten(refusal: &ServerRefusal, last: Option<&str>) -> bool {
    refusal.code == "bad_cursor" && last.is_some()
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

struct StreamReader<F> {
    /// The number of the last event that was passed on.
    last: Option<String>,
    tell: F,
}

impl<F: Fn(StreamUpdate)> StreamReader<F> {
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
                match ReceivedEvent::decode(frame.event.as_deref().unwrap_or_default(), &data) {
                    Ok(ReceivedEvent::Other) => {}
                    Ok(event) => (self.tell)(StreamUpdate::Event(event)),
                    Err(why) => (self.tell)(StreamUpdate::Unreadable(why)),
                }
            }
            if let Some(id) = frame.id.filter(|id| !id.is_empty()) {
                self.last = Some(id);
            }
        }
        (heard, "the server ended the stream".to_owned())
    }
}
