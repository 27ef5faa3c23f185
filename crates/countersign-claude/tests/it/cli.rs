//! A CLI that is a process: a shell script, or `examples/fake_cli.rs` with a script of its own.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use countersign_claude::Options;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a program called `claude`.
pub(crate) struct Cli {
    folder: TempDir,
}

impl Cli {
    /// A shell script. It writes its id down first.
    pub(crate) fn shell(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cli = Self { folder };
        let pids = cli.path("pids");
        let text = format!("#!/bin/sh\necho $$ >> '{}'\n{script}\n", pids.display());
        let program = cli.program();
        std::fs::write(&program, text).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        cli
    }

    /// The fake, which does these steps.
    pub(crate) fn steps(steps: &[Value]) -> Self {
        let cli = Self::shell(&format!("exec '{}'", example("fake_cli").display()));
        let lines: Vec<_> = steps.iter().map(Value::to_string).collect();
        std::fs::write(cli.path("script"), lines.join("\n")).unwrap();
        cli
    }

    pub(crate) fn options(&self) -> Options {
        let script = self.path("script").display().to_string();
        Options::new().cli_path(self.program()).env("FAKE_CLI_SCRIPT", script)
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.path("claude")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the ids of all that wrote theirs down.
    pub(crate) fn pids(&self) -> Vec<Pid> {
        let text = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
        text.lines().map(|line| Pid::from_raw(line.parse().unwrap()).unwrap()).collect()
    }

    /// Waits until all that wrote their ids down are gone.
    pub(crate) async fn gone(&self) {
        for pid in self.pids() {
            let gone = tokio::task::spawn_blocking(move || is_gone(pid)).await.unwrap();
            assert!(gone, "process {pid:?} is left");
        }
    }
}

/// Waits until a process is gone, or too long.
fn is_gone(pid: Pid) -> bool {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// Returns where an example of this crate was built: beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(built.is_file(), "`cargo build --examples` makes `{}`", built.display());
    built
}
