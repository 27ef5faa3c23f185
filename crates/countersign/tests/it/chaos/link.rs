//! A link: one connection to some server that is there now, given up when it falls silent.

use std::time::Duration;

use fastrand::Rng;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::notes::{Notes, Reading};
use crate::world::TOKEN;

/// A server that is paused takes the connection (the kernel does) and never says a word.
const GREETING: Duration = Duration::from_secs(2);

/// Who hears nothing for so long looks for another server. Coming back costs nothing but a resume.
const SILENCE: Duration = Duration::from_secs(4);

/// Where servers are at this moment, and who comes back looks here.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) addresses: watch::Receiver<Vec<Option<String>>>,
    pub(super) rng: Rng,
}

pub(super) struct Link {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    has_resumed: bool,
}

/// The other side is gone, or as good as.
#[derive(Debug)]
pub(super) struct Gone;

impl Door {
    pub(super) fn new(addresses: watch::Receiver<Vec<Option<String>>>, rng: Rng) -> Self {
        Self { addresses, rng }
    }

    /// Connects to some server and goes on reading after what was read; tries until it can.
    pub(super) async fn resume(&mut self, reading: &Reading, notes: &Notes) -> Link {
        loop {
            let mut link = self.open().await;
            notes.lock().reconnects += 1;
            let mut resume = json!({"command": "resume", "after": reading.last});
            if let Some(session) = &reading.session {
                resume["session_id"] = session.as_str().into();
            }
            if link.say(&resume).await.is_ok() {
                return link;
            }
        }
    }

    async fn open(&mut self) -> Link {
        loop {
            let there: Vec<_> =
                self.addresses.borrow_and_update().iter().flatten().cloned().collect();
            if let Some(address) = self.rng.choice(&there)
                && let Ok(Ok((socket, _))) = timeout(GREETING, connect_async(agent(address))).await
            {
                return Link { socket, has_resumed: false };
            }
            // Whoever was there is just dying: the news of it is on the way.
            let _ = timeout(Duration::from_millis(100), self.addresses.changed()).await;
        }
    }
}

fn agent(address: &str) -> String {
    format!("ws://{address}/api/terminal/ws/agent?token={TOKEN}")
}

impl Link {
    pub(super) async fn say(&mut self, command: &Value) -> Result<(), Gone> {
        let sent = timeout(SILENCE, self.socket.send(Message::text(command.to_string()))).await;
        sent.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// Returns the next message. Dropped half-way nothing is lost.
    ///
    /// What is said before the server has heard where to resume is news from the log's end: its number
    /// says nothing of what was read, so it is taken away.
    pub(super) async fn hear(&mut self) -> Result<Value, Gone> {
        let mut message = self.next().await?;
        if !self.has_resumed {
            self.has_resumed = is(&message, "system", "resumed");
            message["seq"].take();
        }
        Ok(message)
    }

    async fn next(&mut self) -> Result<Value, Gone> {
        loop {
            match timeout(SILENCE, self.socket.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => {
                    return Ok(serde_json::from_str(&text).unwrap());
                }
                Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return Err(Gone),
                Ok(Some(Ok(_))) => {}
            }
        }
    }
}

/// Returns whether a message is of a type and subtype.
pub(super) fn is(message: &Value, kind: &str, subtype: &str) -> bool {
    message["type"] == kind && message["subtype"] == subtype
}
