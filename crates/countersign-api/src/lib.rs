//! The wire contract of Countersign: every REST view, stream event, socket command and message, status
//! and error body, once.
//!
//! The server writes these types and the clients read them, so the two cannot disagree. The OpenAPI
//! document, and with it the page's TypeScript, is made from them.
//!
//! # What must not move
//!
//! Some names are the founding documents'; programs of other people are written against them. They may
//! gain fields, but no name and no meaning of them changes:
//!
//! | Document | Types here |
//! | --- | --- |
//! | S1, the WebSocket | [`socket::command`]; [`socket::message`] but for `approve_all_answered`, `tool_rehearsed`, `tool_state`, `tool_undone` and `tool_output`; the first thirteen fields of [`ApprovalRequest`](approval_request::ApprovalRequest) and their words |
//! | S2, tools run by a client | [`stream`]'s `tool.approval_request`, `tool.execution_signal` and `tool.result_ack`; [`execution`]; [`approval`]; [`lease`]; [`tool_result`]; [`tool`]; [`chat`] |
//! | all | [`CallStatus`](call_status::CallStatus), [`RiskLevel`](risk_level::RiskLevel), [`ErrorBody`](error::ErrorBody)'s `success` |
//!
//! Everything else is ours, and is kept as it is because our own page and clients use it.
//!
//! # How values of the core get here
//!
//! A type that says what the core knows is made from it here (`From`, or `for_x`), with secrets masked.
//! What needs the database is put together in the server.

#![expect(
    missing_docs,
    reason = "a field's name is the contract; where that says all, a comment would repeat it"
)]

pub mod approval;
pub mod approval_request;
pub mod audit;
pub mod call_context;
pub mod call_origin;
pub mod call_status;
pub mod chat;
pub mod decision_record;
pub mod diff;
pub mod error;
pub mod execution;
pub mod file_view;
pub mod identity;
pub mod lease;
pub mod preimage;
pub mod preview;
pub mod project;
pub mod received;
pub mod rehearsal;
pub mod risk_level;
pub mod rule;
pub mod rule_check;
pub mod rule_simulation;
pub mod run_mode;
pub mod session;
pub mod sign_in_link;
pub mod socket;
pub mod stream;
pub mod tool;
pub mod tool_result;
pub mod undo;
