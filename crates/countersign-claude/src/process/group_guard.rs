//! A guard that outlives this program just long enough to end the CLI with it.
//!
//! A program that is killed outright runs no destructor. The guard is a shell that reads from a pipe
//! only this program holds: when the pipe closes, however that came about, it ends the CLI's group.

use std::process::Stdio;

use tokio::process::{Child, ChildStdin, Command};

/// Asks the group to end, and makes it two seconds later.
const SCRIPT: &str = r#"read -r _; kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1""#;

/// A guard; dropping it calls it off.
#[derive(Debug)]
pub(super) struct ProcessGroupGuard {
    shell: Child,
    _pipe: Option<ChildStdin>,
}

impl ProcessGroupGuard {
    /// Sets a guard over the group that `leader` leads. A system without a shell has none.
    #[expect(clippy::disallowed_methods, reason = "this crate starts its own processes")]
    pub(super) fn for_group(leader: u32) -> Option<Self> {
        let started = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "claude-guard", &leader.to_string()])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        match started {
            Ok(mut shell) => {
                let pipe = shell.stdin.take();
                Some(Self { shell, _pipe: pipe })
            }
            Err(error) => {
                tracing::warn!(%error, "nothing will end the CLI if this program is killed");
                None
            }
        }
    }
}

impl Drop for ProcessGroupGuard {
    fn drop(&mut self) {
        // Before the pipe closes, or it would do its work.
        let _ = self.shell.start_kill();
    }
}
