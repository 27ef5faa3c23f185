//! The client against the scripted server, over real sockets, and the demo from end to end.

#![expect(clippy::unwrap_used, reason = "what helps a test may panic like a test")]

mod client;
mod demo;
mod server;
mod world;
