//! The executor: runs the canonical form of a command, without any shell.
//!
//! It starts each program by its file with the words that were judged, joins them by pipes, and does
//! itself what a shell would do between them. It runs in a process of its own, inside the sandbox where
//! there is one, whose streams, folder and environment are those of the command.

mod builtin;
mod expansion;
mod program;
mod shell;
mod streams;

use std::path::PathBuf;

use countersign_core::shell::CanonicalScript;

use self::shell::Shell;
use self::streams::Streams;

/// The word that makes the launcher run a canonical script instead of a program.
pub(crate) const MARK: &str = "--canonical";

/// Runs a script in this process's folder and environment, and returns its exit code.
pub(crate) fn execute(
    script: &CanonicalScript,
    cwd: PathBuf,
    environment: impl IntoIterator<Item = (String, String)>,
) -> i32 {
    let mut shell = Shell::new(cwd, environment);
    shell.run(script, &Streams::own());
    shell.status
}
