//! Files of one folder in a row, opened and looked at without walking to the folder each time.

use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::AtFlags;

use super::{DiskError, Missing, open_folder, open_in, open_regular, parts};

/// Opens files to read them, many of one folder in a row.
#[derive(Default)]
pub(crate) struct Opener {
    /// The folder of the last one. Whoever puts another in its place does not change what is read.
    last: Option<(PathBuf, OwnedFd)>,
}

impl Opener {
    /// The same as [`open`], for what was just seen to be of a kind.
    pub(crate) fn open_seen(
        &mut self,
        path: &Path,
        seen: Option<std::fs::FileType>,
    ) -> Result<(File, Metadata), DiskError> {
        let Ok((above, name)) = parts(path) else { return Err(DiskError::Folder) };
        let folder = self.folder(above)?;
        match seen {
            Some(kind) if kind.is_file() => open_regular(folder, name),
            _ => open_in(folder, name),
        }
    }

    /// Returns when a file was changed last; nothing where it cannot be looked at.
    pub(crate) fn changed(&mut self, path: &Path) -> Option<SystemTime> {
        let (above, name) = parts(path).ok()?;
        let folder = self.folder(above).ok()?;
        let seen = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let since = Duration::new(
            u64::try_from(seen.st_mtime).ok()?,
            u32::try_from(seen.st_mtime_nsec).ok()?,
        );
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    fn folder(&mut self, above: &Path) -> Result<&OwnedFd, DiskError> {
        let last = match self.last.take() {
            Some(known) if known.0 == above => known,
            _ => (above.to_owned(), open_folder(above, Missing::Report)?),
        };
        Ok(&self.last.insert(last).1)
    }
}
