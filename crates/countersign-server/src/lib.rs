//! HTTP, WebSocket, sign-in and the embedded page over one gate. Decides nothing.
//!
//! [`Server`] holds the parts; [`Server::run`] serves them on a listener until told to stop. Every
//! request passes `guard` (Host and Origin) and `access`, which has the one table of who may do what; a
//! credential is looked up in `sign_in`. The WebSocket (`socket`) speaks S1's words:
//! commands in, messages out, the latter read from the gate's log. Which run is whose is kept in
//! `runs`.

mod access;
mod app;
mod approvals;
mod audit;
mod body;
mod call_context;
mod chat;
mod connections;
mod decide;
mod diffs;
mod docs;
mod error;
mod guard;
mod health;
mod identity;
mod in_time;
mod membership;
mod openapi;
mod page;
mod projects;
mod query;
mod refusals;
mod router;
mod rules;
mod runs;
mod segments;
mod serve;
mod sessions;
mod sign_in;
mod socket;
mod status;
mod tools;
mod undo;
mod ways;

pub use app::{ModelSource, RunDefaults, ServerConfig};
pub use connections::ConnectionLimits;
pub use openapi::document as openapi;
pub use serve::{ServeError, Server};
pub use sign_in::{Credential, SignInLink};
pub use ways::ApprovalSwitch;
