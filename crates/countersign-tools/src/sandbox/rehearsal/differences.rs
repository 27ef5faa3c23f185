//! Differences: what a rehearsed command has changed, to be shown and to be made so.

use std::io;
use std::path::{Path, PathBuf};

use countersign_core::{
    DiffPreview, Digest, Effect, EffectTarget, FileState, PathClass, ToolOutput,
};

use super::layer;
use super::overlay_folders::RehearsalOverlay;
use super::reader::LayerReader;
use crate::files::disk::{DiskError, FileSnapshot};
use crate::files::text::size;
use crate::files::transaction::FileStep;
use crate::tool_error::ToolError;

/// How many files are shown, and how much of them is read.
const FILES: usize = 200;
const BYTES: u64 = 64 * 1024 * 1024;

/// One difference.
#[derive(Debug)]
pub(super) struct WorkspaceDifference {
    /// As it is shown.
    pub(super) name: String,
    /// Where it is.
    pub(super) path: PathBuf,
    pub(super) what: DifferenceKind,
}

#[derive(Debug)]
pub(super) enum DifferenceKind {
    /// A file has come or is another, with what lies at `from`.
    File { from: PathBuf, was: FileState, is: FileState },
    /// A link has come where nothing was.
    Link { to: String },
    /// A file is gone.
    Gone { was: FileState },
    /// A folder has come.
    Folder { mode: u32 },
    /// A folder is gone.
    NoFolder { mode: u32 },
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct WorkspaceDiff {
    all: Vec<WorkspaceDifference>,
    shown: Vec<DiffPreview>,
    /// How many files are not shown, and how many bytes were read.
    more: usize,
    bytes: u64,
    /// How many files of git's own changed: nobody reads those.
    of_git: usize,
    /// Why it cannot be kept.
    hindrance: Option<String>,
}

impl WorkspaceDiff {
    /// Reads what lies on a stage. Blocks.
    pub(super) fn from_overlay(stage: &RehearsalOverlay) -> io::Result<Self> {
        let mut found = Self::default();
        let roots: Vec<_> = stage.layers().collect();
        for (root, upper) in &roots {
            let entries = layer::entries(upper)?;
            // A file is shown by the shortest name that says where it is.
            let base = if roots.len() == 1 { root } else { Path::new("/") };
            LayerReader { stage, root, upper, base, entries: &entries }.read(&mut found)?;
        }
        Ok(found)
    }

    /// Returns the changes of files, as far as they are shown.
    pub(super) fn shown(&self) -> &[DiffPreview] {
        &self.shown
    }

    /// Returns how many more files there are.
    pub(super) fn more_files(&self) -> usize {
        self.more
    }

    /// Returns why this cannot be kept.
    pub(super) fn hindrance(&self) -> Option<&str> {
        self.hindrance.as_deref()
    }

    /// Returns what a diff does not show: folders that come and go, and what git keeps for itself.
    pub(super) fn folders(&self) -> Vec<String> {
        let line = |it: &WorkspaceDifference| match it.what {
            DifferenceKind::Folder { .. } => Some(format!("new folder `{}`", it.name)),
            DifferenceKind::NoFolder { .. } => Some(format!("folder `{}` removed", it.name)),
            DifferenceKind::File { .. }
            | DifferenceKind::Link { .. }
            | DifferenceKind::Gone { .. } => None,
        };
        let own = |it: &&WorkspaceDifference| !is_of_git(&it.path);
        let mut lines: Vec<_> = self.all.iter().filter(own).filter_map(line).collect();
        if self.of_git > 0 {
            lines.push(format!("{} of git's own in `.git`", files(self.of_git)));
        }
        lines
    }

    /// Returns what it does to files.
    pub(super) fn effects(&self, stage: &RehearsalOverlay) -> Vec<Effect> {
        let roots: Vec<PathBuf> = stage.layers().map(|(root, _)| root.to_owned()).collect();
        let target = |path: &Path| EffectTarget::new(path, PathClass::from_path(path, &roots));
        let effect = |it: &WorkspaceDifference| match it.what {
            DifferenceKind::File { .. } | DifferenceKind::Link { .. } => {
                Some(Effect::Write(target(&it.path)))
            }
            DifferenceKind::Gone { .. } => Some(Effect::Delete(target(&it.path))),
            DifferenceKind::Folder { .. } | DifferenceKind::NoFolder { .. } => None,
        };
        self.all.iter().filter_map(effect).collect()
    }

    /// Returns the digest of all of it and of what was said.
    pub(super) fn digest(&self, output: &ToolOutput) -> Digest {
        let said = [output.content.as_bytes(), if output.is_error { b"error" } else { b"" }];
        let each =
            self.all.iter().map(|it| format!("{}\0{}", it.path.display(), it.what.written()));
        let each: Vec<String> = each.collect();
        Digest::for_parts(said.into_iter().chain(each.iter().map(String::as_bytes)))
    }

    /// Returns the steps that make it so, on files that are still what they were.
    pub(super) fn into_steps(self) -> Result<Vec<FileStep>, ToolError> {
        let mut steps = Vec::new();
        // What takes the place of a folder comes after it is gone, and what lies in one after it is there.
        let (gone, come): (Vec<_>, Vec<_>) =
            self.all.into_iter().partition(WorkspaceDifference::is_gone);
        for difference in gone.into_iter().rev().chain(come) {
            difference.into_steps(&mut steps)?;
        }
        Ok(steps)
    }

    pub(super) fn add(&mut self, difference: WorkspaceDifference) {
        self.all.push(difference);
    }

    /// Shows a change of a file that took reading so many bytes.
    pub(super) fn show(&mut self, path: &Path, bytes: u64, mut shown: DiffPreview) {
        self.bytes += bytes;
        if is_of_git(path) {
            self.of_git += 1;
        } else if self.shown.len() < FILES && self.bytes < BYTES {
            // The page asks for them when somebody looks.
            shown.original_content = None;
            shown.new_content = None;
            self.shown.push(shown);
        } else {
            self.more += 1;
            let most = size(BYTES);
            self.hinder(format!("it changed more than can be shown: {FILES} files, {most}"));
        }
    }

    /// The first reason says it all.
    pub(super) fn hinder(&mut self, why: String) {
        self.hindrance.get_or_insert(why);
    }
}

impl DifferenceKind {
    fn written(&self) -> String {
        let state = |state: &FileState| serde_json::to_string(state).unwrap_or_default();
        match self {
            Self::File { was, is, .. } => format!("file {} {}", state(was), state(is)),
            Self::Link { to } => format!("link {to}"),
            Self::Gone { was } => format!("gone {}", state(was)),
            Self::Folder { mode } => format!("folder {mode:o}"),
            Self::NoFolder { mode } => format!("no folder {mode:o}"),
        }
    }
}

impl WorkspaceDifference {
    fn is_gone(&self) -> bool {
        matches!(self.what, DifferenceKind::Gone { .. } | DifferenceKind::NoFolder { .. })
    }

    fn into_steps(self, steps: &mut Vec<FileStep>) -> Result<(), ToolError> {
        let Self { name: path, path: at, what } = self;
        let in_words = |error: DiskError| error.into_tool_error(&path);
        match what {
            DifferenceKind::Folder { mode } => steps.push(FileStep::MakeFolder { path, at, mode }),
            DifferenceKind::NoFolder { mode } => {
                steps.push(FileStep::RemoveFolder { path, at, mode });
            }
            DifferenceKind::Link { to } => {
                let standing = FileSnapshot::read(&at).map_err(in_words)?;
                steps.push(FileStep::Link { path, standing, to });
            }
            DifferenceKind::Gone { was } => {
                let standing = as_it_was(&at, &was).map_err(in_words)?;
                steps.push(FileStep::Delete { path, standing });
            }
            DifferenceKind::File { from, was, is } => {
                let standing = as_it_was(&at, &was).map_err(in_words)?;
                let new = FileSnapshot::read(&from).map_err(in_words)?;
                let bytes = new.snapshot.map(|new| new.bytes).unwrap_or_default();
                let (name, file) = (path.clone(), at);
                steps.push(FileStep::Write { path, standing, bytes, executable: None });
                if let (was, FileState::File { mode, .. }) = (was, is) {
                    let was = if let FileState::File { mode, .. } = was { mode } else { mode };
                    steps.push(FileStep::Mode { path: name, at: file, was, mode });
                }
            }
        }
        Ok(())
    }
}

fn as_it_was(path: &Path, was: &FileState) -> Result<FileSnapshot, DiskError> {
    let standing = FileSnapshot::read(path)?;
    if standing.state() == *was { Ok(standing) } else { Err(DiskError::Changed) }
}

fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
