//! Mounts: under which other names the same folder can be seen on this machine.
//!
//! Files are hidden by their path. Where a folder is mounted a second time, each file in it has a
//! second path.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the kernel tells of them.
const MOUNTS: &str = "/proc/self/mountinfo";

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MountEntry {
    /// The file system, as its number.
    device: String,
    /// The folder of that file system that is mounted.
    root: PathBuf,
    /// Where.
    at: PathBuf,
}

/// What is mounted where.
#[derive(Clone, Debug, Default)]
pub(super) struct MountTable(Vec<MountEntry>);

impl MountTable {
    /// Reads what is mounted now. Where the kernel does not tell, nothing is known.
    pub(super) fn read() -> Self {
        Self::parse(&fs::read_to_string(MOUNTS).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let mount = |line: &str| {
            let mut fields = line.split(' ').skip(2);
            let device = fields.next()?.to_owned();
            let (root, at) = (unescape(fields.next()?), unescape(fields.next()?));
            Some(MountEntry { device, root, at })
        };
        Self(text.lines().filter_map(mount).collect())
    }

    /// Returns the other paths at which a file or folder, or a part of it, can be seen. Paths below it
    /// are left out.
    pub(super) fn other_names(&self, path: &Path) -> Vec<PathBuf> {
        let others = self.possible_names(path).into_iter();
        // What is mounted over later hides what was there.
        let is_same = |(other, same): &(PathBuf, PathBuf)| is_same_file(other, same);
        let mut others: Vec<_> = others.filter(is_same).map(|(other, _)| other).collect();
        others.sort();
        others.dedup();
        others
    }

    /// Returns other paths, each with the path that leads to the same if the other one is not covered.
    fn possible_names(&self, path: &Path) -> Vec<(PathBuf, PathBuf)> {
        let mounts = self.0.iter().filter(|mount| path.starts_with(&mount.at));
        // Of several at the same place the last one is seen.
        let Some(own) = mounts.max_by_key(|mount| mount.at.components().count()) else {
            return Vec::new();
        };
        let inside = own.root.join(path.strip_prefix(&own.at).unwrap_or(path));
        let mut names = Vec::new();
        for mount in self.0.iter().filter(|mount| mount.device == own.device) {
            let name = if let Ok(below) = inside.strip_prefix(&mount.root) {
                (joined(&mount.at, below), path.to_owned())
            } else if let Ok(below) = mount.root.strip_prefix(&inside) {
                (mount.at.clone(), joined(path, below))
            } else {
                continue;
            };
            if !name.0.starts_with(path) {
                names.push(name);
            }
        }
        names
    }
}

/// Joins without a slash at the end where there is nothing to join.
fn joined(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.symlink_metadata(), other.symlink_metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        // What cannot be looked at cannot be read by a command either.
        _ => false,
    }
}

/// Reads a path in which blanks and the like are written as three octal digits.
fn unescape(field: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 254:1 /home /home rw - btrfs /dev/vdb rw
23 21 254:1 / /mnt/all\\040of\\040it rw - btrfs /dev/vdb rw
24 21 254:1 /home/me/ws/sub /srv/sub rw - btrfs /dev/vdb rw
25 21 254:1 /home/me/ws /home/me/ws/twice rw - btrfs /dev/vdb rw
26 21 0:30 / /tmp rw - tmpfs tmpfs rw
broken";

    #[track_caller]
    fn check(path: &str, expected: &[(&str, &str)]) {
        let names = MountTable::parse(TABLE).possible_names(Path::new(path));
        let expected: Vec<_> =
            expected.iter().map(|(other, same)| (other.into(), same.into())).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_folder_is_seen_wherever_its_file_system_is_mounted() {
        let all = "/mnt/all of it/home/me/ws";
        check("/home/me/ws", &[(all, "/home/me/ws"), ("/srv/sub", "/home/me/ws/sub")]);
        check("/home/me/.ssh", &[("/mnt/all of it/home/me/.ssh", "/home/me/.ssh")]);
        check("/etc/shadow", &[]);
        check("/tmp/x", &[]);
    }

    #[test]
    fn what_is_covered_by_another_mount_is_no_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        for folder in [&one, &other] {
            fs::create_dir(folder).unwrap();
        }
        assert!(is_same_file(&one, &one) && !is_same_file(&one, &other));
    }
}
