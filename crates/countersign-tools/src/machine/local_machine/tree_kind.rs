//! What kind of thing lies at a path: the one place that reads that from what the system says.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use countersign_core::shell::TreeKind;

/// Returns what lies at a path, through no link; none if that cannot be told.
pub(super) fn kind_at(path: &Path) -> Option<TreeKind> {
    let found = path.symlink_metadata();
    kind_or_missing(found.map(|it| kind_of(it.file_type())).map_err(|error| error.kind()))
}

/// Returns what a look at a path has found; none if the system did not say what is there.
pub(super) fn kind_or_missing(found: Result<TreeKind, io::ErrorKind>) -> Option<TreeKind> {
    match found {
        Ok(kind) => Some(kind),
        Err(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Some(TreeKind::Missing),
        Err(_) => None,
    }
}

/// Returns the kind of what is no link any more, or is one itself.
pub(super) fn kind_of(kind: FileType) -> TreeKind {
    let odd = kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
    match kind {
        _ if odd => TreeKind::Other,
        kind if kind.is_symlink() => TreeKind::Link,
        kind if kind.is_dir() => TreeKind::Folder,
        _ => TreeKind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_missing_and_what_is_not_shown_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        assert_eq!(kind_at(folder.path()), Some(TreeKind::Folder));
        assert_eq!(kind_at(&file), Some(TreeKind::File));
        assert_eq!(kind_at(&folder.path().join("link")), Some(TreeKind::Link));
        assert_eq!(kind_at(&folder.path().join("none")), Some(TreeKind::Missing));
        assert_eq!(kind_at(&file.join("below")), Some(TreeKind::Missing));
        assert_eq!(kind_or_missing(Err(io::ErrorKind::PermissionDenied)), None);
    }
}
