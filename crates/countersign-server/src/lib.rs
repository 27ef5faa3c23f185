//! HTTP, WebSocket, sign-in and the embedded page over one gate. Decides nothing.
//!
//! [`Server`] holds the parts; [`Server::run`] serves them on a listener until told to stop. Every
//! request passes `guard` (Host and Origin) and `access`, which has the one table of who may do what; a
//! credential is looked up in `sign_in`. The WebSocket (`socket`) speaks S1's words:
//! commands in, messages out, the latter read from the gate's log. Which run is whose is kept in
//! `runs`.

mod access;
mod app;
mod approval_switch;
mod approvals;
mod audit;
mod body;
mod call_context;
mod caller;
mod chat;
mod client_streams;
mod connections;
mod decide;
mod diffs;
mod docs;
mod error;
mod error_body;
mod error_responses;
mod guard;
mod health;
mod hook_spool;
mod host_names;
mod identity;
mod membership;
mod openapi;
mod page;
mod path_params;
mod project_registry;
mod projects;
mod query;
mod request_log;
mod router;
mod rules;
mod run_mode;
mod run_registry;
mod run_tools;
mod runs;
mod serve;
mod sessions;
mod sign_in;
mod sign_in_links;
mod sign_in_page;
mod socket;
mod stream_hub;
mod tools;
mod undo;
mod with_deadline;

pub use app::{ModelSource, RunDefaults, ServerConfig};
pub use approval_switch::ApprovalSwitch;
pub use connections::ConnectionLimits;
pub use hook_spool::{HookSpool, SpooledCall, SpooledLine, SpooledResult, SpooledVerdict};
pub use host_names::{HostName, HostNames, PublicUrl};
pub use openapi::document as openapi;
pub use serve::{ServeError, Server};
pub use sign_in::{Credential, LocalCredential, SignInLink};
