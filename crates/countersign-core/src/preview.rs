//! Previews: what a person sees before they decide.

mod line_endings;
mod part_preview;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::line_endings::{FinalNewline, LineEnding, LineEndings};
pub use self::part_preview::PartPreview;
use crate::{Digest, RehearsalState, UnifiedDiff, mask_input, mask_text};

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
    /// Changes that are made together or not at all.
    MultiDiff {
        /// Each file, in the order of the call.
        files: Vec<DiffPreview>,
        /// All files this was computed from; a file that moves is there with both its places.
        preimages: Vec<Preimage>,
    },
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

/// A change to one file, as a unified diff; and what a diff of lines does not show.
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
    /// How many lines of the diff are left out after its first [`UnifiedDiff::HEAD`], if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_lines: Option<usize>,
    /// The digest of the whole diff where lines are left out: consent covers those too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_digest: Option<Digest>,
    /// The whole diff where lines are left out, for the gate to keep: it does not travel along.
    #[serde(skip)]
    pub whole: Option<Arc<str>>,
    /// Whether the file is gone afterwards.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_deleted: bool,
    /// The path it had, where it moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The mode it has, as git writes it (`100644`), where the call names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    /// The mode it will have, where the call sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    /// Where it will lead, if it becomes a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_target: Option<String>,
    /// Whether either side is no text: then the sizes stand for the diff.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_binary: bool,
    /// How many bytes there are, where that is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_size: Option<u64>,
    /// How many bytes there will be, where the diff cannot be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_size: Option<u64>,
    /// How line ends change, which the lines of a diff hide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_endings: Option<LineEndings>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
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
        let (diff, whole) = UnifiedDiff::with_full_text(&file_path, before, new);
        Self {
            is_new_file: original.is_none(),
            original_lines: before.lines().count(),
            new_lines: new.lines().count(),
            original_content: carried(before),
            new_content: carried(new),
            omitted_lines: whole.as_ref().map(|_| diff.omitted),
            full_digest: whole.as_ref().map(|whole| Digest::for_bytes(whole.as_bytes())),
            whole: whole.map(Into::into),
            line_endings: original.and_then(|before| LineEndings::compare(before, new)),
            diff,
            ..Self::empty(file_path, preimage)
        }
    }

    /// Returns the preview of a file that is removed with its text.
    pub fn for_deletion(file_path: String, original: &str, preimage: Preimage) -> Self {
        let change = Self::new(file_path, Some(original), "", preimage);
        Self { is_deleted: true, line_endings: None, ..change }
    }

    /// Returns the preview of a change where one side is no text: of `original` bytes (if a file
    /// stands there) to `new` bytes (if one will).
    pub fn for_binary(
        file_path: String,
        original: Option<u64>,
        new: Option<u64>,
        preimage: Preimage,
    ) -> Self {
        Self {
            is_new_file: original.is_none(),
            is_deleted: new.is_none(),
            is_binary: true,
            original_size: original,
            new_size: new,
            ..Self::empty(file_path, preimage)
        }
    }

    fn empty(file_path: String, preimage: Preimage) -> Self {
        Self {
            file_path,
            is_new_file: false,
            original_lines: 0,
            new_lines: 0,
            original_content: None,
            new_content: None,
            diff: UnifiedDiff { lines: Vec::new(), added: 0, removed: 0, omitted: 0 },
            preimage,
            omitted_lines: None,
            full_digest: None,
            whole: None,
            is_deleted: false,
            renamed_from: None,
            old_mode: None,
            new_mode: None,
            link_target: None,
            is_binary: false,
            original_size: None,
            new_size: None,
            line_endings: None,
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
    /// How it was read: the form in which it would run if nobody had to be asked. The gate fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
    /// What it did when it was tried out, where that was done while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<RehearsalState>,
}

impl Preview {
    /// Returns the name of the kind, as on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Diff(_) => "diff",
            Self::MultiDiff { .. } => "multi_diff",
            Self::Command(_) => "command",
            Self::Generic { .. } => "generic",
        }
    }

    /// Returns the preview as it is kept and shown: without secrets, but for the diff itself.
    #[must_use]
    pub fn mask_secrets(self) -> Self {
        match self {
            Self::Command(preview) => Self::Command(CommandPreview {
                // Quoted word by word, a secret may not look like one: then the form is not shown.
                canonical: preview
                    .canonical
                    .filter(|_| mask_text(&preview.command) == preview.command)
                    .map(|text| mask_text(&text)),
                command: mask_text(&preview.command),
                description: preview.description.map(|text| mask_text(&text)),
                warnings: preview.warnings.iter().map(|text| mask_text(text)).collect(),
                rehearsal: preview.rehearsal.map(RehearsalState::mask_secrets),
                ..preview
            }),
            Self::Generic { input, preimages } => {
                Self::Generic { input: mask_input(&input), preimages }
            }
            diff @ (Self::Diff(_) | Self::MultiDiff { .. }) => diff,
        }
    }

    /// Returns the changes to files that it shows.
    pub fn files(&self) -> &[DiffPreview] {
        match self {
            Self::Diff(file) => std::slice::from_ref(file),
            Self::MultiDiff { files, .. } => files,
            Self::Command(_) => self.rehearsal().map(RehearsalState::files).unwrap_or_default(),
            Self::Generic { .. } => &[],
        }
    }

    /// Returns whether lines of its diffs are left out, to be kept elsewhere.
    pub fn leaves_lines_out(&self) -> bool {
        self.files().iter().any(|file| file.omitted_lines.is_some())
    }

    /// Returns how the rehearsal of a command stands, where there is one.
    pub fn rehearsal(&self) -> Option<&RehearsalState> {
        match self {
            Self::Command(command) => command.rehearsal.as_ref(),
            Self::Diff(_) | Self::MultiDiff { .. } | Self::Generic { .. } => None,
        }
    }

    /// Returns it as it was before it was rehearsed.
    pub(crate) fn without_rehearsal(&self) -> Cow<'_, Self> {
        match self {
            Self::Command(command) if command.rehearsal.is_some() => {
                Cow::Owned(Self::Command(CommandPreview { rehearsal: None, ..command.clone() }))
            }
            other => Cow::Borrowed(other),
        }
    }

    /// Returns the files the preview was computed from.
    pub fn preimages(&self) -> &[Preimage] {
        match self {
            Self::Diff(diff) => std::slice::from_ref(&diff.preimage),
            Self::MultiDiff { preimages, .. } | Self::Generic { preimages, .. } => preimages,
            Self::Command(_) => &[],
        }
    }
}

#[cfg(test)]
mod tests;
