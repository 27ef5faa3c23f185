//! The gate against a real SQLite file: rules at the boundary, races, deadlines, following.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says no by panicking")]

mod deciding;
mod editing;
mod following;
mod recovery;
mod rules;
mod world;
