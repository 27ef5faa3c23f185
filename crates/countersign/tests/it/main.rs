//! The binary as people and scripts use it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says no by panicking"
)]

mod approvals;
mod audit;
mod callers;
mod chaos;
mod claude;
mod client;
mod commands;
mod conversation;
mod elsewhere;
mod faults;
mod hook;
mod house;
mod login;
mod logs;
mod mcp_servers;
mod oracle;
mod policy;
mod policy_page;
mod redteam;
#[cfg(test)]
mod rehearsal;
mod self_approval;
mod socket_client;
mod undo;
mod world;
