//! A watch on folders: whether anything was put into them, taken out of them or made another's.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::statfs;
use rustix::io::Errno;

/// File systems that tell of every change: those of networks do not tell of others' changes.
const TELLING: &[u32] = &[
    0x0000_EF53, // ext2 to ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0x2FC1_2FC1, // zfs
    0xF2F5_2010, // f2fs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs
    0x7371_7368, // squashfs
];

/// So much is read of the events at a time. What they say does not matter, only that there are any.
const EVENT_BUFFER: usize = 4 * 1024;

/// The folders that are watched.
pub(super) struct FolderWatch {
    inotify: OwnedFd,
    watched: HashSet<PathBuf>,
}

impl FolderWatch {
    /// Returns a watch on nothing yet.
    pub(super) fn new() -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { inotify, watched: HashSet::new() })
    }

    /// Watches all folders above a path that exist, so that nothing on the way to it changes unseen.
    pub(super) fn add_folders_above(&mut self, path: &Path) -> io::Result<()> {
        for folder in path.ancestors().skip(1) {
            if self.watched.contains(folder) {
                continue;
            }
            match self.add(folder) {
                // What comes to be there comes to be in a folder further up.
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(error.into()),
            }
            self.watched.insert(folder.to_owned());
        }
        Ok(())
    }

    fn add(&self, folder: &Path) -> Result<(), Errno> {
        let kind = statfs(folder)?.f_type;
        if !u32::try_from(kind).is_ok_and(|kind| TELLING.contains(&kind)) {
            return Err(Errno::NOTSUP);
        }
        let events = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        inotify::add_watch(&self.inotify, folder, events).map(drop)
    }

    /// Returns whether anything has changed since this was asked before, or may have. Then nothing is
    /// known to be watched any more: a folder may be another one by now.
    pub(super) fn take_changes(&mut self) -> bool {
        let mut events = [0; EVENT_BUFFER];
        let mut has_changed = false;
        while rustix::io::read(&self.inotify, &mut events) != Err(Errno::AGAIN) {
            has_changed = true;
            self.watched.clear();
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_changes_on_the_way_is_seen() {
        let changes: &[fn(&Path)] = &[
            |root| std::fs::write(root.join("a/b/new"), "").unwrap(),
            |root| std::fs::remove_file(root.join("a/b/old")).unwrap(),
            |root| std::fs::rename(root.join("a/b/old"), root.join("a/b/file")).unwrap(),
            |root| std::fs::rename(root.join("a"), root.join("c")).unwrap(),
            |root| std::fs::create_dir(root.join("a/missing")).unwrap(),
            |root| {
                let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
                std::fs::set_permissions(root.join("a/b"), open).unwrap();
            },
        ];
        for (number, change) in changes.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
            std::fs::write(folder.path().join("a/b/old"), "").unwrap();
            let mut watch = FolderWatch::new().unwrap();
            // Not those further up: other tests make their folders there.
            for watched in ["", "a", "a/b"] {
                watch.add(&folder.path().join(watched)).unwrap();
            }
            assert!(!watch.take_changes(), "{number}");
            change(folder.path());
            assert!(watch.take_changes(), "{number}");
            assert!(!watch.take_changes(), "{number}");
        }
    }

    #[test]
    fn all_folders_above_a_path_are_watched_and_missing_ones_pass() {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = FolderWatch::new().unwrap();
        watch.add_folders_above(&folder.path().join("missing/file")).unwrap();
        for above in [&folder.path().join("missing"), folder.path(), Path::new("/")] {
            assert!(watch.watched.contains(above), "{}", above.display());
        }
    }

    #[test]
    fn a_file_system_that_does_not_tell_is_not_watched() {
        let mut watch = FolderWatch::new().unwrap();
        assert!(watch.add_folders_above(Path::new("/proc/self/file")).is_err());
    }
}
