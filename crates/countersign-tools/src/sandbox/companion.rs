//! A child that goes on beside us and is talked to, such as an MCP server.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::AbortHandle;

use super::SandboxedCommand;
use crate::files::truncate::HeadTailBuffer;
use crate::machine::process::{ChildGroup, ChildSpawn, UsageWatch};

/// How many characters of either end are kept of what a companion complains of.
const COMPLAINTS: usize = 1_000;

/// A child that goes on and is talked to: its group is ended when this is dropped.
pub(crate) struct CompanionProcess {
    // INVARIANT: dropped before the group, whose number may then be another's.
    _watching: Option<CompanionWatch>,
    _group: ChildGroup,
    /// How it was started; its way to other machines ends with it.
    _confined: SandboxedCommand,
    complaints: CompanionErrors,
}

/// The last it had to say about itself, or we about it.
type CompanionErrors = Arc<Mutex<HeadTailBuffer>>;

/// What is said to a companion, and what it says.
pub(crate) struct CompanionStreams {
    pub(crate) to: ChildStdin,
    pub(crate) from: ChildStdout,
}

impl CompanionProcess {
    /// Starts a child to talk to.
    pub(crate) fn start(
        confined: SandboxedCommand,
        cwd: &Path,
    ) -> io::Result<(Self, CompanionStreams)> {
        let arguments: Vec<&str> = confined.arguments().iter().map(String::as_str).collect();
        let mut group = ChildGroup::start(ChildSpawn {
            program: confined.program(),
            arguments: &arguments,
            cwd,
            environment: confined.environment(),
            stdin: Stdio::piped(),
        })?;
        let complaints = Arc::new(Mutex::new(HeadTailBuffer::new(COMPLAINTS)));
        let child = &mut group.child;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(stderr)) = pipes else {
            return Err(io::Error::other("a child without pipes"));
        };
        // Ends with the pipe, hence with the group. Unread, it would hold the child up.
        tokio::spawn(hear(stderr, Arc::clone(&complaints)));
        let watch = confined.watch().cloned().zip(group.id);
        let watching =
            watch.map(|(watch, id)| CompanionWatch::start(watch, id, Arc::clone(&complaints)));
        let companion =
            Self { _watching: watching, _group: group, _confined: confined, complaints };
        Ok((companion, CompanionStreams { to, from }))
    }

    /// Returns what it has complained of.
    pub(crate) fn complaints(&self) -> String {
        let kept = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clone().into_text_within(2 * COMPLAINTS)
    }
}

async fn hear(mut stderr: ChildStderr, complaints: CompanionErrors) {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        note(&complaints, buffer.get(..length).unwrap_or_default());
    }
}

fn note(complaints: &CompanionErrors, bytes: &[u8]) {
    complaints.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
}

/// Somebody who looks at what a companion uses, and ends it when that is too much.
struct CompanionWatch(AbortHandle);

impl CompanionWatch {
    fn start(watch: UsageWatch, group: Pid, complaints: CompanionErrors) -> Self {
        let watching = tokio::spawn(async move {
            // Nobody waits for the child while this runs, so the number stays its own.
            let exceeded = watch.exceeded(group.as_raw_nonzero().get().unsigned_abs()).await;
            note(&complaints, exceeded.to_string().as_bytes());
            if let Err(error) = kill_process_group(group, Signal::KILL) {
                tracing::warn!(%error, "a process group could not be ended");
            }
        });
        Self(watching.abort_handle())
    }
}

impl Drop for CompanionWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}
