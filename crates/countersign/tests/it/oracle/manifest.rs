//! A manifest: what every file below a folder is, so that a change shows.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// git writes it anew when it has looked at the files, without anybody asking for it.
const REFRESHED: &str = "ws/.git/index";

/// The Java machine leaves a note of itself there whatever it is asked, even for its version.
pub(super) const JAVA_NOTES: &str = "hsperfdata_";

/// One file: enough to see that it is another one. When it was changed does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ManifestEntry {
    Folder { mode: u32 },
    File { mode: u32, size: u64, digest: u64 },
    Link { target: PathBuf },
    Special,
}

/// Every file below a folder by its relative path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest(BTreeMap<PathBuf, ManifestEntry>);

impl Manifest {
    /// Reads everything below a folder, through no link.
    pub(super) fn read(folder: &Path) -> Self {
        let (mut entries, mut folders) = (BTreeMap::new(), vec![PathBuf::new()]);
        while let Some(below) = folders.pop() {
            for entry in fs::read_dir(folder.join(&below)).unwrap() {
                let name = below.join(entry.unwrap().file_name());
                let found = read_entry(&folder.join(&name));
                if matches!(found, ManifestEntry::Folder { .. }) && !is_left_by_itself(&name) {
                    folders.push(name.clone());
                }
                if !is_left_by_itself(&name) {
                    entries.insert(name, found);
                }
            }
        }
        Self(entries)
    }

    /// Returns the paths at which the two differ.
    pub(super) fn changed_paths(&self, after: &Self) -> Vec<PathBuf> {
        let gone = self.0.iter().filter(|(path, entry)| after.0.get(*path) != Some(entry));
        let new = after.0.keys().filter(|path| !self.0.contains_key(*path));
        let mut paths: Vec<_> = gone.map(|(path, _)| path).chain(new).cloned().collect();
        paths.sort();
        paths
    }

    /// Returns whether some link has this target.
    pub(super) fn has_link_to(&self, wanted: &Path) -> bool {
        self.0.values().any(|it| matches!(it, ManifestEntry::Link { target } if target == wanted))
    }

    /// Returns the target of the link at a path, if there is one.
    pub(super) fn link_target(&self, path: &Path) -> Option<&Path> {
        match self.0.get(path)? {
            ManifestEntry::Link { target } => Some(target),
            _ => None,
        }
    }
}

/// Returns whether a program writes a file that has nothing to do with what it was asked for.
fn is_left_by_itself(path: &Path) -> bool {
    let in_tmp = path.strip_prefix("tmp").ok().and_then(Path::to_str);
    path == Path::new(REFRESHED) || in_tmp.is_some_and(|it| it.starts_with(JAVA_NOTES))
}

fn read_entry(path: &Path) -> ManifestEntry {
    let found = path.symlink_metadata().unwrap();
    let mode = found.permissions().mode() & 0o7777;
    if found.is_dir() {
        return ManifestEntry::Folder { mode };
    }
    if found.is_symlink() {
        return ManifestEntry::Link { target: fs::read_link(path).unwrap() };
    }
    if !found.is_file() {
        return ManifestEntry::Special;
    }
    let mut digest = DefaultHasher::new();
    fs::read(path).unwrap().hash(&mut digest);
    ManifestEntry::File { mode, size: found.len(), digest: digest.finish() }
}
