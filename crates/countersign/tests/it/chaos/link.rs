//! A link: one connection to some server that is there now, given up when it falls silent.

use std::time::Duration;

use countersign_api::socket::command::ClientCommand;
use countersign_client::{ApiClient, ServerAddress, ServerCredential, ServerSocket, SocketMessage};
use fastrand::Rng;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;

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
    socket: ServerSocket,
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
                && let Ok(Ok(socket)) = timeout(GREETING, client(address).open_socket()).await
            {
                return Link { socket, has_resumed: false };
            }
            // Whoever was there is just dying: the news of it is on the way.
            let _ = timeout(Duration::from_millis(100), self.addresses.changed()).await;
        }
    }
}

fn client(address: &str) -> ApiClient {
    let address = ServerAddress::parse(&format!("http://{address}")).unwrap();
    let credential = ServerCredential { token: TOKEN.into(), server_key: None };
    ApiClient::new(address, "default", Some(credential)).unwrap()
}

impl Link {
    pub(super) async fn say(&mut self, command: &Value) -> Result<(), Gone> {
        let command = ClientCommand::deserialize(command).unwrap();
        let sent = timeout(SILENCE, self.socket.send(&command)).await;
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
        match timeout(SILENCE, self.socket.next()).await {
            Ok(Ok(Some(SocketMessage::Known(message)))) => {
                Ok(serde_json::to_value(message).unwrap())
            }
            Ok(Ok(Some(SocketMessage::Unknown(message)))) => {
                panic!("the contract does not know this message: {message}")
            }
            Ok(Ok(None) | Err(_)) | Err(_) => Err(Gone),
        }
    }
}

/// Returns whether a message is of a type and subtype.
pub(super) fn is(message: &Value, kind: &str, subtype: &str) -> bool {
    message["type"] == kind && message["subtype"] == subtype
}
