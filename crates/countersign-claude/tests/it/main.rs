//! The conformance suite: a scripted CLI at the other end of a pipe, or as a process.
//!
//! | case | rule | where |
//! | --- | --- | --- |
//! | 1 | every option becomes its flag, variable or field | `src/options/tests.rs` |
//! | 2 | framing survives any split, garbage and size | `src/transport/lines.rs`, `stream` |
//! | 3 | `initialize` comes first, and an early end is told at once | `handshake`, `process` |
//! | 4 | permissions: allow, deny, modify, suggestions, in parallel | `permission` |
//! | 5 | hooks: in parallel, cancelled, failing, unknown | `hooks` |
//! | 6 | when the CLI's input is closed | `run_end`, `src/control/run.rs` |
//! | 7 | who does not read holds up nobody | `stream` |
//! | 8 | what is unknown is kept | `stream`, `src/message/tests.rs` |
//! | 9 | a failed result and a crash are told apart | `stream` |
//! | 10 | no process is left behind | `process` |
//! | 11 | in-process MCP servers | `mcp`, `src/mcp/tests.rs` |
//! | 12 | interrupts and stale results | `turns` |
//! | 13, 14 | stored sessions | `src/session/` |
//! | 15 | the copy of a transcript comes before the result | `mirror` |
//! | 16 | batch files are refused | `src/process/discover.rs` |

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a test says no by panicking, and a table of cases reads better by value"
)]

mod bridge;
mod cli;
mod fake;
mod frames;
mod handshake;
mod hooks;
mod mcp;
mod mirror;
mod permission;
mod process;
mod run_end;
mod stream;
mod turns;
mod warm;
