//! The entries of a folder, collected and written as a tree.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use tokio_util::sync::CancellationToken;

use crate::files::escape::escape_to_line;
use crate::files::text::size;
use crate::files::walk;

/// How many entries are shown.
const SHOWN: usize = 1_000;

/// How many are looked at; of a folder with more, not even their number is known.
const LOOKED_AT: usize = 100_000;

/// What is in a folder.
pub(super) struct FolderListing<'a> {
    folder: &'a Path,
    ignored: &'a GlobSet,
    /// By their path below the folder: in the order of a tree.
    entries: BTreeMap<PathBuf, ListingEntryKind>,
    is_cut: bool,
}

/// What an entry is.
enum ListingEntryKind {
    Folder,
    File(u64),
    Link(PathBuf),
    /// A FIFO, a socket, a device; or what cannot be looked at.
    Other,
}

impl ListingEntryKind {
    fn from_metadata(path: &Path, metadata: Option<&Metadata>) -> Self {
        match metadata {
            Some(it) if it.is_dir() => Self::Folder,
            Some(it) if it.is_file() => Self::File(it.len()),
            Some(it) if it.is_symlink() => Self::Link(path.read_link().unwrap_or_default()),
            Some(_) | None => Self::Other,
        }
    }
}

impl<'a> FolderListing<'a> {
    pub(super) fn new(folder: &'a Path, ignored: &'a GlobSet) -> Self {
        Self { folder, ignored, entries: BTreeMap::new(), is_cut: false }
    }

    /// Takes in everything that is directly in the folder.
    pub(super) fn add_top(&mut self) -> io::Result<()> {
        for entry in std::fs::read_dir(self.folder)? {
            let Ok(entry) = entry else { continue };
            self.add(&entry.path(), entry.metadata().ok().as_ref());
        }
        Ok(())
    }

    /// Takes in what is further down, except what is ignored.
    pub(super) fn add_below(&mut self, depth: usize, cancel: &CancellationToken) {
        let ignored = self.ignored.clone();
        let mut walk = walk::walk_folder(self.folder);
        walk.max_depth(Some(depth)).filter_entry(move |entry| {
            let name = entry.file_name();
            entry.depth() == 0 || (name != ".git" && !ignored.is_match(name))
        });
        for entry in walk.build() {
            if cancel.is_cancelled() || self.is_cut {
                return;
            }
            // What cannot be looked at is not there for us.
            let Ok(entry) = entry else { continue };
            if entry.depth() > 1 {
                self.add(entry.path(), entry.metadata().ok().as_ref());
            }
        }
    }

    fn add(&mut self, path: &Path, metadata: Option<&Metadata>) {
        let Ok(below) = path.strip_prefix(self.folder) else { return };
        if path.file_name().is_some_and(|name| self.ignored.is_match(name)) {
            return;
        }
        if self.entries.len() >= LOOKED_AT {
            self.is_cut = true;
            return;
        }
        self.entries.insert(below.to_owned(), ListingEntryKind::from_metadata(path, metadata));
    }

    /// Writes it down, one entry a line.
    pub(super) fn text(&self) -> String {
        let mut out = format!("{}/\n", self.folder.display().to_string().trim_end_matches('/'));
        for (path, kind) in self.entries.iter().take(SHOWN) {
            let indent = "  ".repeat(path.components().count());
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = escape_to_line(&name);
            // Writing to a string cannot fail.
            let _ = match kind {
                ListingEntryKind::Folder => writeln!(out, "{indent}{name}/"),
                ListingEntryKind::File(bytes) => writeln!(out, "{indent}{name} ({})", size(*bytes)),
                ListingEntryKind::Link(to) => {
                    writeln!(out, "{indent}{name} -> {}", escape_to_line(&to.to_string_lossy()))
                }
                ListingEntryKind::Other => writeln!(out, "{indent}{name} (no regular file)"),
            };
        }
        let more = self.entries.len().saturating_sub(SHOWN);
        if self.entries.is_empty() {
            out.push_str("(empty)\n");
        } else if more > 0 {
            let at_least = if self.is_cut { "more than " } else { "" };
            let _ = writeln!(
                out,
                "[{at_least}{more} more entries; list a folder below, or use Glob or `ignore`]"
            );
        }
        out
    }
}
