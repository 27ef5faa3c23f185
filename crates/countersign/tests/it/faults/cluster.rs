//! A PostgreSQL that is this test's alone, to be stopped.
#![expect(clippy::disallowed_methods, reason = "the scripts are how services start")]

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::chaos::services::said;

pub(super) struct Cluster {
    pub(super) url: String,
    folder: TempDir,
}

impl Cluster {
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { url: said(script().arg("start").arg(folder.path())), folder }
    }

    /// Has something done to it by the script: `stop`, `start`, `pause`, `go-on`.
    pub(super) fn order(&self, what: &str) {
        tokio::task::block_in_place(|| said(script().arg(what).arg(self.folder.path())));
    }

    /// Asks it for a number.
    pub(super) fn count(&self, what: &str) -> u64 {
        let mut psql = Command::new("psql");
        psql.args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            &self.url,
            "--command",
        ]);
        said(psql.arg(format!("SELECT count(*) FROM {what}"))).parse().unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It may be paused, or stopped already: then one of the two has nothing to do.
        for order in ["go-on", "stop"] {
            let told = script().arg(order).arg(self.folder.path()).stderr(Stdio::null()).status();
            drop(told);
        }
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres"))
}
