//! Trees of files: what lies below a folder, and how a search goes through it.

use std::path::PathBuf;

use crate::{PathClass, SensitiveKind};

/// What lies at a path, and everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTree {
    /// What lies at the path itself.
    pub kind: TreeKind,
    /// Everything below it, hidden and ignored things too.
    pub entries: Vec<TreeEntry>,
}

/// One thing in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Where it lies, absolute.
    pub path: PathBuf,
    /// Where that is, as far as consent is concerned.
    pub place: PathClass,
    /// What it is.
    pub kind: TreeKind,
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeKind {
    /// Nothing.
    Missing,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl FileTree {
    /// Returns whether something in it is a link.
    pub fn has_links(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind == TreeKind::Link)
    }
}

impl TreeEntry {
    /// Returns whether it may hold keys or passwords.
    pub fn is_secret(&self) -> bool {
        self.place.special == Some(SensitiveKind::Secret)
    }

    /// Returns whether its name says that it is a secret or steers what runs.
    pub fn is_guarded(&self) -> bool {
        matches!(self.place.special, Some(SensitiveKind::Secret | SensitiveKind::Protected))
    }
}

/// What decides which files `rg` opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchScope {
    /// Patterns that choose or, with `!`, leave out files; whichever case they are written in if it
    /// says so.
    pub globs: Vec<(String, bool)>,
    /// Whether hidden files are opened.
    pub hidden: bool,
    /// Whether files are opened that `.gitignore` and its like leave out.
    pub ignored: bool,
}
