//! The status of single paths, each looked at once per judgement.
//!
//! Reading one command asks for the same folders many times: those of `PATH`, the workspace's own, all
//! that lie above them. One look per path is faster, and no two answers of one judgement can differ.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use countersign_core::shell::TreeKind;

use super::tree_kind::{kind_of, kind_or_missing};
use crate::files::workspace;

/// What lies at a path, through no link.
#[derive(Clone, Copy)]
pub(super) struct FileStatus {
    pub(super) kind: TreeKind,
    pub(super) owner: u32,
    pub(super) mode: u32,
}

/// The paths that were looked at.
#[derive(Default)]
pub(super) struct StatusCache {
    known: Mutex<HashMap<OsString, Result<FileStatus, io::ErrorKind>>>,
}

impl StatusCache {
    /// Returns what lies at a path, through no link.
    pub(super) fn status(&self, path: &Path) -> Result<FileStatus, io::ErrorKind> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // As text: to compare paths component by component costs more than a second look would.
        let key: &OsStr = path.as_os_str();
        if let Some(status) = known.get(key) {
            return *status;
        }
        let status = match path.symlink_metadata() {
            Ok(it) => {
                Ok(FileStatus { kind: kind_of(it.file_type()), owner: it.uid(), mode: it.mode() })
            }
            Err(error) => Err(error.kind()),
        };
        known.insert(key.to_owned(), status);
        status
    }

    /// Returns the kind of what lies at a path, through no link; none if that cannot be told.
    pub(super) fn kind(&self, path: &Path) -> Option<TreeKind> {
        kind_or_missing(self.status(path).map(|status| status.kind))
    }

    /// Returns where a link points; none for what is no link or is missing.
    pub(super) fn read_link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match self.kind(path) {
            Some(TreeKind::Link) => path.read_link().map(Some),
            Some(_) => Ok(None),
            // The second look says why.
            None => path.symlink_metadata().map(|_| None),
        }
    }

    /// Returns the paths that were looked at.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.keys().map(PathBuf::from).collect()
    }

    /// Returns whether the same paths were looked at as in another.
    pub(super) fn has_same_paths(&self, other: &Self) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let others = other.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.len() == others.len() && known.keys().all(|path| others.contains_key(path))
    }

    /// Returns the path of something that exists, links resolved.
    pub(super) fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let real = workspace::follow_links(path, |path| self.read_link(path)).ok()?;
        self.status(&real).is_ok().then_some(real)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_looked_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let cache = StatusCache::default();
        assert_eq!(cache.kind(&file), Some(TreeKind::Missing));
        std::fs::write(&file, "").unwrap();
        assert_eq!(cache.kind(&file), Some(TreeKind::Missing));
        assert_eq!(StatusCache::default().kind(&file), Some(TreeKind::File));
    }

    #[test]
    fn a_real_path_is_what_the_kernel_says() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        let links = [("up", "a/b/.."), ("round", "round"), ("file", "up/file"), ("gone", "none")];
        for (name, to) in links {
            std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        }
        let cache = StatusCache::default();
        for path in
            ["a/b", "up", "up/b", "file", "a/b/../file", "round", "gone", "none", "a/file/x"]
        {
            let path = root.join(path);
            assert_eq!(cache.real_path(&path), path.canonicalize().ok(), "{}", path.display());
        }
    }
}
