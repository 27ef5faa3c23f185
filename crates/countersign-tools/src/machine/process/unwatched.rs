//! Children that nobody watches: those of the executor and of the launcher, which end with their group.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

/// Becomes another program. Returns only if that fails, and why.
pub(crate) fn replace(program: &Path, arguments: &[OsString]) -> io::Error {
    #[expect(
        clippy::disallowed_methods,
        reason = "no child: the process itself goes on as another"
    )]
    let mut command = std::process::Command::new(program);
    std::os::unix::process::CommandExt::exec(command.args(arguments))
}

/// A child with streams of its own, which is not watched.
pub(crate) struct ExecutorChild<'a, E> {
    pub(crate) file: &'a Path,
    /// The name it is told to have.
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) cwd: &'a Path,
    pub(crate) environment: E,
    pub(crate) stdio: [Stdio; 3],
}

/// Runs a child of the executor to its end. Whoever ends the executor ends its whole group.
pub(crate) fn run_to_end<E: Iterator<Item = (String, String)>>(
    child: ExecutorChild<'_, E>,
) -> io::Result<ExitStatus> {
    #[expect(clippy::disallowed_methods, reason = "this is where children start")]
    let mut command = std::process::Command::new(child.file);
    let [stdin, stdout, stderr] = child.stdio;
    command.args(child.arguments).current_dir(child.cwd).env_clear().envs(child.environment);
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    std::os::unix::process::CommandExt::arg0(&mut command, child.name);
    let mut started = command.spawn()?;
    // Its ends of the streams are the child's alone from here on.
    drop(command);
    started.wait()
}

/// Starts a process of the launcher's own beside the program, with this as its standard input. It ends
/// with the sandbox.
pub(crate) fn leave_beside(program: &Path, arguments: &[String], input: OwnedFd) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "this is where children start")]
    let mut command = std::process::Command::new(program);
    command.args(arguments).env_clear().stdin(Stdio::from(input));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}
