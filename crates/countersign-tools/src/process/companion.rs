//! A child that goes on beside us and is talked to, such as an MCP server.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStdin, ChildStdout};

use super::{Environment, Group, Start};
use crate::capped::Capped;

/// How many characters of either end are kept of what a companion complains of.
const COMPLAINTS: usize = 1_000;

/// A child that goes on and is talked to: its group is ended when this is dropped.
pub(crate) struct Companion {
    _group: Group,
    /// The last it had to say about itself.
    complaints: Arc<Mutex<Capped>>,
}

/// What is said to a companion, and what it says.
pub(crate) struct Talk {
    pub(crate) to: ChildStdin,
    pub(crate) from: ChildStdout,
}

impl Companion {
    /// Starts a child to talk to.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        cwd: &Path,
        environment: &Environment,
    ) -> io::Result<(Self, Talk)> {
        let stdin = Stdio::piped();
        let mut group = Group::start(Start { program, arguments, cwd, environment, stdin })?;
        let complaints = Arc::new(Mutex::new(Capped::new(COMPLAINTS)));
        let child = &mut group.child;
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let (Some(to), Some(from), Some(mut stderr)) = pipes else {
            return Err(io::Error::other("a child without pipes"));
        };
        let kept = Arc::clone(&complaints);
        // Ends with the pipe, hence with the group. Unread, it would hold the child up.
        tokio::spawn(async move {
            let mut buffer = vec![0; 8 * 1024];
            while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
                let bytes = buffer.get(..length).unwrap_or_default();
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
            }
        });
        Ok((Self { _group: group, complaints }, Talk { to, from }))
    }

    /// Returns what it has complained of.
    pub(crate) fn complaints(&self) -> String {
        let kept = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone().within(2 * COMPLAINTS)
    }
}
