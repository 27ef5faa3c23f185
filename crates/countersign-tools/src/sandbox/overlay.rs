//! Overlays: a root is seen and changed as ever, while every change is kept somewhere else.
//!
//! bubblewrap before 0.11 cannot mount one. So a first one, which shows everything as it is, starts the
//! launcher with the right to mount; that mounts the overlays where only it and its kin see them, gives
//! the right up and becomes the second bubblewrap, which makes the view from there.

use std::ffi::{CString, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use serde::{Deserialize, Serialize};

use super::enter::EnterError;
use crate::machine::process;

/// The first word by which the launcher knows that it is to mount.
pub(super) const OVERLAY: &str = "--overlay";

/// One overlay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OverlayMount {
    /// What stays as it is.
    pub(super) lower: PathBuf,
    /// Where changes go.
    pub(super) upper: PathBuf,
    /// An empty folder beside it, for the kernel.
    pub(super) work: PathBuf,
    /// An empty folder in which both are seen as one.
    pub(super) at: PathBuf,
}

/// Returns the words before those of the second bubblewrap, the first one's program aside.
pub(super) fn words(layers: &[OverlayMount], launcher: &[String]) -> io::Result<Vec<String>> {
    let first = ["--unshare-user", "--die-with-parent", "--cap-add", "ALL", "--bind", "/", "/"];
    let mut words: Vec<String> = first.map(str::to_owned).to_vec();
    words.extend(["--dev-bind", "/dev", "/dev", "--"].map(str::to_owned));
    words.extend_from_slice(launcher);
    words.extend([OVERLAY.to_owned(), serde_json::to_string(layers)?]);
    Ok(words)
}

/// Mounts the overlays and becomes the program. Returns only if that fails.
pub(super) fn mount_and_become(
    layers: &OsString,
    program: &OsString,
    arguments: &[OsString],
) -> EnterError {
    let open = |cause: io::Error| EnterError::Open(format!("its overlay: {cause}"));
    let text = layers.to_str().unwrap_or_default();
    let layers: Vec<OverlayMount> = match serde_json::from_str(text) {
        Ok(layers) => layers,
        Err(error) => return EnterError::Order(error.to_string()),
    };
    if let Err(cause) = layers.iter().try_for_each(OverlayMount::mount).and_then(|()| give_up()) {
        return open(cause);
    }
    let cause = process::replace(Path::new(program), arguments);
    EnterError::Program { program: program.to_string_lossy().into_owned(), cause }
}

impl OverlayMount {
    fn mount(&self) -> io::Result<()> {
        let [lower, upper, work] = [&self.lower, &self.upper, &self.work].map(|it| plain(it));
        let options =
            format!("lowerdir={},upperdir={},workdir={},userxattr", lower?, upper?, work?);
        let options = CString::new(options)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        Ok(mount("overlay", &self.at, "overlay", flags, options.as_c_str())?)
    }
}

/// Returns a path that means in the options of a mount what it says.
fn plain(path: &Path) -> io::Result<&str> {
    let text = path.to_str().filter(|text| !text.contains([',', ':', '\\', '\0']));
    text.ok_or_else(|| io::Error::other(format!("`{}` cannot be laid over", path.display())))
}

/// bubblewrap refuses to start with rights that it has not asked for. Root's it knows how to drop.
fn give_up() -> io::Result<()> {
    if geteuid().is_root() {
        return Ok(());
    }
    let none = CapabilitySet::empty();
    Ok(set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?)
}
