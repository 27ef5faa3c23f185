//! Folders made and removed, and permission bits, each reached through no link.

use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{DiskError, MissingFolderPolicy, NO_LINK, open, open_folder, parts};

/// Sets the permission bits of a regular file.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), DiskError> {
    let (file, _) = open(path)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))
        .map_err(|error| DiskError::Io("set the mode of", error.into()))
}

/// Makes a folder, where there must be nothing yet, with just these permission bits.
pub(crate) fn make_folder(path: &Path, mode: u32) -> Result<(), DiskError> {
    let (above, name) = parts(path)?;
    let parent = open_folder(above, MissingFolderPolicy::Report)?;
    let io = |error: Errno| DiskError::Io("make the folder", error.into());
    rustix::fs::mkdirat(&parent, name, Mode::RWXU).map_err(|error| match error {
        Errno::EXIST => DiskError::Changed,
        other => io(other),
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | NO_LINK;
    let folder = rustix::fs::openat(&parent, name, flags, Mode::empty()).map_err(io)?;
    rustix::fs::fchmod(&folder, Mode::from_raw_mode(mode)).map_err(io)
}

/// Removes a folder. One that is not empty is not what was seen.
pub(crate) fn remove_folder(path: &Path) -> Result<(), DiskError> {
    let (above, name) = parts(path)?;
    let parent = open_folder(above, MissingFolderPolicy::Report)?;
    rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR).map_err(|error| match error {
        Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT => DiskError::Changed,
        other => DiskError::Io("remove the folder", other.into()),
    })
}
