//! The server over real sockets, with the scripted model: what clients see, to the letter.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says no by panicking"
)]

mod approvals;
mod audit;
mod calls;
mod chat;
mod connections;
mod door;
mod elsewhere;
mod failing;
mod flow;
mod hardening;
mod inbox;
mod mending;
mod modes;
mod projects;
mod request_ids;
mod resuming;
mod roles;
mod rules;
mod stream;
mod streaming;
mod tools;
mod undo;
mod world;
