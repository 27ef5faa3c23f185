//! Files outside the workspace that a child may write, one by one: what somebody said yes to.
//!
//! A mount gives exactly one file, where one is. So one that is missing is made, empty, and taken away
//! again if nothing has touched it. What cannot be given exactly is not given.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use countersign_core::OutsideFile;

use super::view::ChildView;

/// Where nothing is a file like others, or everything is the child's own.
const NOT_FILES: &[&str] = &["/dev", "/proc", "/run", "/sys"];
/// Folders in which a child makes files of its own.
const SCRATCH: &[&str] = &["/tmp", "/var/tmp"];

/// What one child may write outside the workspace.
#[derive(Debug, Default)]
pub(super) struct WritableOutsideFiles {
    files: Vec<PathBuf>,
    made: Vec<PathBuf>,
}

impl WritableOutsideFiles {
    /// Opens what a view gives, as far as that can be done exactly.
    pub(super) fn open_for_view(view: &ChildView, launcher: &Path) -> Self {
        let mut opened = Self::default();
        // What is kept apart is to change nothing, here or elsewhere.
        if view.outside.is_empty() || view.roots.iter().any(|root| root.changes.is_some()) {
            return opened;
        }
        let hidden = view.hidden();
        for OutsideFile { path, is_plain } in &view.outside {
            let is_in = |folder: &Path| path.starts_with(folder);
            let is_kept = hidden.iter().chain(&view.own).any(|it| is_in(it))
                || view.roots.iter().any(|root| is_in(&root.path) || is_in(&root.source))
                || NOT_FILES.iter().any(|it| is_in(Path::new(it)))
                || path == launcher;
            let is_scratch = SCRATCH.iter().any(|it| path.parent() == Some(Path::new(it)));
            if !is_kept && !is_scratch && path.to_str().is_some() {
                opened.open(path, *is_plain);
            }
        }
        opened
    }

    fn open(&mut self, path: &Path, is_plain: bool) {
        let is_open = match path.symlink_metadata() {
            // Another name of the same file may be one that nobody has seen.
            Ok(found) => found.is_file() && found.nlink() == 1,
            Err(error) => {
                let is_made =
                    is_plain && error.kind() == ErrorKind::NotFound && make(path).is_some();
                self.made.extend(is_made.then(|| path.to_owned()));
                is_made
            }
        };
        self.files.extend(is_open.then(|| path.to_owned()));
    }

    /// Returns the files.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

impl Drop for WritableOutsideFiles {
    fn drop(&mut self) {
        for path in &self.made {
            if path.symlink_metadata().is_ok_and(|found| is_untouched(&found)) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Makes an empty file that shows whether somebody has touched it.
fn make(path: &Path) -> Option<()> {
    let folder = path.parent()?;
    // Links were resolved when it was judged; one that came since leads elsewhere.
    folder.canonicalize().ok().filter(|real| real == folder)?;
    let file = OpenOptions::new().write(true).create_new(true).open(path).ok()?;
    let marked = file.set_modified(SystemTime::UNIX_EPOCH);
    if marked.is_err() {
        let _ = fs::remove_file(path);
    }
    marked.ok()
}

fn is_untouched(found: &fs::Metadata) -> bool {
    found.is_file() && found.len() == 0 && found.modified().ok() == Some(SystemTime::UNIX_EPOCH)
}
