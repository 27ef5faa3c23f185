//! What is in a folder: each name with a look at what it names, links not followed.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use super::{DiskError, MissingFolderPolicy, look, open_folder};

/// Above this many entries a folder is not listed.
const MOST: usize = 1_000_000;

/// One thing in a folder.
#[derive(Debug)]
pub(crate) struct FolderEntry {
    pub(crate) name: OsString,
    pub(crate) metadata: Metadata,
}

/// Returns whether there is a folder at a resolved path, with no link on the way to it.
pub(crate) fn is_folder(path: &Path) -> bool {
    open_folder(path, MissingFolderPolicy::Report).is_ok()
}

/// Lists a folder at a resolved path, until told to stop.
pub(crate) fn list(path: &Path, stopped: impl Fn() -> bool) -> Result<Vec<FolderEntry>, DiskError> {
    let folder = open_folder(path, MissingFolderPolicy::Report).map_err(|error| match error {
        DiskError::Io(_, cause) if cause.kind() == std::io::ErrorKind::NotADirectory => {
            // That of the last part, or of one above it: then there is no such folder either way.
            DiskError::NoFolder
        }
        other => other,
    })?;
    let io = |error: Errno| DiskError::Io("list", error.into());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = rustix::fs::openat(&folder, ".", flags, Mode::empty()).map_err(io)?;
    let mut found = Vec::new();
    for entry in Dir::read_from(&readable).map_err(io)? {
        let name = entry.map_err(io)?.file_name().to_bytes().to_vec();
        if stopped() || found.len() >= MOST {
            break;
        }
        if name == b"." || name == b".." {
            continue;
        }
        let name = OsString::from_vec(name);
        // What is gone since, or may not be looked at, is not there for us.
        if let Ok(metadata) = look(&folder, &name) {
            found.push(FolderEntry { name, metadata });
        }
    }
    Ok(found)
}
