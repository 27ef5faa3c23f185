//! The WebSocket: what the page says to a server and hears from it, for programs.

use countersign_api::socket;
use countersign_api::socket::command::ClientCommand;
use countersign_api::socket::message::ServerMessage;
use futures_util::{SinkExt, StreamExt};
use reqwest::header::{
    CONNECTION, HeaderMap, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use reqwest::{StatusCode, Upgraded};
use serde::Deserialize;
use serde_json::Value;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::api_client::{ApiClient, ApiClientError, failed_request, innermost, read_refusal};

/// An open socket.
///
/// It ends with its connection. Whoever opens another one sends
/// [`Resume`](ClientCommand::Resume) with the last number it has read, and misses nothing.
pub struct ServerSocket(WebSocketStream<Upgraded>);

/// What the server says.
#[derive(Clone, Debug)]
pub enum SocketMessage {
    /// A message of the contract.
    Known(Box<ServerMessage>),
    /// A message of a kind that this version does not know.
    Unknown(Value),
}

impl ApiClient {
    /// Opens the socket.
    pub async fn open_socket(&self) -> Result<ServerSocket, ApiClientError> {
        let key = generate_key();
        let request = self.socket_request(socket::PATH)?;
        let request = request
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        let response = request.send().await.map_err(|error| failed_request(&error))?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(read_refusal(response).await);
        }
        if !has_accepted(response.headers(), &key) {
            return Err(ApiClientError::Away("what answers there is not a WebSocket".to_owned()));
        }
        let upgraded = response.upgrade().await.map_err(|error| failed_request(&error))?;
        Ok(ServerSocket(WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await))
    }
}

impl ServerSocket {
    /// Says something to the server.
    pub async fn send(&mut self, command: &ClientCommand) -> Result<(), ApiClientError> {
        let text = serde_json::to_string(command)
            .map_err(|error| ApiClientError::Away(format!("it cannot be encoded ({error})")))?;
        self.0.send(Message::text(text)).await.map_err(|error| gone(&error))
    }

    /// Returns the next message; none once the server has closed the socket. Nothing is lost if the
    /// future is dropped.
    pub async fn next(&mut self) -> Result<Option<SocketMessage>, ApiClientError> {
        loop {
            match self.0.next().await {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(Message::Text(text))) => return read_message(&text).map(Some),
                // Pings are answered below us; the server sends nothing binary.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(gone(&error)),
            }
        }
    }

    /// Takes leave of the server.
    pub async fn close(mut self) -> Result<(), ApiClientError> {
        self.0.close(None).await.map_err(|error| gone(&error))
    }
}

fn has_accepted(headers: &HeaderMap, key: &str) -> bool {
    let accepted = headers.get(SEC_WEBSOCKET_ACCEPT);
    accepted.is_some_and(|it| it.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes())
}

fn read_message(text: &str) -> Result<SocketMessage, ApiClientError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        ApiClientError::Away(format!("the server's message is not understood ({error})"))
    })?;
    Ok(match ServerMessage::deserialize(&value) {
        Ok(message) => SocketMessage::Known(Box::new(message)),
        Err(_) => SocketMessage::Unknown(value),
    })
}

fn gone(error: &tungstenite::Error) -> ApiClientError {
    ApiClientError::Gone(innermost(error))
}
