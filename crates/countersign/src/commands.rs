//! The commands, one file each.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod client;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod hook;
pub(crate) mod login;
pub(crate) mod mcp;
pub(crate) mod model;
pub(crate) mod openapi;
pub(crate) mod policy;
pub(crate) mod run_canonical;
pub(crate) mod sandbox;
pub(crate) mod serve;
pub(crate) mod token;
pub(crate) mod undo;
