//! The client against the scripted server, over real sockets; the demo from end to end; and agents
//! that work in a temporary folder, as a library and through the runner.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what helps a test may panic like a test"
)]

mod approval;
mod canned;
mod client;
mod conversation;
mod crashing;
mod demo;
mod elsewhere;
mod examples;
mod handler;
mod interruption;
mod lives;
mod mcp;
mod resuming;
mod server;
mod task;
mod tools;
mod turns;
mod workshop;
mod world;
