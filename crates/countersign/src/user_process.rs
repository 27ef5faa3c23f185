//! Programs that a command starts for its user, at their word: not for agents, whose children start in
//! `countersign_tools::machine::process`.
#![expect(
    clippy::disallowed_methods,
    reason = "the user's own programs, in the user's own environment"
)]

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::environment;

/// A program, what it is told, and for how long it may run.
pub(crate) struct UserProcess<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: &'a Path,
    /// Variables that are set beside those of the user.
    pub(crate) set: Vec<(&'a str, String)>,
    /// Variables of the user that it does not see.
    pub(crate) unset: &'a [&'a str],
    pub(crate) stdin: String,
    pub(crate) time: Duration,
}

impl UserProcess<'_> {
    /// Runs it to its end; the error says why there is none.
    pub(crate) fn output(self) -> Result<Output, String> {
        let variables = environment::all_variables();
        let variables = variables.iter().filter(|(name, _)| !self.hides(name));
        let mut command = Command::new(self.program);
        command.args(&self.args).current_dir(self.cwd).env_clear();
        command.envs(variables.map(|(name, value)| (name, value)));
        command.envs(self.set.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = self.program.display();
        let mut child = command.spawn().map_err(|error| format!("`{program}`: {error}"))?;
        let id = rustix::process::Pid::from_child(&child);
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read is judged by what it says.
            let _ = stdin.write_all(self.stdin.as_bytes());
        }
        let (done, waited) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(child.wait_with_output()));
        if let Ok(output) = waited.recv_timeout(self.time) {
            return output.map_err(|error| format!("`{program}`: {error}"));
        }
        // It may have ended in this moment.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        Err(format!("`{program}` did not end within {} s", self.time.as_secs()))
    }

    fn hides(&self, name: &OsStr) -> bool {
        self.unset.iter().any(|hidden| name == *hidden)
    }
}

/// Returns where a program is that is looked for by its name.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    environment::search_path().into_iter().map(|folder| folder.join(name)).find(|it| it.is_file())
}
