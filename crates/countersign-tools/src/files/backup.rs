//! Earlier contents of files, kept before a call changes them, so that it can be undone.
//!
//! Contents are found by their digest, so the same content is kept once. The folder has a limit: what
//! is oldest goes first, and whatever has been there for too long goes anyway.

mod restore;
mod retention;

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use countersign_core::{Digest, Effect, FileChange, FileState};
use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};

pub use self::restore::RestoreError;
use crate::files::disk::{self, DiskError, FileSnapshot};

const NOW: Timestamps = Timestamps {
    last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
    last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
};

/// How much is kept, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct BackupLimits {
    /// Of all calls together, in bytes.
    pub bytes: u64,
    /// Of one call, in bytes.
    pub bytes_of_call: u64,
    /// Of one call, in files.
    pub files_of_call: usize,
    /// How long.
    pub age: Duration,
}

impl Default for BackupLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            bytes: 2048 * MIB,
            bytes_of_call: 128 * MIB,
            files_of_call: 2000,
            age: Duration::from_hours(14 * 24),
        }
    }
}

/// A folder of earlier contents.
#[derive(Clone, Debug)]
pub struct BackupStore {
    folder: Arc<Path>,
    limits: BackupLimits,
    /// About how many bytes there are.
    held: Arc<AtomicU64>,
}

/// What was there before a call.
#[derive(Clone, Debug)]
pub struct FileBackup {
    /// What the call said it would touch; a folder stands for all that is in it.
    roots: Vec<PathBuf>,
    changes: Vec<FileChange>,
}

impl FileBackup {
    /// Returns what was kept before a call, as it was recorded.
    pub fn recorded(effects: &[Effect], changes: Vec<FileChange>) -> Self {
        Self { roots: changed_paths(effects), changes }
    }

    /// Says of files that two calls change at the same time that nobody knows what was there before:
    /// of one of them it would be the work of the other.
    pub fn contend(&mut self, other: &mut Self) {
        for change in &mut self.changes {
            let theirs = other.changes.iter_mut().find(|theirs| theirs.path == change.path);
            if let Some(theirs) = theirs {
                let why = || "another call was changing it at the same time".to_owned();
                theirs.before = FileState::NotKept { why: why() };
                change.before = FileState::NotKept { why: why() };
            }
        }
    }

    /// Returns what is known so far: what was there, not yet what became of it.
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }
}

impl BackupStore {
    /// Opens the folder, and makes it for its owner alone if it is not there. Blocks.
    pub fn open(folder: &Path, limits: BackupLimits) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let keep = Self { folder: folder.into(), limits, held: Arc::default() };
        keep.held.store(retention::held(&keep.folder)?, Ordering::Relaxed);
        Ok(keep)
    }

    /// Keeps what is there of all that a call would change; none if it would change nothing. Blocks.
    ///
    /// What cannot be kept is said in its place: a call is not held up by that.
    pub fn back_up(&self, effects: &[Effect]) -> Option<FileBackup> {
        let roots = changed_paths(effects);
        if roots.is_empty() {
            return None;
        }
        let mut left = self.limits.bytes_of_call;
        let mut changes = Vec::new();
        for root in &roots {
            match self.files_below(root) {
                Ok(files) => changes.extend(files.into_iter().map(|path| {
                    let before = self.keep(&path, &mut left);
                    FileChange { path, before, after: None }
                })),
                Err(why) => {
                    let before = FileState::NotKept { why };
                    changes.push(FileChange { path: root.clone(), before, after: None });
                }
            }
        }
        Some(FileBackup { roots, changes })
    }

    /// Returns what became of it, without what is as it was. Blocks.
    pub fn collect_changes(&self, kept: FileBackup) -> Vec<FileChange> {
        let FileBackup { roots, changes } = kept;
        let known: BTreeSet<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
        let grown = roots.iter().filter_map(|root| self.files_below(root).ok()).flatten();
        let came = grown.filter(|path| !known.contains(path)).map(|path| FileChange {
            path,
            before: FileState::Absent,
            after: None,
        });
        // Where nothing was, a folder has come with what is in it: the files say it all.
        let stays = |change: &FileChange| {
            change.before != FileState::Absent || !disk::is_folder(&change.path)
        };
        let all = changes.into_iter().filter(stays).chain(came.collect::<Vec<_>>());
        let ended = all.map(|change| FileChange {
            after: Some(Self::read_file_state(&change.path)),
            ..change
        });
        ended.filter(|change| change.after.as_ref() != Some(&change.before)).collect()
    }

    /// Returns what there is at a path. Blocks.
    pub fn read_file_state(path: &Path) -> FileState {
        match FileSnapshot::read(path) {
            Ok(standing) => standing.state(),
            Err(error) => FileState::NotKept { why: why(error, path) },
        }
    }

    /// Returns the files that a path stands for: those below it, if it is a folder, or itself.
    fn files_below(&self, root: &Path) -> Result<Vec<PathBuf>, String> {
        let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
        if !disk::is_folder(root) {
            return Ok(folders);
        }
        while let Some(folder) = folders.pop() {
            let found = disk::list(&folder, || false).map_err(|error| why(error, &folder))?;
            for entry in found {
                let path = folder.join(&entry.name);
                let list = if entry.metadata.is_dir() { &mut folders } else { &mut files };
                list.push(path);
            }
            if folders.len() + files.len() > self.limits.files_of_call {
                let most = self.limits.files_of_call;
                return Err(format!("it is a folder with more than {most} files"));
            }
        }
        Ok(files)
    }

    fn keep(&self, path: &Path, left: &mut u64) -> FileState {
        let standing = match FileSnapshot::read(path) {
            Ok(standing) => standing,
            Err(error) => return FileState::NotKept { why: why(error, path) },
        };
        let Some(snapshot) = &standing.snapshot else { return FileState::Absent };
        let Some(rest) = left.checked_sub(snapshot.bytes.len() as u64) else {
            return FileState::NotKept { why: "the call touches too much at once".to_owned() };
        };
        *left = rest;
        let state = standing.state();
        match &state {
            FileState::File { digest, .. } => match self.put(digest, &snapshot.bytes) {
                Ok(()) => state,
                Err(error) => {
                    tracing::warn!(%error, "the content of a file could not be kept");
                    FileState::NotKept { why: format!("it could not be kept: {error}") }
                }
            },
            FileState::Absent | FileState::NotKept { .. } => state,
        }
    }

    fn put(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let place = self.place(digest);
        if let Ok(file) = OpenOptions::new().append(true).open(&place) {
            // As if it were new: it is the oldest that goes.
            return Ok(rustix::fs::futimens(&file, &NOW)?);
        }
        if let Some(above) = place.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(above)?;
        }
        // Half a file under the name of a whole one would be found out only when it is needed.
        let half = place.with_extension(format!("{:?}", std::thread::current().id()));
        let mut file = private(&half)?;
        file.write_all(bytes)?;
        std::fs::rename(&half, &place)?;
        let size = bytes.len() as u64;
        if self.held.fetch_add(size, Ordering::Relaxed) + size > self.limits.bytes {
            self.make_room()?;
        }
        Ok(())
    }

    fn place(&self, digest: &Digest) -> PathBuf {
        let text = digest.as_str();
        // A shelf for each beginning: no folder gets too full.
        let (begins, rest) = text.split_at_checked(2).unwrap_or(("", text));
        self.folder.join(begins).join(rest)
    }
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Returns what a call would change, each path once.
fn changed_paths(effects: &[Effect]) -> Vec<PathBuf> {
    let targets = effects.iter().flat_map(Effect::changed_targets);
    let paths: BTreeSet<PathBuf> = targets.map(|target| target.path.clone()).collect();
    // Whatever lies in a folder that is named too comes with it.
    let is_below = |path: &PathBuf| path.ancestors().skip(1).any(|above| paths.contains(above));
    paths.iter().filter(|path| !is_below(path)).cloned().collect()
}

fn why(error: DiskError, path: &Path) -> String {
    match error {
        DiskError::Folder => "it is a folder".to_owned(),
        DiskError::Changed => "it is a link".to_owned(),
        other => other.into_tool_error(&path.display().to_string()).to_string(),
    }
}

#[cfg(test)]
mod tests;
