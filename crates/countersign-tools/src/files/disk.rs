//! Files, opened and replaced without following a link.
//!
//! A path that comes here was resolved before, so none of its parts is a link any more. Every part is
//! opened from the folder above it and must not be one: a link put there in the meantime leads nowhere.

mod folder;
mod listing;
mod opener;
mod removal;
mod temporary_file;

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use countersign_core::{Digest, FileState, InvalidCall, PermitTerms, Preimage};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

pub(crate) use self::folder::{make_folder, remove_folder, set_mode};
pub(crate) use self::listing::{FolderEntry, is_folder, list};
pub(crate) use self::opener::{FileOpener, split};
use self::temporary_file::{PlacementResult, TemporaryFile};
use crate::files::text::size;
use crate::tool_error::ToolError;

/// Above this many bytes a file is not read as a whole, hence not changed by us.
pub(crate) const WHOLE_LIMIT: u64 = 64 * 1024 * 1024;

/// A look at something without opening it: works without leave to read, never hangs on a FIFO.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

const NO_LINK: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Why a file cannot be read or replaced.
#[derive(Debug)]
pub(crate) enum DiskError {
    Missing,
    Folder,
    NoFolder,
    /// A FIFO, a socket, a device; a link where none should be.
    Special(&'static str),
    ReadOnly,
    TooLarge(u64),
    Changed,
    Io(&'static str, io::Error),
}

impl DiskError {
    /// Returns the error in words, for the path as the call gives it.
    pub(crate) fn into_tool_error(self, path: &str) -> ToolError {
        let path = path.to_owned();
        let text = match self {
            Self::Changed => return ToolError::Drift { path },
            Self::Io(doing, cause) => return ToolError::Io { doing, path, cause },
            Self::Missing => format!("`{path}` does not exist"),
            Self::Folder => format!("`{path}` is a folder, not a file"),
            Self::NoFolder => format!("`{path}` is a file, not a folder"),
            Self::Special(what) => format!("`{path}` is {what}: only regular files are touched"),
            Self::ReadOnly => {
                format!("`{path}` is read-only; ask the user before you change its mode with Bash")
            }
            Self::TooLarge(bytes) => format!(
                "`{path}` is too large to be changed as a whole ({}, the limit is {}); use Bash",
                size(bytes),
                size(WHOLE_LIMIT)
            ),
        };
        ToolError::invalid(text)
    }

    /// Returns the error in words, before anything was approved.
    pub(crate) fn in_preview(self, path: &str) -> InvalidCall {
        match self.into_tool_error(path) {
            ToolError::Invalid(invalid) => invalid,
            ToolError::Drift { path } => InvalidCall(format!("`{path}` changes while it is read")),
            other => InvalidCall(other.to_string()),
        }
    }
}

/// A file as it was when it was read.
#[derive(Debug)]
pub(crate) struct LoadedFile {
    pub(crate) bytes: Vec<u8>,
    metadata: Metadata,
}

/// What there is at a path: a file, or nothing yet.
#[derive(Debug)]
pub(crate) struct FileSnapshot {
    path: PathBuf,
    pub(crate) snapshot: Option<LoadedFile>,
}

impl FileSnapshot {
    /// Reads what there is at a resolved path.
    pub(crate) fn read(path: &Path) -> Result<Self, DiskError> {
        let snapshot = match open(path) {
            Ok((file, metadata)) => {
                if metadata.len() > WHOLE_LIMIT {
                    return Err(DiskError::TooLarge(metadata.len()));
                }
                let mut bytes = Vec::new();
                let read = file.take(WHOLE_LIMIT + 1).read_to_end(&mut bytes);
                read.map_err(|error| DiskError::Io("read", error))?;
                if bytes.len() as u64 > WHOLE_LIMIT {
                    return Err(DiskError::TooLarge(bytes.len() as u64));
                }
                Some(LoadedFile { bytes, metadata })
            }
            Err(DiskError::Missing) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { path: path.to_owned(), snapshot })
    }

    /// Reads what there is at a resolved path, if it may be written.
    pub(crate) fn read_writable(path: &Path) -> Result<Self, DiskError> {
        let snapshot = Self::read(path)?;
        snapshot.check_writable()?;
        Ok(snapshot)
    }

    /// Reads what there is at a resolved path, if it is still what a permit is bound to.
    pub(crate) fn read_permitted(path: &Path, permit: &PermitTerms) -> Result<Self, DiskError> {
        let snapshot = Self::read(path)?;
        snapshot.check(permit)?;
        Ok(snapshot)
    }

    /// Reads once more what there is at the same path.
    pub(crate) fn reread(&self) -> Result<Self, DiskError> {
        Self::read(&self.path)
    }

    /// Returns the content; none where there is no file.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.snapshot.as_ref().map(|snapshot| snapshot.bytes.as_slice())
    }

    /// Returns what a decision is to be bound to.
    pub(crate) fn preimage(&self) -> Preimage {
        let digest = self.snapshot.as_ref().map(|snapshot| Digest::for_bytes(&snapshot.bytes));
        Preimage { path: self.path.clone(), digest }
    }

    /// Returns what there is as it is kept of changes.
    pub(crate) fn state(&self) -> FileState {
        match &self.snapshot {
            None => FileState::Absent,
            Some(snapshot) => FileState::File {
                digest: Digest::for_bytes(&snapshot.bytes),
                mode: snapshot.metadata.mode() & 0o7777,
            },
        }
    }

    /// Checks that this is what the decision was bound to, if it was bound to anything.
    pub(crate) fn check(&self, permit: &PermitTerms) -> Result<(), DiskError> {
        // A path that leads elsewhere now is not among them either.
        let bound = permit.preimages();
        if bound.is_empty() || bound.contains(&self.preimage()) {
            Ok(())
        } else {
            Err(DiskError::Changed)
        }
    }

    /// Checks that the file may be written at all: replacing it would get around its mode.
    pub(crate) fn check_writable(&self) -> Result<(), DiskError> {
        match &self.snapshot {
            Some(snapshot) if snapshot.metadata.mode() & 0o222 == 0 => Err(DiskError::ReadOnly),
            Some(_) => match rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK) {
                Err(Errno::ACCESS | Errno::ROFS | Errno::PERM) => Err(DiskError::ReadOnly),
                _ => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Puts `bytes` in the place of what was read, all or nothing.
    ///
    /// Keeps the mode and, where we may, the owner. Makes missing folders above a new file.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), DiskError> {
        self.replace_like(bytes, self.snapshot.as_ref(), None)
    }

    /// The same with the mode and the owner of `like`, and executable or not where that is said.
    pub(crate) fn replace_like(
        &self,
        bytes: &[u8],
        like: Option<&LoadedFile>,
        executable: Option<bool>,
    ) -> Result<(), DiskError> {
        self.check_writable()?;
        let like = like.map(|snapshot| &snapshot.metadata);
        let (above, name) = parts(&self.path)?;
        let folder = open_folder(above, MissingFolderPolicy::Make)?;
        let io = |error| DiskError::Io("write", error);
        let put = |temporary: TemporaryFile<'_>| {
            temporary.fill(bytes, like, executable).map_err(io)?;
            self.check_still(&folder, above, name)?;
            temporary.place(name, self.snapshot.is_none())
        };
        let placed = match TemporaryFile::unnamed(&folder, like) {
            Some(temporary) => put(temporary)?,
            None => PlacementResult::Nameless,
        };
        if placed == PlacementResult::Nameless {
            put(TemporaryFile::named(&folder, like)?)?;
        }
        sync_folder(&folder).map_err(io)
    }

    fn metadata(&self) -> Option<&Metadata> {
        self.snapshot.as_ref().map(|snapshot| &snapshot.metadata)
    }

    /// Checks, as late as possible, that the folder and the file are still those that were read.
    fn check_still(&self, folder: &OwnedFd, above: &Path, name: &OsStr) -> Result<(), DiskError> {
        let io = |error: io::Error| DiskError::Io("write", error);
        let identity = |fd: &OwnedFd| -> io::Result<(u64, u64)> {
            let metadata = File::from(fd.try_clone()?).metadata()?;
            Ok((metadata.dev(), metadata.ino()))
        };
        let again =
            open_folder(above, MissingFolderPolicy::Report).map_err(|_| DiskError::Changed)?;
        if identity(folder).map_err(io)? != identity(&again).map_err(io)? {
            return Err(DiskError::Changed);
        }
        let now = match look(folder, name) {
            Ok(metadata) => Some(metadata),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(io(error.into())),
        };
        if self.metadata().map(stamp) == now.as_ref().map(stamp) {
            Ok(())
        } else {
            Err(DiskError::Changed)
        }
    }
}

/// What changes when a file is replaced or written to.
fn stamp(metadata: &Metadata) -> [i64; 8] {
    [
        metadata.dev().cast_signed(),
        metadata.ino().cast_signed(),
        metadata.size().cast_signed(),
        i64::from(metadata.mode()),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ]
}

/// Opens a regular file to read it.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata), DiskError> {
    let Ok((above, name)) = parts(path) else { return Err(DiskError::Folder) };
    open_in(&open_folder(above, MissingFolderPolicy::Report)?, name)
}

fn open_in(folder: &OwnedFd, name: &OsStr) -> Result<(File, Metadata), DiskError> {
    // Some devices do something when they are opened: so a look first.
    let seen = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let seen = seen.map_err(|error| match error {
        Errno::NOENT => DiskError::Missing,
        other => DiskError::Io("read", other.into()),
    })?;
    if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile {
        let odd = look(folder, name).map_err(|error| DiskError::Io("read", error.into()))?;
        check_regular(&odd)?;
    }
    open_regular(folder, name)
}

/// Opens what was seen to be a regular file, which is for the caller to make sure of.
fn open_file(folder: &OwnedFd, name: &OsStr) -> Result<File, DiskError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | NO_LINK;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty()).map(File::from);
    file.map_err(|error| match error {
        Errno::NOENT => DiskError::Missing,
        Errno::LOOP => DiskError::Changed,
        other => DiskError::Io("read", other.into()),
    })
}

/// Opens what was seen to be a regular file.
fn open_regular(folder: &OwnedFd, name: &OsStr) -> Result<(File, Metadata), DiskError> {
    let file = open_file(folder, name)?;
    // What was opened counts, not what was seen: the two may differ.
    let metadata = file.metadata().map_err(|error| DiskError::Io("read", error))?;
    check_regular(&metadata)?;
    Ok((file, metadata))
}

/// Checks that something is a file like any other.
pub(crate) fn check_regular(metadata: &Metadata) -> Result<(), DiskError> {
    let kind = metadata.file_type();
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(DiskError::Folder)
    } else if kind.is_symlink() {
        Err(DiskError::Changed)
    } else if kind.is_fifo() {
        Err(DiskError::Special("a FIFO"))
    } else if kind.is_socket() {
        Err(DiskError::Special("a socket"))
    } else {
        Err(DiskError::Special("a device"))
    }
}

fn look(folder: &OwnedFd, name: &OsStr) -> Result<Metadata, Errno> {
    let file = rustix::fs::openat(folder, name, LOOK | NO_LINK, Mode::empty()).map(File::from)?;
    file.metadata().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn parts(path: &Path) -> Result<(&Path, &OsStr), DiskError> {
    path.parent().zip(path.file_name()).ok_or(DiskError::Folder)
}

/// What to do about a folder that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MissingFolderPolicy {
    Make,
    Report,
}

/// Opens a folder in one step, through no link. None where the system cannot do that, and where there
/// is something to say: then it is found out part by part.
#[cfg(target_os = "linux")]
fn open_at_once(path: &Path, flags: OFlags) -> Option<OwnedFd> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    let absolute = path.is_absolute();
    let plain = !path.components().any(|part| part == Component::ParentDir);
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    opened.ok().filter(|_| absolute && plain)
}

#[cfg(not(target_os = "linux"))]
fn open_at_once(_: &Path, _: OFlags) -> Option<OwnedFd> {
    None
}

/// Opens a folder from the root down, part by part, through no link.
fn open_folder(path: &Path, missing: MissingFolderPolicy) -> Result<OwnedFd, DiskError> {
    let flags = LOOK | OFlags::DIRECTORY | NO_LINK;
    if let Some(folder) = open_at_once(path, flags) {
        return Ok(folder);
    }
    let io = |error: Errno| DiskError::Io("open", error.into());
    let mut here = rustix::fs::open("/", flags, Mode::empty()).map_err(io)?;
    for part in path.components() {
        let Component::Normal(name) = part else { continue };
        let opened = match rustix::fs::openat(&here, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if missing == MissingFolderPolicy::Make => {
                match rustix::fs::mkdirat(&here, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(DiskError::Io("make the folder of", error.into())),
                }
                rustix::fs::openat(&here, name, flags, Mode::empty())
            }
            other => other,
        };
        here = opened.map_err(|error| match error {
            Errno::NOENT => DiskError::Missing,
            other => io(other),
        })?;
    }
    Ok(here)
}

fn sync_folder(folder: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, ".", flags, Mode::empty()) {
        Ok(readable) => match rustix::fs::fsync(&readable) {
            // Some file systems cannot sync a folder; the file itself is safe.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        },
        // A folder one may write to but not list.
        Err(Errno::ACCESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
