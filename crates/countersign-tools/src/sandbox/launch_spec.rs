//! The order: what the launcher is told to do before it becomes the program.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::machine::process::ResourceLimits;

/// What a child is held to, beyond what it sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaunchSpec {
    /// Where files may be written and made.
    pub(super) writable: Vec<PathBuf>,
    /// What may not even be read. Where there is a view of its own, it hides these already.
    pub(super) hidden: Vec<PathBuf>,
    pub(super) limits: ResourceLimits,
    /// Whether there is a view: names of users, processes and networks of its own.
    pub(super) has_view: bool,
    /// Whether to refuse to start where the kernel has no Landlock.
    pub(super) needs_landlock: bool,
    /// The way to the proxy, where some hosts may be reached.
    pub(super) proxy: Option<ProxyForward>,
}

/// A port inside that leads to a socket outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProxyForward {
    pub(super) port: u16,
    pub(super) socket: PathBuf,
    /// The words that start the launcher, inside.
    pub(super) launcher: Vec<String>,
}
