//! A child with its process group: started in one way, and ended together.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::GRACE;
use crate::machine::Environment;

/// A child and all its kin.
pub(crate) struct ChildGroup {
    pub(crate) child: Child,
    /// None once the group has been ended: the number may then be another's.
    pub(crate) id: Option<Pid>,
}

/// What every child is started with.
pub(crate) struct ChildSpawn<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) cwd: &'a Path,
    pub(crate) environment: &'a Environment,
    pub(crate) stdin: Stdio,
}

impl ChildGroup {
    /// Starts a child. Whatever is to hold for all children is put here.
    pub(crate) fn start(start: ChildSpawn<'_>) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "this is where children start")]
        let mut command = Command::new(start.program);
        command
            .args(start.arguments)
            .current_dir(start.cwd)
            .env_clear()
            .envs(start.environment.iter())
            .stdin(start.stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, id })
    }

    /// Waits for the child itself, not for its kin. May be dropped and called again.
    pub(super) async fn exit(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            match kill_process_group(id, signal) {
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => tracing::warn!(%error, "a process group could not be signalled"),
            }
        }
    }

    /// Kills what is left of the group and waits for what is ours to wait for.
    pub(super) async fn end(&mut self) {
        self.signal(Signal::KILL);
        self.id = None;
        // One that hangs in the kernel dies later; the runtime reaps it then.
        match timeout(GRACE, self.child.wait()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a child could not be waited for"),
            Err(_) => tracing::warn!("a killed child does not end"),
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
