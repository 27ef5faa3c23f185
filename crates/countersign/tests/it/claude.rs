//! The Rust SDK and the real Claude Code CLI, with a scripted model in the API's place.
//!
//! Each test starts itself once more in a cell: a network namespace with nothing but loopback, where
//! it is no longer root. Only there the CLI is started, with a home of its own and a key that opens
//! nothing.

mod cell;
mod control;
mod conversation;
mod elicitation;
mod examples;
mod guarded;
mod hooks;
mod life;
mod modes;
mod permissions;
mod rehearsing;
mod sessions;
mod tools;
mod undoing;
mod warm;
mod world;
