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

use std::path::{Path, PathBuf};

use countersign_core::Effect;
use countersign_core::shell::{CanonicalCommandLine, CanonicalScript};

use self::shell::CanonicalShell;
use self::streams::CommandStreams;
use crate::machine::Environment;
use crate::machine::git;
use crate::machine::remove_steering_variables;

/// The word that makes the launcher run a canonical script instead of a program.
pub(crate) const MARK: &str = "--canonical";

/// Returns the script of a canonical form and the environment it gets.
///
/// What steers programs is left out; one that only reads has git started with settings of our choice.
pub(crate) fn prepare(
    canonical: &CanonicalCommandLine,
    effects: &[Effect],
    environment: &Environment,
) -> (CanonicalScript, Environment) {
    let mut script = canonical.script.clone();
    if effects.iter().all(Effect::is_read_only) {
        script.for_each_command(&mut git::harden);
    }
    (script, remove_steering_variables(environment))
}

/// Runs a canonical form in this process, as the Bash tool would without a sandbox, and returns its
/// exit code.
pub fn run_canonical(
    canonical: &CanonicalCommandLine,
    effects: &[Effect],
    cwd: &Path,
    environment: &Environment,
) -> u8 {
    let (script, environment) = prepare(canonical, effects, environment);
    let variables = environment.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    u8::try_from(execute(&script, cwd.to_owned(), variables)).unwrap_or(1)
}

/// Runs a script in this process's folder and environment, and returns its exit code.
pub(crate) fn execute(
    script: &CanonicalScript,
    cwd: PathBuf,
    environment: impl IntoIterator<Item = (String, String)>,
) -> i32 {
    let mut shell = CanonicalShell::new(cwd, environment);
    shell.run(script, &CommandStreams::from_process());
    shell.status
}
