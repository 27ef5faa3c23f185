//! Files of one folder in a row, opened and looked at without walking to the folder each time.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Stat};

use super::{DiskError, MissingFolderPolicy, check_regular, open_file, open_folder};

/// Opens files to read them, many of one folder in a row.
#[derive(Default)]
pub(crate) struct FileOpener {
    /// The folder of the last one. Whoever puts another in its place does not change what is read.
    last: Option<(PathBuf, OwnedFd)>,
}

/// A file that was opened, and what there is to know of it.
pub(crate) struct OpenedFile {
    pub(crate) file: File,
    stat: Stat,
}

impl OpenedFile {
    pub(crate) fn length(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or_default()
    }

    pub(crate) fn changed(&self) -> Option<SystemTime> {
        changed(&self.stat)
    }
}

impl FileOpener {
    /// Opens what was just seen in a folder, if it is a regular file.
    pub(crate) fn open(&mut self, above: &Path, name: &OsStr) -> Result<OpenedFile, DiskError> {
        let file = open_file(self.folder(above)?, name)?;
        // What was opened counts, not what was seen: the two may differ.
        let stat = rustix::fs::fstat(&file).map_err(|error| DiskError::Io("read", error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            let metadata = file.metadata().map_err(|error| DiskError::Io("read", error))?;
            check_regular(&metadata)?;
        }
        Ok(OpenedFile { file, stat })
    }

    /// Returns when a file was changed last; nothing where it cannot be looked at, as behind a link that
    /// somebody put in the way.
    pub(crate) fn changed(&mut self, path: &Path) -> Option<SystemTime> {
        let (above, name) = split(path)?;
        let folder = self.folder(above).ok()?;
        changed(&rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?)
    }

    fn folder(&mut self, above: &Path) -> Result<&OwnedFd, DiskError> {
        let last = match self.last.take() {
            // To the letter: by their parts paths take longer to compare than to open.
            Some(known) if known.0.as_os_str() == above.as_os_str() => known,
            _ => (above.to_owned(), open_folder(above, MissingFolderPolicy::Report)?),
        };
        Ok(&self.last.insert(last).1)
    }
}

fn changed(stat: &Stat) -> Option<SystemTime> {
    // Nobody cares how long before 1970 that was.
    let since = Duration::new(
        u64::try_from(stat.st_mtime).unwrap_or_default(),
        u32::try_from(stat.st_mtime_nsec).unwrap_or_default(),
    );
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Cuts an absolute path, as a walk makes them, into its folder and its name: a fraction of what it
/// takes to look at all its parts.
pub(crate) fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    let bytes = path.as_os_str().as_bytes();
    let cut = bytes.iter().rposition(|byte| *byte == b'/')?;
    let (above, name) = (bytes.get(..cut.max(1))?, bytes.get(cut + 1..)?);
    let is_name = !matches!(name, b"" | b"." | b"..");
    is_name.then(|| (Path::new(OsStr::from_bytes(above)), OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_before_its_name() {
        let cut =
            |path: &'static str| split(Path::new(path)).map(|(a, b)| (a.to_str(), b.to_str()));
        assert_eq!(cut("/a/b"), Some((Some("/a"), Some("b"))));
        assert_eq!(cut("/a"), Some((Some("/"), Some("a"))));
        assert_eq!([cut("/"), cut("/a/"), cut("/a/.."), cut("a")], [None, None, None, None]);
    }
}
