//! The CLI's process: where its program is, how it is started, and how it is seen to end.

mod cli_process;
mod discover;
mod group_guard;
mod process_tree;
mod stderr;
mod version;

pub use cli_process::{LaunchError, start_cli};
pub use discover::{CliNotFoundError, find_cli};
pub use stderr::StderrTail;
pub use version::CliVersion;

use std::fmt;

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessExit {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl ProcessExit {
    /// Returns the end of a process that did what it was to do.
    pub fn success() -> Self {
        Self { code: Some(0), signal: None }
    }

    /// Whether it did what it was to do.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

impl From<std::process::ExitStatus> for ProcessExit {
    fn from(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }
}

impl fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "with code {code}"),
            (None, Some(signal)) => write!(f, "by signal {signal}"),
            (None, None) => f.write_str("in a way nobody saw"),
        }
    }
}
