//! The process itself: leader of a group of its own, and never left behind.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

use super::group_guard::ProcessGroupGuard;
use super::{ProcessExit, StderrTail, discover, process_tree};
use crate::transport::{CliConnection, CliLaunch, CliPeer};

/// Why the CLI was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// There is no such program.
    #[error(transparent)]
    NotFound(#[from] discover::CliNotFoundError),
    /// There is no such folder.
    #[error("the working directory `{}` does not exist", .0.display())]
    WorkingDirectory(PathBuf),
    /// Windows would run it through `cmd.exe`.
    #[error("`{}` is a batch file, whose arguments could be run as commands; name the native program instead", .0.display())]
    BatchFile(PathBuf),
    /// The file is there, and yet the system says it is not.
    #[error(
        "`{}` is there but cannot be started: what it needs to run is missing, such as its \
         interpreter or the C library it was built for (glibc or musl)", .0.display()
    )]
    Unrunnable(PathBuf),
    /// The arguments are too long for the system.
    #[error("the command line is too long for this system ({bytes} bytes)")]
    TooLong {
        /// How long they are.
        bytes: usize,
    },
    /// Anything else.
    #[error("`{}` could not be started", .program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Starts the CLI.
pub fn start_cli(launch: &CliLaunch) -> Result<CliConnection, LaunchError> {
    let program = discover::find_cli(launch.program.as_deref(), &launch.inherited)?;
    if cfg!(windows) && discover::is_batch_file(&program) {
        return Err(LaunchError::BatchFile(program));
    }
    if let Some(cwd) = launch.cwd.as_deref().filter(|cwd| !cwd.is_dir()) {
        return Err(LaunchError::WorkingDirectory(cwd.to_owned()));
    }
    let mut child = build_command(&program, launch)
        .spawn()
        .map_err(|error| to_launch_error(&program, launch, error))?;
    let guard = child.id().and_then(ProcessGroupGuard::for_group);
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let cli = CliProcess { id: child.id(), child, guard };
    let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
        let source = io::Error::other("its pipes are missing");
        return Err(LaunchError::Spawn { program, source });
    };
    Ok(CliConnection {
        input: Box::new(input),
        output: Box::new(output),
        stderr: StderrTail::spawn_reader(errors, launch.stderr.clone()),
        peer: Box::new(cli),
    })
}

#[expect(clippy::disallowed_methods, reason = "this crate starts its own processes")]
fn build_command(program: &Path, launch: &CliLaunch) -> Command {
    let is_script = program
        .extension()
        .is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|script| ending == *script));
    let mut command = if is_script {
        let mut node = Command::new("node");
        node.arg(program);
        node
    } else {
        Command::new(program)
    };
    command
        .args(&launch.arguments)
        .env_clear()
        .envs(launch.variables.iter())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    {
        command.process_group(0);
        if let Some((user, group)) = launch.run_as {
            command.uid(user).gid(group);
        }
    }
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    command
}

/// Tells the reasons apart for which the system gives one and the same error.
fn to_launch_error(program: &Path, launch: &CliLaunch, error: io::Error) -> LaunchError {
    let bytes = launch.arguments.iter().map(|it| it.len() + 1).sum();
    match error.kind() {
        io::ErrorKind::ArgumentListTooLong => LaunchError::TooLong { bytes },
        // ERROR_FILENAME_EXCED_RANGE: Windows reports a long command line as a bad file name.
        _ if cfg!(windows) && error.raw_os_error() == Some(206) => LaunchError::TooLong { bytes },
        io::ErrorKind::NotFound if program.is_file() => LaunchError::Unrunnable(program.to_owned()),
        _ => LaunchError::Spawn { program: program.to_owned(), source: error },
    }
}

/// A running CLI. Dropping it kills its whole group.
struct CliProcess {
    child: Child,
    id: Option<u32>,
    guard: Option<ProcessGroupGuard>,
}

impl CliProcess {
    fn leader(&self) -> Option<Pid> {
        self.id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
    }

    /// Ends what is left of the group. The leader is gone, so its id may be used by another group
    /// as soon as this one is empty: this must follow the exit at once.
    fn kill_group(&mut self) {
        self.guard = None;
        if let Some(leader) = self.leader() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        self.id = None;
    }
}

impl CliPeer for CliProcess {
    fn pid(&self) -> Option<u32> {
        self.id
    }

    fn wait_for_exit(&mut self) -> BoxFuture<'_, ProcessExit> {
        Box::pin(async {
            let exit = self.child.wait().await.map(ProcessExit::from).unwrap_or_default();
            self.kill_group();
            exit
        })
    }

    fn terminate(&mut self) {
        // Only the leader: it ends its own children, and in order.
        if let Some(leader) = self.leader() {
            let _ = kill_process(leader, Signal::TERM);
        }
    }

    fn kill(&mut self) {
        if let Some(leader) = self.leader() {
            process_tree::kill_descendants(leader);
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for CliProcess {
    fn drop(&mut self) {
        self.kill();
        self.kill_group();
    }
}
