//! A change of a patch and the files it leads to: what it does, what becomes of them.

use countersign_core::{DiffPreview, Effect, EffectTarget, InvalidCall, PermitTerms, Preimage};

use super::file_patch::{FilePatch, FilePatchKind, GitFileMode};
use crate::builtin::edit;
use crate::files::disk::{DiskError, FileSnapshot};
use crate::files::escape::escape_to_line;
use crate::files::file_diff;
use crate::files::path_effects;
use crate::files::text::TextEncoding;
use crate::files::transaction::FileStep;
use crate::tool_error::ToolError;

/// A change and where it leads.
pub(crate) struct ResolvedFilePatch {
    pub(super) change: FilePatch,
    pub(super) at: EffectTarget,
    /// Where the file moves to.
    pub(super) to: Option<EffectTarget>,
    /// How many lines at either end of a hunk may differ.
    pub(super) fuzz: usize,
}

impl ResolvedFilePatch {
    pub(super) fn effects(&self) -> Result<Vec<Effect>, InvalidCall> {
        let (path, at) = (&self.change.path, self.at.clone());
        let mut effects = match (&self.change.kind, &self.to) {
            (FilePatchKind::Delete, _) => vec![Effect::Delete(at)],
            (FilePatchKind::Move { to: path }, Some(to)) => {
                let mut effects = vec![Effect::Rename { from: at, to: to.clone() }];
                if !self.change.hunks.is_empty() || self.change.new_mode.is_some() {
                    effects.extend(path_effects::write_effects(path, to.clone())?);
                }
                effects
            }
            (FilePatchKind::Add, _) => path_effects::write_effects(path, at)?,
            (FilePatchKind::Update | FilePatchKind::Move { .. }, _) => {
                let mut effects = vec![Effect::Read(at.clone())];
                effects.extend(path_effects::write_effects(path, at)?);
                effects
            }
        };
        if self.change.makes_link() {
            let why = format!(
                "`{}` becomes a link: later calls reach where it leads",
                escape_to_line(path)
            );
            effects.push(Effect::Opaque { why });
        }
        Ok(effects)
    }

    /// Returns where the change leads.
    pub(super) fn targets(&self) -> impl Iterator<Item = &EffectTarget> {
        std::iter::once(&self.at).chain(&self.to)
    }

    pub(super) fn summary(&self) -> String {
        let path = escape_to_line(&self.change.path);
        match &self.change.kind {
            FilePatchKind::Add => format!("add `{path}`"),
            FilePatchKind::Update => format!("change `{path}`"),
            FilePatchKind::Delete => format!("delete `{path}`"),
            FilePatchKind::Move { to } => format!("move `{path}` to `{}`", escape_to_line(to)),
        }
    }

    /// Says what was done, one line a file, as git does.
    pub(super) fn report(&self) -> String {
        let path = &self.change.path;
        match &self.change.kind {
            FilePatchKind::Add => format!("A {path}"),
            FilePatchKind::Update => format!("M {path}"),
            FilePatchKind::Delete => format!("D {path}"),
            FilePatchKind::Move { to } => format!("R {path} -> {to}"),
        }
    }

    /// Shows the change, and tells which files that was computed from.
    pub(super) fn preview(&self) -> Result<(DiffPreview, Vec<Preimage>), InvalidCall> {
        let path = &self.change.path;
        let in_words = |error: DiskError| error.in_preview(path);
        let standing = FileSnapshot::read_writable(&self.at.path).map_err(in_words)?;
        let after = self.after(&standing)?;
        let mut preimages = vec![standing.preimage()];
        if let (FilePatchKind::Move { to }, Some(target)) = (&self.change.kind, &self.to) {
            let new = FileSnapshot::read(&target.path).map_err(|error| error.in_preview(to))?;
            check_free(to, &new)?;
            preimages.push(new.preimage());
        }
        let mut shown = self.show_change(&standing, after.as_deref());
        shown.old_mode = self.change.old_mode.map(|mode| mode.name().to_owned());
        shown.new_mode = self.change.new_mode.map(|mode| mode.name().to_owned());
        Ok((shown, preimages))
    }

    fn show_change(&self, standing: &FileSnapshot, after: Option<&[u8]>) -> DiffPreview {
        let (old_path, preimage) = (self.change.path.clone(), standing.preimage());
        let (path, renamed_from) = match &self.change.kind {
            FilePatchKind::Move { to } => (to.clone(), Some(old_path)),
            FilePatchKind::Add | FilePatchKind::Update | FilePatchKind::Delete => (old_path, None),
        };
        let before = standing.bytes();
        let shown = file_diff::between(path, before, after, preimage);
        let target = after.filter(|_| self.change.makes_link());
        let link_target = target.map(|to| String::from_utf8_lossy(to).into_owned());
        DiffPreview { renamed_from, link_target, ..shown }
    }

    /// Works out what is to be done, on files that are still those the decision was bound to.
    pub(super) fn step(&self, permit: &PermitTerms) -> Result<FileStep, ToolError> {
        let path = self.change.path.clone();
        let standing = FileSnapshot::read_permitted(&self.at.path, permit)
            .map_err(|error| error.into_tool_error(&path))?;
        // Before anything is done: what is moved is written first and removed then.
        standing.check_writable().map_err(|error| error.into_tool_error(&path))?;
        let after = self.after(&standing)?;
        let executable = match self.change.new_mode {
            Some(GitFileMode::Executable) => Some(true),
            // A new file is none by itself.
            Some(GitFileMode::File) if self.change.kind != FilePatchKind::Add => Some(false),
            Some(GitFileMode::File | GitFileMode::Link) | None => None,
        };
        let Some(bytes) = after else { return Ok(FileStep::Delete { path, standing }) };
        if let (FilePatchKind::Move { to: to_path }, Some(target)) = (&self.change.kind, &self.to) {
            let (to_path, from) = (to_path.clone(), Box::new(standing));
            let to = FileSnapshot::read_permitted(&target.path, permit)
                .map_err(|error| error.into_tool_error(&to_path))?;
            check_free(&to_path, &to)?;
            let to = Box::new(to);
            return Ok(FileStep::Move { path, from, to_path, to, bytes, executable });
        }
        if self.change.makes_link() {
            let to = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(FileStep::Link { path, standing, to });
        }
        Ok(FileStep::Write { path, standing, bytes, executable })
    }

    /// Returns what the file will hold; nothing where it will be gone.
    fn after(&self, standing: &FileSnapshot) -> Result<Option<Vec<u8>>, InvalidCall> {
        let (change, path) = (&self.change, &self.change.path);
        if change.makes_link() && change.kind != FilePatchKind::Add {
            return Err(InvalidCall(format!(
                "`{path}` is or becomes a link: patches only make new links here; use Bash"
            )));
        }
        let old = match (&change.kind, &standing.snapshot) {
            (FilePatchKind::Add, Some(_)) => {
                return Err(InvalidCall(format!(
                    "`{path}` exists already: change it instead of adding it"
                )));
            }
            (FilePatchKind::Add, None) => {
                return Ok(Some(TextEncoding::Utf8.encode(&change.apply("", self.fuzz)?)));
            }
            (_, None) => {
                return Err(InvalidCall(format!(
                    "`{path}` does not exist: nothing to change there"
                )));
            }
            (_, Some(old)) => old,
        };
        if change.hunks.is_empty() {
            return Ok((change.kind != FilePatchKind::Delete).then(|| old.bytes.clone()));
        }
        let text = edit::decode_for_editing(path, old)?;
        let after = change.apply(&text.content, self.fuzz)?;
        match change.kind {
            FilePatchKind::Delete if after.is_empty() => Ok(None),
            FilePatchKind::Delete => {
                Err(InvalidCall(format!("the patch deletes `{path}` but not all that is in it")))
            }
            _ => Ok(Some(text.encoding.encode(&after))),
        }
    }
}

fn check_free(path: &str, standing: &FileSnapshot) -> Result<(), InvalidCall> {
    match standing.snapshot {
        Some(_) => Err(InvalidCall(format!("`{path}` exists already: delete it first"))),
        None => Ok(()),
    }
}
