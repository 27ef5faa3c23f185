//! `countersign hook` and `countersign mcp`: what Claude Code is told, with a server, without, and with
//! one that misbehaves.

mod answers;
mod asking;
mod fake;
mod install;
mod mcp;
mod recording;
mod world;
