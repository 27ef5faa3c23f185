//! What carries the lines: the CLI's process, or a pipe in a test.

use std::ffi::OsString;
use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::options::{Options, StderrLine, Variables};
use crate::process::{Exit, LaunchError, StderrTail};

mod lines;
mod pipe;
mod subprocess;

pub use lines::{Line, Lines};
pub use pipe::{FarEnd, Pipe};
pub use subprocess::Subprocess;

/// What carries the lines. Implement it to run the CLI in a container or on another machine.
pub trait Transport: Send + Sync + 'static {
    /// Opens a line to a new CLI.
    fn open(&self, launch: Launch) -> BoxFuture<'_, Result<Wire, LaunchError>>;
}

/// How the CLI is to be started, worked out from the options.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, if it was named.
    pub program: Option<PathBuf>,
    /// The command line without the program.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub variables: Variables,
    /// The environment of this program, where the CLI's program is searched.
    pub inherited: Variables,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// User and group to run as.
    pub run_as: Option<(u32, u32)>,
    /// What is told each line of the error output.
    pub stderr: Option<StderrLine>,
}

impl Launch {
    /// Works out how to start the CLI. This is where the environment of this program is read.
    pub fn new(options: &Options) -> Self {
        let inherited: Variables = std::env::vars_os().collect();
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
pub struct Wire {
    /// What the CLI reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// What the CLI writes.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What it says on the side.
    pub stderr: StderrTail,
    /// Whoever is at the other end.
    pub peer: Box<dyn Peer>,
}

/// Whoever is at the other end. Dropping it must end it.
pub trait Peer: Send + 'static {
    /// Returns its process id, if it is a process here.
    fn pid(&self) -> Option<u32>;
    /// Waits until it has ended. May be dropped and called again.
    fn exited(&mut self) -> BoxFuture<'_, Exit>;
    /// Asks it to end.
    fn terminate(&mut self);
    /// Ends it.
    fn kill(&mut self);
}
