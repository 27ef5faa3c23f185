//! A file that is not yet in its place.
//!
//! Where the system can do it, the file has no name until it is whole and about to take its place: a
//! process that is killed while it writes leaves nothing behind. Elsewhere it has a name of its own
//! from the beginning.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;

use super::{DiskError, NO_LINK};

/// Gone when dropped, unless it was put in its place.
pub(super) struct TemporaryFile<'a> {
    folder: &'a OwnedFd,
    file: File,
    /// What it is called at the moment, if anything.
    name: RefCell<Option<OsString>>,
}

/// What came of putting a file in its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlacementResult {
    /// It is there.
    Whole,
    /// It has no name and cannot be given one here: one that has a name must take its part.
    Nameless,
}

impl<'a> TemporaryFile<'a> {
    /// Makes a file without a name; none where that cannot be done well.
    #[cfg(target_os = "linux")]
    pub(super) fn unnamed(folder: &'a OwnedFd, replaces: Option<&Metadata>) -> Option<Self> {
        if !keeps_unnamed(folder) {
            return None;
        }
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(folder, ".", flags, mode(replaces)).ok()?);
        // Some kernels forget the umask here: what looks open to all is made in the usual way.
        let is_open_to_all = file.metadata().ok()?.mode() & 0o777 == 0o666;
        (!is_open_to_all).then(|| Self { folder, file, name: RefCell::default() })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn unnamed(_: &'a OwnedFd, _: Option<&Metadata>) -> Option<Self> {
        None
    }

    /// Makes a file with a name that nothing else has.
    pub(super) fn named(
        folder: &'a OwnedFd,
        replaces: Option<&Metadata>,
    ) -> Result<Self, DiskError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | NO_LINK;
        let made = under_free_name(|name| {
            rustix::fs::openat(folder, name, flags, mode(replaces)).map(File::from)
        });
        let (name, file) = made.map_err(|error| DiskError::Io("write", error.into()))?;
        Ok(Self { folder, file, name: Some(name).into() })
    }

    /// Writes all of it, with the rights of what it replaces, down to the disk.
    pub(super) fn fill(
        &self,
        bytes: &[u8],
        replaces: Option<&Metadata>,
        executable: Option<bool>,
    ) -> io::Result<()> {
        (&self.file).write_all(bytes)?;
        if let Some(old) = replaces {
            let new = self.file.metadata()?;
            let mut mode = old.mode() & 0o7777;
            if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
                let (uid, gid) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
                if rustix::fs::fchown(&self.file, Some(uid), Some(gid)).is_err() {
                    // With another owner these bits would lend out other rights.
                    mode &= 0o777;
                }
            }
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?;
        }
        if let Some(executable) = executable {
            let mode = self.file.metadata()?.mode() & 0o7777;
            // Whoever may read it may run it.
            let mode = if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?;
        }
        self.file.sync_all()
    }

    /// Puts it in its place, where there must be nothing yet if it is to be new.
    pub(super) fn place(
        self,
        name: &OsStr,
        must_be_new: bool,
    ) -> Result<PlacementResult, DiskError> {
        let is_nameless = self.name.borrow().is_none();
        if is_nameless && must_be_new {
            return match self.link(name) {
                Ok(()) => Ok(PlacementResult::Whole),
                Err(Errno::EXIST) => Err(DiskError::Changed),
                Err(_) => Ok(PlacementResult::Nameless),
            };
        }
        if is_nameless {
            // Only for the blink of an eye: nothing can replace a file but what has a name.
            match under_free_name(|free| self.link(free)) {
                Ok((free, ())) => self.name.replace(Some(free)),
                Err(_) => return Ok(PlacementResult::Nameless),
            };
        }
        self.rename(name, must_be_new)
    }

    /// Gives it a name. There is no other way for who is not root than by what `/proc` calls it.
    fn link(&self, name: &OsStr) -> Result<(), Errno> {
        use std::os::fd::AsRawFd;
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(rustix::fs::CWD, own, self.folder, name, AtFlags::SYMLINK_FOLLOW)
    }

    fn rename(&self, to: &OsStr, must_be_new: bool) -> Result<PlacementResult, DiskError> {
        let mut name = self.name.borrow_mut();
        let Some(from) = name.as_deref() else { return Ok(PlacementResult::Nameless) };
        let renamed = if must_be_new {
            rename_new(self.folder, from, to)
        } else {
            rustix::fs::renameat(self.folder, from, self.folder, to)
        };
        match renamed {
            Ok(()) => {
                *name = None;
                Ok(PlacementResult::Whole)
            }
            Err(Errno::EXIST | Errno::ISDIR) => Err(DiskError::Changed),
            Err(error) => Err(DiskError::Io("write", error.into())),
        }
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name.get_mut()
            && let Err(error) = rustix::fs::unlinkat(self.folder, &*name, AtFlags::empty())
        {
            tracing::warn!(%error, "a temporary file could not be removed");
        }
    }
}

/// What replaces a file must not be open to more people than that, not even for a moment.
fn mode(replaces: Option<&Metadata>) -> Mode {
    Mode::from_raw_mode(if replaces.is_some() { 0o600 } else { 0o666 })
}

/// Does something under a name that nothing has yet.
fn under_free_name<T>(act: impl Fn(&OsStr) -> Result<T, Errno>) -> Result<(OsString, T), Errno> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".countersign-{}-{number}", std::process::id()));
        match act(&name) {
            Err(Errno::EXIST) => {}
            done => return done.map(|done| (name, done)),
        }
    }
}

/// Returns whether a file of this file system that has no name is as safe on the disk, once synced, as
/// one that has.
///
/// Not so on Btrfs, which syncs nothing of it: named afterwards, it could be empty after a power cut.
/// So only where it is known.
#[cfg(target_os = "linux")]
fn keeps_unnamed(folder: &OwnedFd) -> bool {
    const EXT4: u64 = 0xEF53;
    const XFS: u64 = 0x5846_5342;
    const TMPFS: u64 = 0x0102_1994;
    let kind = rustix::fs::fstatfs(folder).ok().and_then(|it| u64::try_from(it.f_type).ok());
    kind.is_some_and(|kind| [EXT4, XFS, TMPFS].contains(&kind))
}

/// Renames where nothing stands yet; what came there in the meantime stays.
#[cfg(target_os = "linux")]
fn rename_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        // Not every file system knows the flag.
        Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(folder, from, folder, to),
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
fn rename_new(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    rustix::fs::renameat(folder, from, folder, to)
}
