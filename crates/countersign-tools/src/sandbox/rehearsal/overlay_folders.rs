//! The stage: where the changes of a rehearsed command land, and when it was set up.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ignore::{WalkBuilder, WalkState};
use rustix::fs::{FlockOperation, flock};
use tempfile::TempDir;

use crate::sandbox::ChildView;

/// The file by which a stage is known to be in use.
const LOCK: &str = "lock";

/// Folders for what a command changes in each root. Gone when dropped.
#[derive(Debug)]
pub(crate) struct RehearsalOverlay {
    folder: Option<TempDir>,
    /// Held as long as it stands, so that nobody sweeps it away.
    _lock: File,
    roots: Vec<PathBuf>,
    /// What nobody looks at: our own state changes all the time.
    own: Vec<PathBuf>,
    /// The paths that the command says it writes.
    named: Vec<PathBuf>,
    /// When it was set up, by the clock that stamps files.
    began: (i64, i64),
}

impl RehearsalOverlay {
    /// Sets one up in a folder of our own. Blocks.
    pub(crate) fn set_up(
        room: &Path,
        roots: &[PathBuf],
        own: &[PathBuf],
        named: Vec<PathBuf>,
    ) -> io::Result<Self> {
        fs::create_dir_all(room)?;
        sweep(room);
        let folder = tempfile::Builder::new().prefix("rehearsal-").tempdir_in(room)?;
        for number in 0..roots.len() {
            for layer in ["upper", "work"] {
                fs::create_dir_all(folder.path().join(number.to_string()).join(layer))?;
            }
        }
        let lock = File::create(folder.path().join(LOCK))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let began = next_tick(folder.path())?;
        let (roots, own) = (roots.to_vec(), own.to_vec());
        Ok(Self { folder: Some(folder), _lock: lock, roots, own, named, began })
    }

    /// Returns each root with the folder that holds what has changed in it.
    pub(super) fn layers(&self) -> impl Iterator<Item = (&Path, PathBuf)> {
        self.roots.iter().enumerate().map(|(at, root)| (root.as_path(), self.layer(at, "upper")))
    }

    /// Returns whether the command says that it writes a path, or what it lies in.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.named.iter().any(|named| path.starts_with(named))
    }

    /// Returns the view in which all changes land here.
    pub(crate) fn under(&self, view: ChildView) -> ChildView {
        let roots = self.roots.iter().enumerate();
        roots.fold(view, |view, (at, root)| {
            view.with_overlay(root, &self.layer(at, "upper"), &self.layer(at, "work"))
        })
    }

    /// Returns whether anything in the roots has changed since it was set up. Blocks.
    ///
    /// Whatever is written, made, moved or removed leaves a newer stamp on itself or on its folder, one
    /// that no program can set back.
    pub(super) fn has_moved(&self) -> bool {
        let moved = AtomicBool::new(false);
        for root in &self.roots {
            let own = self.own.clone();
            let walk = WalkBuilder::new(root)
                .standard_filters(false)
                .filter_entry(move |entry| !own.iter().any(|own| entry.path() == own))
                .build_parallel();
            walk.run(|| {
                Box::new(|entry| {
                    let stamp = entry.ok().and_then(|it| it.path().symlink_metadata().ok());
                    // What cannot be looked at may be anything.
                    if stamp.is_none_or(|found| changed(&found) >= self.began) {
                        moved.store(true, Ordering::Relaxed);
                        return WalkState::Quit;
                    }
                    WalkState::Continue
                })
            });
        }
        moved.into_inner()
    }

    fn layer(&self, root: usize, layer: &str) -> PathBuf {
        let folder = self.folder.as_ref().map_or(Path::new(""), TempDir::path);
        folder.join(root.to_string()).join(layer)
    }
}

/// Takes away what was left by somebody who is no more. Blocks.
fn sweep(room: &Path) {
    for entry in fs::read_dir(room).into_iter().flatten().filter_map(Result::ok) {
        let folder = entry.path();
        let Ok(lock) = File::open(folder.join(LOCK)) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            open_up(&folder);
            let _ = fs::remove_dir_all(folder);
        }
    }
}

impl Drop for RehearsalOverlay {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        // The kernel and the command leave folders that even their owner may not open.
        open_up(folder.path());
        if let Err(error) = folder.close() {
            tracing::warn!(%error, "what a rehearsal has left could not be taken away");
        }
    }
}

/// Returns a stamp that is newer than any there is: the clock of stamps goes in steps of some
/// milliseconds, and what was written just before must not look as if it came after.
fn next_tick(folder: &Path) -> io::Result<(i64, i64)> {
    let stamp = || {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        Ok::<_, io::Error>(changed(&folder.metadata()?))
    };
    let first = stamp()?;
    loop {
        #[expect(clippy::disallowed_methods, reason = "a tick, on a thread for work that blocks")]
        std::thread::sleep(Duration::from_millis(1));
        let now = stamp()?;
        if now != first {
            return Ok(now);
        }
    }
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

fn changed(metadata: &Metadata) -> (i64, i64) {
    (metadata.ctime(), metadata.ctime_nsec())
}
