//! The WebSocket: what a client says, and what the server says.

pub mod command;
pub mod message;

/// Where the WebSocket is.
pub const PATH: &str = "/api/terminal/ws/agent";
