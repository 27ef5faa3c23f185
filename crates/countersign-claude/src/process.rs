//! The CLI's process: where its program is, how it is started, and how it is seen to end.

mod child;
mod discover;
mod family;
mod guard;
mod stderr;
mod version;

pub use child::{LaunchError, start};
pub use discover::{NotFound, find};
pub use stderr::StderrTail;
pub use version::Version;

use std::fmt;

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// Returns the end of a process that did what it was to do.
    pub fn success() -> Self {
        Self { code: Some(0), signal: None }
    }

    /// Whether it did what it was to do.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

impl From<std::process::ExitStatus> for Exit {
    fn from(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "with code {code}"),
            (None, Some(signal)) => write!(f, "by signal {signal}"),
            (None, None) => f.write_str("in a way nobody saw"),
        }
    }
}
