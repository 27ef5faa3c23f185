//! The CLI as a process of this machine.

use futures_util::future::BoxFuture;

use super::{CliConnection, CliLaunch, Transport};
use crate::process::{self, LaunchError};

/// Starts the CLI as a process of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubprocessTransport;

impl Transport for SubprocessTransport {
    fn open(&self, launch: CliLaunch) -> BoxFuture<'_, Result<CliConnection, LaunchError>> {
        Box::pin(async move { process::start_cli(&launch) })
    }
}
