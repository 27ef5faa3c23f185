//! What a patch does to one file, whichever form it was written in.

use countersign_core::InvalidCall;

use super::hunk::{self, PatchHunk};

/// A change to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// Where the file is, or will be if it is added.
    pub(super) path: String,
    pub(super) kind: FilePatchKind,
    pub(super) old_mode: Option<GitFileMode>,
    pub(super) new_mode: Option<GitFileMode>,
    pub(super) hunks: Vec<PatchHunk>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FilePatchKind {
    Add,
    Update,
    Delete,
    Move { to: String },
}

/// What git knows of a file's mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitFileMode {
    File,
    Executable,
    Link,
}

impl GitFileMode {
    pub(super) fn read(text: &str) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link].into_iter().find(|mode| mode.name() == text)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

impl FilePatch {
    /// Returns the change of a kind, with nothing changed yet.
    pub(super) fn new(path: String, kind: FilePatchKind) -> Self {
        Self { path, kind, old_mode: None, new_mode: None, hunks: Vec::new() }
    }

    /// Returns whether a link stands there afterwards.
    pub(super) fn makes_link(&self) -> bool {
        let stays = self.kind != FilePatchKind::Delete && self.old_mode == Some(GitFileMode::Link);
        self.new_mode == Some(GitFileMode::Link) || (stays && self.new_mode.is_none())
    }

    /// Returns a text after the change; so many lines at either end of a hunk may differ.
    pub(super) fn apply(&self, content: &str, fuzz: usize) -> Result<String, InvalidCall> {
        hunk::apply(&self.hunks, content, fuzz).map_err(|number| {
            InvalidCall(format!(
                "part {number} of the change to `{}` does not fit: the lines it expects are not \
                 there; read the file again and make the patch anew",
                self.path
            ))
        })
    }
}
