//! The client of Countersign's API.
//!
//! - [`ApiClient`] is the one way to a server: requests, answers, the stream of events and the
//!   [socket](ServerSocket), with a token
//!   that is sent to nobody but the server it is for.
//! - [`consent`] answers whether a call of another agent may run: by the rules that are here where they
//!   can say, by a person at a server where they cannot. Hooks and the MCP tool ask it.
//! - [`evaluation`] says what would be said of a call, for people who write rules.
//! - [`executor`] runs calls that a server lends to this machine: each once, while the lease holds.
//!
//! It reads no environment and prints nothing: whoever uses it says where things are and hears what
//! happens.

mod address;
mod api_client;
pub mod consent;
mod credential;
pub mod evaluation;
mod event_stream;
pub mod executor;
mod outgoing_decision;
mod retry;
mod server_proof;
mod server_socket;

pub use address::{AddressError, ServerAddress, USUAL_SERVER};
pub use api_client::{ANSWER_TIMEOUT, ApiClient, ApiClientError, ServerRefusal};
pub use credential::{CredentialError, ServerCredential};
pub use event_stream::{StreamUpdate, follow_stream};
pub use outgoing_decision::{DecisionReply, OutgoingDecision};
pub use server_socket::{ServerSocket, SocketMessage};
