//! What carries the lines: the CLI's process, or a pipe in a test.

use std::ffi::OsString;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::options::{EnvironmentVariables, Options, StderrCallback};
use crate::process::{LaunchError, ProcessExit, StderrTail};

mod lines;
mod pipe;
mod subprocess;

pub use lines::{OutputLine, OutputLineReader};
pub use pipe::{PipeCliEnd, PipeTransport};
pub use subprocess::SubprocessTransport;

/// What carries the lines. Implement it to run the CLI in a container or on another machine.
pub trait Transport: Send + Sync + 'static {
    /// Opens a line to a new CLI.
    fn open(&self, launch: CliLaunch) -> BoxFuture<'_, Result<CliConnection, LaunchError>>;
}

/// How the CLI is to be started, worked out from the options.
#[derive(Clone, Debug)]
pub struct CliLaunch {
    /// The program, if it was named.
    pub program: Option<PathBuf>,
    /// The command line without the program.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub variables: EnvironmentVariables,
    /// The environment of this program, where the CLI's program is searched.
    pub inherited: EnvironmentVariables,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// User and group to run as.
    pub run_as: Option<(u32, u32)>,
    /// What is told each line of the error output.
    pub stderr: Option<StderrCallback>,
}

impl CliLaunch {
    /// Works out how to start the CLI. This is where the environment of this program is read.
    pub fn new(options: &Options) -> Self {
        let inherited: EnvironmentVariables = std::env::vars_os().collect();
        Self {
            program: options.cli_path.clone(),
            arguments: options.flags(),
            variables: options.variables(inherited.clone()),
            inherited,
            cwd: options.cwd.clone(),
            run_as: options.run_as,
            stderr: options.stderr.clone(),
        }
    }
}

/// An open line to a CLI.
pub struct CliConnection {
    /// What the CLI reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// What the CLI writes.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What it says on the side.
    pub stderr: StderrTail,
    /// Whoever is at the other end.
    pub peer: Box<dyn CliPeer>,
}

/// Whoever is at the other end. Dropping it must end it.
pub trait CliPeer: Send + 'static {
    /// Returns its process id, if it is a process here.
    fn pid(&self) -> Option<u32>;
    /// Waits until it has ended. May be dropped and called again.
    fn wait_for_exit(&mut self) -> BoxFuture<'_, ProcessExit>;
    /// Asks it to end.
    fn terminate(&mut self);
    /// Ends it.
    fn kill(&mut self);
}
