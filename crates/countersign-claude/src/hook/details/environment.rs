//! What a hook is told about the files and folders around the session.

use serde::Deserialize;

use super::or_default;

/// A settings file has changed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ConfigChangeHookInput {
    /// Which settings.
    pub source: String,
    /// The file.
    #[serde(default)]
    pub file_path: Option<String>,
}

/// A file of instructions was read.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct InstructionsLoadedHookInput {
    /// The file.
    pub file_path: String,
    /// Whose instructions they are.
    #[serde(default)]
    pub memory_type: Option<String>,
    /// Why it was read.
    #[serde(default)]
    pub load_reason: Option<String>,
    /// What they apply to.
    #[serde(default, deserialize_with = "or_default")]
    pub globs: Vec<String>,
}

/// A folder was added to the session.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DirectoryAddedHookInput {
    /// The folder.
    pub directory: String,
    /// Who added it.
    #[serde(default)]
    pub source: Option<String>,
}

/// The working directory has changed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct CwdChangedHookInput {
    /// The old one.
    pub old_cwd: String,
    /// The new one.
    pub new_cwd: String,
}

/// A watched file has changed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FileChangedHookInput {
    /// The file.
    pub file_path: String,
    /// `change`, `add` or `unlink`.
    pub event: String,
}

/// A worktree is to be made.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct WorktreeCreateHookInput {
    /// Its name.
    pub name: String,
}

/// A worktree is to be removed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct WorktreeRemoveHookInput {
    /// Where it is.
    pub worktree_path: String,
}
