//! This machine: what runs on it, and what command lines find there.
//!
//! `process` is the only place that starts children, and they see an [`Environment`]. [`LocalMachine`]
//! tells the analysis of command lines where paths lead and which programs names mean; `git` tells it
//! what a repository makes git run. `executor` runs the canonical form of a command without a shell.
//! Nothing here knows tools or the sandbox.

mod environment;
pub(crate) mod executor;
pub(crate) mod git;
mod local_machine;
pub(crate) mod process;
mod public_address;
mod steering_variables;

pub use self::environment::Environment;
pub(crate) use self::local_machine::LocalMachine;
pub(crate) use self::public_address::is_public_address;
pub(crate) use self::steering_variables::{remove_steering_variables, steers};
