//! The binary as people and scripts use it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says no by panicking"
)]

mod audit;
mod chaos;
mod commands;
mod conversation;
mod faults;
mod house;
mod policy;
mod policy_page;
mod redteam;
mod world;
