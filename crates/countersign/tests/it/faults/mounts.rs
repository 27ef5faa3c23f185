//! Disks of one's own: a command that sees a small disk, or one that only reads, where others see a
//! plain folder.
#![expect(clippy::disallowed_methods, reason = "the children are what is tested")]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::place::is_left_out;

/// Room for what a few runs write, and not for much more.
const SMALL: &str = r#"mount -t tmpfs -o size=8m none "$1" && shift && exec "$@""#;

const READ_ONLY: &str =
    r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@""#;

/// Returns whether disks can be mounted here, unless somebody has said to go without.
pub(super) fn can_mount() -> bool {
    if is_left_out("mounts") {
        return false;
    }
    let mut probe = unshare();
    let probed = probe.args(["true"]).stderr(Stdio::null()).status();
    assert!(
        probed.is_ok_and(|status| status.success()),
        "this test mounts disks in a namespace of its own (`unshare --mount`), which is not allowed \
         here; allow it, or leave such tests out with COUNTERSIGN_TEST_WITHOUT=mounts"
    );
    true
}

/// Lets a command find a small disk in the place of a folder.
pub(super) fn on_small_disk(command: &Command, folder: &Path) -> Command {
    mounted(command, SMALL, folder)
}

/// Lets a command find a folder and all that is in it read-only.
pub(super) fn on_read_only_disk(command: &Command, folder: &Path) -> Command {
    mounted(command, READ_ONLY, folder)
}

fn mounted(command: &Command, script: &str, folder: &Path) -> Command {
    let mut outer = unshare();
    outer.args(["sh", "-c", script, "sh"]).arg(folder);
    outer.arg(command.get_program()).args(command.get_args());
    outer.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    outer.current_dir(command.get_current_dir().unwrap());
    outer
}

fn unshare() -> Command {
    let mut unshare = Command::new("unshare");
    unshare.arg("--mount");
    if !rustix::process::geteuid().is_root() {
        unshare.arg("--map-root-user");
    }
    unshare
}

/// The small disk of a process, seen from outside.
pub(super) struct Disk(PathBuf);

impl Disk {
    pub(super) fn of(pid: u32, folder: &Path) -> Self {
        Self(Path::new(&format!("/proc/{pid}/root")).join(folder.strip_prefix("/").unwrap()))
    }

    /// Leaves no room on it.
    pub(super) fn fill(&self) {
        let mut file = File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
    }

    pub(super) fn make_room(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}
