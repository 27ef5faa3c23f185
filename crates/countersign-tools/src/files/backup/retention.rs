//! The room that earlier contents take: what is too old goes, and the oldest when there is too much.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use super::BackupStore;

impl BackupStore {
    /// Takes away what has been there for too long. Blocks.
    pub fn sweep(&self, now: SystemTime) -> io::Result<()> {
        let is_old = |metadata: &Metadata| {
            let since = metadata.modified().ok().and_then(|at| now.duration_since(at).ok());
            since.is_some_and(|age| age > self.limits.age)
        };
        for (path, metadata) in contents(&self.folder)? {
            if is_old(&metadata) {
                gone(std::fs::remove_file(path))?;
            }
        }
        self.held.store(held(&self.folder)?, Ordering::Relaxed);
        Ok(())
    }

    /// Takes away the oldest, down to a good deal below the limit: not for every file anew.
    pub(super) fn make_room(&self) -> io::Result<()> {
        let mut all = contents(&self.folder)?;
        all.sort_by_key(|(_, metadata)| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        let mut held: u64 = all.iter().map(|(_, metadata)| metadata.len()).sum();
        for (path, metadata) in all {
            if held <= self.limits.bytes / 10 * 9 {
                break;
            }
            gone(std::fs::remove_file(path))?;
            held -= metadata.len();
        }
        self.held.store(held, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns how many bytes there are.
pub(super) fn held(folder: &Path) -> io::Result<u64> {
    Ok(contents(folder)?.iter().map(|(_, metadata)| metadata.len()).sum())
}

fn contents(folder: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut contents = Vec::new();
    for shelf in std::fs::read_dir(folder)? {
        let shelf = shelf?.path();
        if !shelf.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(shelf)? {
            let entry = entry?;
            // Another one of us may take it away at the same time.
            if let Ok(metadata) = entry.metadata() {
                contents.push((entry.path(), metadata));
            }
        }
    }
    Ok(contents)
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
