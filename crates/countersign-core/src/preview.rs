//! Previews: what a person sees before they decide.

mod part;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use part::PartPreview;

use crate::{Digest, UnifiedDiff, masked, masked_text};

/// A file as it was when the preview was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preimage {
    /// The resolved path.
    pub path: PathBuf,
    /// The digest of its bytes; none where there was no file.
    pub digest: Option<Digest>,
}

/// What a call would do, made visible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Preview {
    /// A change to one file.
    Diff(DiffPreview),
    /// A command line.
    Command(CommandPreview),
    /// Anything else: its input.
    Generic {
        /// As the model wrote it.
        input: Value,
        /// The files this was computed from, where a change cannot be shown as a diff.
        preimages: Vec<Preimage>,
    },
}

/// A change to one file, as a unified diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPreview {
    /// The path as the tool's input gives it.
    pub file_path: String,
    /// Whether the file is made by this call.
    pub is_new_file: bool,
    /// How many lines there are.
    pub original_lines: usize,
    /// How many there will be.
    pub new_lines: usize,
    /// The text as it is; left out where it is too large to carry along.
    pub original_content: Option<String>,
    /// The text as it will be; left out where it is too large to carry along.
    pub new_content: Option<String>,
    /// What changes.
    pub diff: UnifiedDiff,
    /// The file this was computed from.
    pub preimage: Preimage,
}

impl DiffPreview {
    /// Above this many bytes a text is left out of the preview: the diff says what changes.
    pub const CONTENT_LIMIT: usize = 256 * 1024;

    /// Returns the preview of writing `new` where `original` (if any) stands.
    ///
    /// `preimage` must be taken from the same reading of the file as `original`.
    pub fn new(file_path: String, original: Option<&str>, new: &str, preimage: Preimage) -> Self {
        let before = original.unwrap_or_default();
        let carried = |text: &str| (text.len() <= Self::CONTENT_LIMIT).then(|| text.to_owned());
        Self {
            diff: UnifiedDiff::between(&file_path, before, new),
            is_new_file: original.is_none(),
            original_lines: before.lines().count(),
            new_lines: new.lines().count(),
            original_content: carried(before),
            new_content: carried(new),
            file_path,
            preimage,
        }
    }
}

/// A command line and where it would run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPreview {
    /// The whole command, as it will be given to the shell.
    pub command: String,
    /// The folder it starts in.
    pub cwd: String,
    /// What the model says it does. Its words, not ours.
    pub description: Option<String>,
    /// After how long it is killed.
    pub timeout_ms: u64,
    /// What a person should notice.
    pub warnings: Vec<String>,
    /// Its commands one by one, with what was said of each. The gate fills them in.
    #[serde(default)]
    pub parts: Vec<PartPreview>,
}

impl Preview {
    /// Returns the name of the kind, as on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Diff(_) => "diff",
            Self::Command(_) => "command",
            Self::Generic { .. } => "generic",
        }
    }

    /// Returns the preview as it is kept and shown: without secrets, but for the diff itself.
    #[must_use]
    pub fn masked(self) -> Self {
        match self {
            Self::Command(preview) => Self::Command(CommandPreview {
                command: masked_text(&preview.command),
                description: preview.description.map(|text| masked_text(&text)),
                warnings: preview.warnings.iter().map(|text| masked_text(text)).collect(),
                ..preview
            }),
            Self::Generic { input, preimages } => {
                Self::Generic { input: masked(&input), preimages }
            }
            diff @ Self::Diff(_) => diff,
        }
    }

    /// Returns the files the preview was computed from.
    pub fn preimages(&self) -> &[Preimage] {
        match self {
            Self::Diff(diff) => std::slice::from_ref(&diff.preimage),
            Self::Generic { preimages, .. } => preimages,
            Self::Command(_) => &[],
        }
    }
}
