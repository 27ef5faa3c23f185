//! The CLI as a process of this machine.

use futures_util::future::BoxFuture;

use super::{Launch, Transport, Wire};
use crate::process::{self, LaunchError};

/// Starts the CLI as a process of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subprocess;

impl Transport for Subprocess {
    fn open(&self, launch: Launch) -> BoxFuture<'_, Result<Wire, LaunchError>> {
        Box::pin(async move { process::start(&launch) })
    }
}
