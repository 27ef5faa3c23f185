//! The gate against a real SQLite file and a real PostgreSQL: rules at the boundary, races, deadlines, following.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says no by panicking")]

mod auditing;
mod database;
mod deciding;
mod editing;
mod elsewhere;
mod following;
mod limits;
mod listing;
mod model;
mod pairing;
mod recovery;
mod rehearsing;
mod rules;
mod tokens;
mod undoing;
mod world;
