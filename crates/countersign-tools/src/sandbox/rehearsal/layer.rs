//! What lies in the upper folder of an overlay, in the words of the kernel's overlay file system.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How many entries are looked at: who changes more is not shown anyway.
const MOST: usize = 20_000;

/// The mark of a folder that hides what lies below it.
const OPAQUE: &str = "user.overlay.opaque";

/// One entry, by its path below the root.
pub(super) struct LayerEntry {
    pub(super) path: PathBuf,
    pub(super) kind: LayerEntryKind,
}

pub(super) enum LayerEntryKind {
    File,
    Link,
    /// A folder; alone if it hides what lay at its place.
    Folder {
        mode: u32,
        alone: bool,
    },
    /// What lay here is gone.
    Gone,
    /// A device, a FIFO, a socket.
    Odd,
}

/// Returns all entries, folders before what is in them.
pub(super) fn entries(upper: &Path) -> io::Result<Vec<LayerEntry>> {
    let mut found = Vec::new();
    read(upper, Path::new(""), &mut found)?;
    Ok(found)
}

fn read(upper: &Path, below: &Path, found: &mut Vec<LayerEntry>) -> io::Result<()> {
    let names = fs::read_dir(upper.join(below))?.map(|entry| entry.map(|it| it.file_name()));
    let mut names: Vec<_> = names.collect::<io::Result<_>>()?;
    names.sort();
    for name in names {
        let path = below.join(name);
        let kind = kind(&upper.join(&path))?;
        let is_folder = matches!(kind, LayerEntryKind::Folder { .. });
        found.push(LayerEntry { path: path.clone(), kind });
        if found.len() > MOST {
            return Err(io::Error::other(format!("it changed more than {MOST} files")));
        }
        if is_folder {
            read(upper, &path, found)?;
        }
    }
    Ok(())
}

fn kind(path: &Path) -> io::Result<LayerEntryKind> {
    let metadata = path.symlink_metadata()?;
    let kind = metadata.file_type();
    Ok(if kind.is_file() {
        LayerEntryKind::File
    } else if kind.is_symlink() {
        LayerEntryKind::Link
    } else if kind.is_dir() {
        LayerEntryKind::Folder { mode: mode(&metadata), alone: is_alone(path) }
    } else if kind.is_char_device() && metadata.rdev() == 0 {
        LayerEntryKind::Gone
    } else {
        LayerEntryKind::Odd
    })
}

fn is_alone(folder: &Path) -> bool {
    let mut value = [0_u8; 1];
    rustix::fs::lgetxattr(folder, OPAQUE, &mut value[..]).is_ok_and(|_| value == *b"y")
}

/// Returns the permission bits.
pub(super) fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o7777
}
