//! The server over real sockets, with the scripted model: what clients see, to the letter.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says no by panicking"
)]

mod audit;
mod door;
mod failing;
mod flow;
mod resuming;
mod rules;
mod world;
