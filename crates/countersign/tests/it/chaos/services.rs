//! Services that the servers use: a database of their own in the tests' cluster, and a bus that comes
//! and goes.
#![expect(clippy::disallowed_methods, reason = "the scripts are how services start")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::plan;

/// Makes an empty database in the tests' cluster and returns its URL.
pub(crate) fn new_database() -> String {
    let cluster = plan::cluster();
    let name = format!("chaos_{:016x}", fastrand::u64(..));
    sql(&cluster, &format!("CREATE DATABASE {name}"));
    let (place, _) = cluster.rsplit_once('/').unwrap();
    format!("{place}/{name}")
}

/// Runs a statement on a database.
pub(crate) fn sql(url: &str, statement: &str) {
    said(Command::new("psql").args(["--no-psqlrc", "--quiet", url, "--command", statement]));
}

/// A NATS server.
pub(super) struct Bus {
    folder: PathBuf,
    pub(super) url: String,
    is_running: bool,
}

impl Bus {
    pub(super) fn start(folder: PathBuf) -> Self {
        let url = said(script().arg("start").arg(&folder));
        Self { folder, url, is_running: true }
    }

    /// Stops it if it runs, starts it where it was if not.
    pub(super) fn toggle(&mut self) {
        if self.is_running {
            said(script().arg("stop").arg(&self.folder));
        } else {
            let (_, port) = self.url.rsplit_once(':').unwrap();
            said(script().arg("start").arg(&self.folder).arg(port));
        }
        self.is_running = !self.is_running;
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        if self.is_running {
            // Nothing is left to be done about one that does not stop.
            let _ = script().arg("stop").arg(&self.folder).status();
        }
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/nats"))
}

/// Runs a command to its end and returns what it said.
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
