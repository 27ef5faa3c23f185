//! Pins: folders that stay where they are because something in them is guarded.
//!
//! A mount keeps what it covers from being moved, but goes along with the folder it lies in: another
//! folder could then be made in that place. So each folder above is mounted onto itself, which leaves
//! it as it is and keeps it there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use countersign_core::{PathClass, SensitiveKind};

use super::guarded_paths::GuardedPath;

/// How many folders are pinned: each mount takes bubblewrap longer than the one before it.
const MOST: usize = 256;

/// The folders of one root that are pinned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PinnedFolders {
    pub(super) folders: Vec<PathBuf>,
    /// Those for which there are too many.
    pub(super) left_out: Vec<PathBuf>,
}

impl PinnedFolders {
    /// Returns what to pin above all that is guarded in a root, but for folders that a call itself
    /// moves or removes.
    pub(super) fn find(root: &Path, guarded: &[GuardedPath], moved: &[PathBuf]) -> Self {
        let mounts: BTreeSet<_> = guarded.iter().map(|it| it.path.as_path()).collect();
        let mut pinned = BTreeSet::new();
        for it in guarded.iter().filter(|it| !it.is_link) {
            let above = it.path.ancestors().skip(1);
            let above = above.take_while(|folder| folder.starts_with(root) && *folder != root);
            for folder in above.filter(|folder| is_known_by(it, folder, root)) {
                let is_moved = moved.iter().any(|path| path == folder);
                if !is_moved
                    && !pinned.contains(folder)
                    && !mounts.contains(folder)
                    && folder.is_dir()
                {
                    pinned.insert(folder.to_owned());
                }
            }
        }
        let mut folders: Vec<_> = pinned.into_iter().collect();
        // The sort is stable: of the same depth they stay in the order of their names.
        folders.sort_by_key(|folder| folder.components().count());
        let left_out = folders.split_off(folders.len().min(MOST));
        Self { folders, left_out }
    }
}

/// Returns whether something would no longer be what it is if that folder had another name.
///
/// What steers later runs does so in its place. A key mostly is one by its own name, wherever it is.
fn is_known_by(guarded: &GuardedPath, folder: &Path, root: &Path) -> bool {
    if guarded.special != SensitiveKind::Secret {
        return true;
    }
    let below = guarded.path.strip_prefix(folder).unwrap_or(&guarded.path);
    let elsewhere = folder.with_file_name("x").join(below);
    PathClass::from_path(&elsewhere, &[root.to_owned()]).special != Some(SensitiveKind::Secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guarded: &[(&str, SensitiveKind)], moved: &[&str], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let guarded: Vec<_> = guarded
            .iter()
            .map(|(path, special)| {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                GuardedPath { path, special: *special, is_link: false }
            })
            .collect();
        let moved: Vec<_> = moved.iter().map(|path| root.join(path)).collect();
        let pins = PinnedFolders::find(root, &guarded, &moved);
        let expected: Vec<_> = expected.iter().map(|path| root.join(path)).collect();
        assert_eq!(pins, PinnedFolders { folders: expected, left_out: Vec::new() });
    }

    #[test]
    fn every_folder_above_what_steers_later_runs_is_pinned() {
        let guarded = [
            (".github/workflows", SensitiveKind::Protected),
            ("a/b/.vscode", SensitiveKind::Protected),
            ("a/c/.mcp.json", SensitiveKind::Protected),
            (".git", SensitiveKind::Protected),
        ];
        check(&guarded, &[], &[".github", "a", "a/b", "a/c"]);
        check(&guarded, &["a/b", ".github"], &["a", "a/c"]);
    }

    #[test]
    fn above_a_key_only_what_makes_it_one_is_pinned() {
        let keys = [
            ("pkg/.env", SensitiveKind::Secret),
            ("pkg/.docker/config.json", SensitiveKind::Secret),
        ];
        check(&keys, &[], &["pkg/.docker"]);
    }

    #[test]
    fn there_are_no_more_pins_than_bubblewrap_bears() {
        let folder = tempfile::tempdir().unwrap();
        let guarded: Vec<_> = (0..300)
            .map(|n| {
                let path = folder.path().join(format!("p{n:03}/q/.vscode"));
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                GuardedPath::protected(path)
            })
            .collect();
        let pins = PinnedFolders::find(folder.path(), &guarded, &[]);
        assert_eq!((pins.folders.len(), pins.left_out.len()), (MOST, 344));
        assert_eq!(pins.left_out[0], folder.path().join("p256"), "those near the top come first");
    }
}
