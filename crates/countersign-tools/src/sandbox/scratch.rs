//! Scratch: a folder for one child, gone with it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder for one child, gone with it.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    folder: TempDir,
    /// Where the kernel worked, in folders that it closes to everybody.
    worked: Vec<PathBuf>,
}

impl ScratchFolder {
    /// Makes one in a folder, for its owner alone.
    pub(super) fn make(within: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("countersign-").tempdir_in(within)?;
        Ok(Self { folder, worked: Vec::new() })
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a place for what is changed in an overlay, and one for the kernel.
    pub(super) fn layer(&mut self, number: usize) -> io::Result<(PathBuf, PathBuf)> {
        let [upper, work] = ["upper", "work"].map(|it| self.path().join(format!("{it}-{number}")));
        for folder in [&upper, &work] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        self.worked.push(work.join("work"));
        Ok((upper, work))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        for closed in &self.worked {
            // It is not there if nothing was ever mounted.
            let _ = fs::set_permissions(closed, Permissions::from_mode(0o700));
        }
    }
}
