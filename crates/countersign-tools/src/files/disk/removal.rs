//! Files taken away, and links made where nothing stands.

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::{DiskError, FileSnapshot, MissingFolderPolicy, open_folder, parts, sync_folder};

impl FileSnapshot {
    /// Takes the file away, if it is still the one that was read.
    pub(crate) fn remove(&self) -> Result<(), DiskError> {
        if self.snapshot.is_none() {
            return Err(DiskError::Missing);
        }
        self.check_writable()?;
        let (above, name) = parts(&self.path)?;
        let folder = open_folder(above, MissingFolderPolicy::Report)?;
        self.check_still(&folder, above, name)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty())
            .map_err(|error| DiskError::Io("delete", error.into()))?;
        sync_folder(&folder).map_err(|error| DiskError::Io("delete", error))
    }

    /// Makes a link, where there must be nothing yet.
    pub(crate) fn link_to(&self, target: &str) -> Result<(), DiskError> {
        let (above, name) = parts(&self.path)?;
        let folder = open_folder(above, MissingFolderPolicy::Make)?;
        rustix::fs::symlinkat(target, &folder, name).map_err(|error| match error {
            Errno::EXIST => DiskError::Changed,
            other => DiskError::Io("link", other.into()),
        })?;
        sync_folder(&folder).map_err(|error| DiskError::Io("link", error))
    }

    /// Takes a link away that was just made.
    pub(crate) fn unlink(&self) -> Result<(), DiskError> {
        let (above, name) = parts(&self.path)?;
        let folder = open_folder(above, MissingFolderPolicy::Report)?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty())
            .map_err(|error| DiskError::Io("delete", error.into()))
    }
}
