//! The client as a process, with a pipe or a terminal to look at.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use super::fake::{Fake, LIMIT};
use crate::world::{TOKEN, countersign};

/// A running client, and who looks at it.
pub(crate) struct Person {
    child: Child,
    text: Receiver<Vec<u8>>,
    /// What was printed and not yet asked for.
    ahead: String,
    keys: Option<File>,
    /// The folder its tools work in.
    pub(crate) root: PathBuf,
    _home: TempDir,
}

impl Person {
    /// Starts a client whose output is a pipe.
    pub(crate) fn at_a_pipe(fake: &Fake, args: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = command(&home, fake, args);
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
        let child = command.spawn().unwrap();
        drop(command);
        Self::of(child, reader, None, home)
    }

    /// Starts a client at a terminal.
    pub(crate) fn at_a_terminal(fake: &Fake, args: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (ours, theirs) = terminal();
        let mut command = command(&home, fake, args);
        let theirs = || File::from(theirs.try_clone().unwrap());
        command.stdin(theirs()).stdout(theirs()).stderr(theirs());
        let child = command.spawn().unwrap();
        drop(command);
        let ours = File::from(ours);
        let keys = ours.try_clone().unwrap();
        Self::of(child, ours, Some(keys), home)
    }

    fn of(
        child: Child,
        mut output: impl Read + Send + 'static,
        keys: Option<File>,
        home: TempDir,
    ) -> Self {
        let (send, text) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut buffer) {
                if send.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let root = home.path().join("root").canonicalize().unwrap();
        Self { child, text, ahead: String::new(), keys, root, _home: home }
    }

    /// Waits until something is printed, and returns all that was printed up to there.
    pub(crate) fn sees(&mut self, part: &str) -> String {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(at) = self.ahead.find(part) {
                let rest = self.ahead.split_off(at + part.len());
                return std::mem::replace(&mut self.ahead, rest);
            }
            let left = until.saturating_duration_since(Instant::now());
            let Ok(piece) = self.text.recv_timeout(left) else {
                panic!("`{part}` never came: {}", self.ahead)
            };
            self.ahead.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    /// Returns everything it prints until it ends, and how it ends.
    pub(crate) fn ends(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        while let Ok(piece) = self.text.recv_timeout(LIMIT) {
            self.ahead.push_str(&String::from_utf8_lossy(&piece));
        }
        (status, std::mem::take(&mut self.ahead))
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.keys.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn interrupts(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(home: &TempDir, fake: &Fake, args: &[&str]) -> std::process::Command {
    std::fs::create_dir(home.path().join("root")).unwrap();
    let mut command = countersign(home.path());
    command.args(["client", "--server", &fake.url(), "--project", "p", "--root", "root"]);
    command.args(args).env("COUNTERSIGN_TOKEN", TOKEN).env("NO_COLOR", "1");
    command
}

/// Returns the two ends of a new terminal: ours, and the one of whoever runs in it.
fn terminal() -> (OwnedFd, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    (ours, theirs.into())
}
