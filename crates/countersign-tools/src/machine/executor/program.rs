//! Programs: how a child is started with the words that were judged.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use countersign_core::shell::CanonicalCommand;

use super::shell::{CanonicalShell, ScriptFlow};
use super::streams::{CommandStreams, failure};
use crate::machine::process;

/// Where the programs are that stand in for a shell's own commands.
const SYSTEM: &[&str] = &["/usr/bin", "/bin", "/run/current-system/sw/bin"];

/// Commands that a shell has itself, and the system has as programs.
const STAND_INS: &[&str] = &["[", "echo", "printf", "test"];

/// Clock ticks per second, as the kernel counts them for processes.
const TICKS: f64 = 100.0;

/// Runs a program to its end.
pub(super) fn run(
    shell: &mut CanonicalShell,
    command: &CanonicalCommand,
    words: &[String],
    streams: &CommandStreams,
) -> ScriptFlow {
    shell.status = match run_program(shell, command, words, streams) {
        Ok(status) => code(status),
        Err((code, why)) => {
            streams.complain(&why);
            code
        }
    };
    ScriptFlow::Next
}

fn run_program(
    shell: &mut CanonicalShell,
    command: &CanonicalCommand,
    words: &[String],
    streams: &CommandStreams,
) -> Result<ExitStatus, (i32, String)> {
    let (name, arguments) = words.split_first().ok_or((1, "there is no program".to_owned()))?;
    let file = match &command.program {
        Some(file) => file.clone(),
        None => find(shell, name)?,
    };
    let mut given = Vec::new();
    for assignment in &command.assignments {
        let value = shell.expand(&assignment.value, streams).map_err(|why| (1, why))?;
        given.push((assignment.name.clone(), value));
    }
    let exported =
        shell.exported.iter().filter_map(|name| Some((name, shell.variables.get(name)?)));
    let environment: Vec<_> = exported
        .map(|(name, value)| (name.clone(), value.clone()))
        .filter(|(name, _)| !given.iter().any(|(other, _)| other == name))
        .collect();
    let stdio = streams.to_stdio().map_err(|error| (1, error.to_string()))?;
    let wait = process::run_to_end(process::ExecutorChild {
        file: &file,
        name,
        arguments,
        cwd: &shell.cwd,
        environment: environment.into_iter().chain(given),
        stdio,
    });
    wait.map_err(|error| refusal(name, &file, &error))
}

fn refusal(name: &str, file: &Path, error: &io::Error) -> (i32, String) {
    match error.kind() {
        io::ErrorKind::NotFound => (127, failure(name, error)),
        _ if file.is_dir() => (126, format!("{name}: Is a directory")),
        _ => (126, failure(name, error)),
    }
}

/// Returns the file that a name means: one with a `/` from where the shell is, any other from `PATH`.
pub(super) fn find(shell: &CanonicalShell, name: &str) -> Result<PathBuf, (i32, String)> {
    if name.contains('/') {
        return Ok(shell.path(name));
    }
    let folders: Vec<PathBuf> = if STAND_INS.contains(&name) {
        SYSTEM.iter().map(PathBuf::from).collect()
    } else {
        let path = shell.variables.get("PATH").map(String::as_str).unwrap_or_default();
        std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
    };
    let found = folders.iter().map(|folder| folder.join(name)).find(|file| {
        file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
    });
    found.ok_or_else(|| (127, format!("{name}: command not found")))
}

/// Returns the exit code of a child, as a shell tells it.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Returns how many seconds ended children have spent in programs and in the kernel.
pub(super) fn times_of_children() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold blanks.
    let after = text.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
    let mut fields = after.split_whitespace().skip(13).map(|it| it.parse().unwrap_or(0.0) / TICKS);
    (fields.next().unwrap_or_default(), fields.next().unwrap_or_default())
}
