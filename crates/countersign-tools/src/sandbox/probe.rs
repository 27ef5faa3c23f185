//! The probe: what a sandbox is worth on this machine, found by trying to get out of it.
//!
//! Versions prove nothing. A child is started as every other one will be, and tries to write outside,
//! to read what is hidden, to reach a port and a socket of this machine and the process that started it.

use std::ffi::OsString;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::enter::EnterError;

/// The first word by which the launcher knows that it is to try.
pub(super) const PROBE: &str = "--probe";

/// What is tried.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProbeAttempts {
    /// A file in the workspace, to be written.
    inside: PathBuf,
    /// A file beside it, not to be written.
    outside: PathBuf,
    /// A file that is hidden.
    hidden: PathBuf,
    /// A port of this machine.
    port: u16,
    /// A socket that is a file beside the workspace.
    socket: PathBuf,
    /// The process that asks.
    asker: u32,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is an attempt of its own")]
struct ProbeFindings {
    read_hidden: bool,
    reached_port: bool,
    reached_socket: bool,
    reached_asker: bool,
    /// Whether seccomp filters, and new rights are out of reach.
    is_filtered: bool,
}

/// A place to try in, which goes away afterwards.
pub(super) struct ProbeFolder {
    folder: PathBuf,
    listener: TcpListener,
    /// None where the path is too long for one.
    _socket: Option<UnixListener>,
}

impl ProbeFolder {
    /// Makes a workspace and things beside it, in a folder that no sandbox shows.
    pub(super) fn make(state: &Path) -> io::Result<Self> {
        let folder = state.join(format!("probe-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for below in ["ws", "hidden"] {
            fs::create_dir_all(folder.join(below))?;
        }
        fs::write(folder.join("hidden/key"), "a key")?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let socket = UnixListener::bind(folder.join("socket")).ok();
        Ok(Self { folder, listener, _socket: socket })
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.join("ws")
    }

    pub(super) fn hidden(&self) -> PathBuf {
        self.folder.join("hidden")
    }

    /// Returns the word that tells the child what to try.
    pub(super) fn attempts(&self) -> io::Result<String> {
        let attempts = ProbeAttempts {
            inside: self.folder.join("ws/inside"),
            outside: self.folder.join("outside"),
            hidden: self.folder.join("hidden/key"),
            socket: self.folder.join("socket"),
            port: self.listener.local_addr()?.port(),
            asker: std::process::id(),
        };
        Ok(serde_json::to_string(&attempts)?)
    }

    /// Returns what the child got out of, if it got out, or that it did not even work inside.
    pub(super) fn leak(&self, said: &str) -> Option<String> {
        let Ok(found) = serde_json::from_str::<ProbeFindings>(said.trim()) else {
            let said = said.trim();
            let said = if said.is_empty() { "nothing" } else { said };
            return Some(format!("the child did not get to try; it said: {said}"));
        };
        // What the child believes to have written may be in a folder that only it sees.
        let really = |file: &str| self.folder.join(file).exists();
        let leak = if !really("ws/inside") {
            "a command could not write in its workspace"
        } else if really("outside") {
            "a command could write outside its workspace"
        } else if found.read_hidden {
            "a command could read what is hidden"
        } else if found.reached_port {
            "a command could reach a port of this machine"
        } else if found.reached_socket {
            "a command could reach a service by its socket"
        } else if found.reached_asker {
            "a command could reach the server's process"
        } else if !found.is_filtered {
            "a command could make every system call"
        } else {
            return None;
        };
        Some(leak.to_owned())
    }
}

impl Drop for ProbeFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Tries everything, from inside, and tells on standard output.
pub(super) fn attempt(attempts: &OsString) -> Result<(), EnterError> {
    let text = attempts.to_str().unwrap_or_default();
    let attempts: ProbeAttempts =
        serde_json::from_str(text).map_err(|error| EnterError::Order(error.to_string()))?;
    serde_json::to_string(&attempts.made())
        .map_err(io::Error::from)
        .and_then(|findings| writeln!(io::stdout(), "{findings}"))
        .map_err(|cause| EnterError::Open(cause.to_string()))
}

impl ProbeAttempts {
    fn made(&self) -> ProbeFindings {
        for file in [&self.inside, &self.outside] {
            let _ = fs::write(file, "x");
        }
        let of_asker = |name: &str| PathBuf::from(format!("/proc/{}/{name}", self.asker));
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let says = |line: &str| status.lines().any(|it| it.split_whitespace().eq(line.split(' ')));
        ProbeFindings {
            read_hidden: fs::read(&self.hidden).is_ok(),
            reached_port: TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok(),
            reached_socket: UnixStream::connect(&self.socket).is_ok(),
            reached_asker: fs::read_link(of_asker("fd/0")).is_ok()
                || fs::read(of_asker("environ")).is_ok_and(|it| !it.is_empty()),
            is_filtered: says("Seccomp: 2") && says("NoNewPrivs: 1"),
        }
    }
}
