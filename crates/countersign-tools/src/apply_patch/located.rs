//! A change of a patch and the files it leads to: what it does, what becomes of them.

use countersign_core::{DiffPreview, Effect, Invalid, Permit, Preimage, Target};

use super::change::{FileChange, Kind, Mode};
use crate::disk::{DiskError, Standing};
use crate::shown::shown;
use crate::text::Encoding;
use crate::tool::ToolError;
use crate::transaction::Step;
use crate::{edit, file_diff, reach};

/// A change and where it leads.
pub(super) struct Located {
    pub(super) change: FileChange,
    pub(super) at: Target,
    /// Where the file moves to.
    pub(super) to: Option<Target>,
    /// How many lines at either end of a hunk may differ.
    pub(super) fuzz: usize,
}

impl Located {
    pub(super) fn effects(&self) -> Result<Vec<Effect>, Invalid> {
        let (path, at) = (&self.change.path, self.at.clone());
        let mut effects = match (&self.change.kind, &self.to) {
            (Kind::Delete, _) => vec![Effect::Delete(at)],
            (Kind::Move { to: path }, Some(to)) => {
                let mut effects = vec![Effect::Rename { from: at, to: to.clone() }];
                if !self.change.hunks.is_empty() || self.change.new_mode.is_some() {
                    effects.extend(reach::writing(path, to.clone())?);
                }
                effects
            }
            (Kind::Add, _) => reach::writing(path, at)?,
            (Kind::Update | Kind::Move { .. }, _) => {
                let mut effects = vec![Effect::Read(at.clone())];
                effects.extend(reach::writing(path, at)?);
                effects
            }
        };
        if self.change.makes_link() {
            let why = format!("`{}` becomes a link: later calls reach where it leads", shown(path));
            effects.push(Effect::Opaque { why });
        }
        Ok(effects)
    }

    /// Returns where the change leads.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        std::iter::once(&self.at).chain(&self.to)
    }

    pub(super) fn summary(&self) -> String {
        let path = shown(&self.change.path);
        match &self.change.kind {
            Kind::Add => format!("add `{path}`"),
            Kind::Update => format!("change `{path}`"),
            Kind::Delete => format!("delete `{path}`"),
            Kind::Move { to } => format!("move `{path}` to `{}`", shown(to)),
        }
    }

    /// Says what was done, one line a file, as git does.
    pub(super) fn report(&self) -> String {
        let path = &self.change.path;
        match &self.change.kind {
            Kind::Add => format!("A {path}"),
            Kind::Update => format!("M {path}"),
            Kind::Delete => format!("D {path}"),
            Kind::Move { to } => format!("R {path} -> {to}"),
        }
    }

    /// Shows the change, and tells which files that was computed from.
    pub(super) fn preview(&self) -> Result<(DiffPreview, Vec<Preimage>), Invalid> {
        let path = &self.change.path;
        let in_words = |error: DiskError| error.in_preview(path);
        let standing = Standing::read(&self.at.path).map_err(in_words)?;
        standing.check_writable().map_err(in_words)?;
        let after = self.after(&standing)?;
        let mut preimages = vec![standing.preimage()];
        if let (Kind::Move { to }, Some(target)) = (&self.change.kind, &self.to) {
            let new = Standing::read(&target.path).map_err(|error| error.in_preview(to))?;
            check_free(to, &new)?;
            preimages.push(new.preimage());
        }
        let mut shown = self.shown(&standing, after.as_deref());
        shown.old_mode = self.change.old_mode.map(|mode| mode.name().to_owned());
        shown.new_mode = self.change.new_mode.map(|mode| mode.name().to_owned());
        Ok((shown, preimages))
    }

    fn shown(&self, standing: &Standing, after: Option<&[u8]>) -> DiffPreview {
        let (old_path, preimage) = (self.change.path.clone(), standing.preimage());
        let (path, renamed_from) = match &self.change.kind {
            Kind::Move { to } => (to.clone(), Some(old_path)),
            Kind::Add | Kind::Update | Kind::Delete => (old_path, None),
        };
        let before = standing.snapshot.as_ref().map(|old| old.bytes.as_slice());
        let shown = file_diff::between(path, before, after, preimage);
        let target = after.filter(|_| self.change.makes_link());
        let link_target = target.map(|to| String::from_utf8_lossy(to).into_owned());
        DiffPreview { renamed_from, link_target, ..shown }
    }

    /// Works out what is to be done, on files that are still those the decision was bound to.
    pub(super) fn step(&self, permit: &Permit) -> Result<Step, ToolError> {
        let path = self.change.path.clone();
        let standing = Standing::read(&self.at.path).map_err(|error| error.at(&path))?;
        standing.check(permit).map_err(|error| error.at(&path))?;
        // Before anything is done: what is moved is written first and removed then.
        standing.check_writable().map_err(|error| error.at(&path))?;
        let after = self.after(&standing)?;
        let executable = match self.change.new_mode {
            Some(Mode::Executable) => Some(true),
            // A new file is none by itself.
            Some(Mode::File) if self.change.kind != Kind::Add => Some(false),
            Some(Mode::File | Mode::Link) | None => None,
        };
        let Some(bytes) = after else { return Ok(Step::Delete { path, standing }) };
        if let (Kind::Move { to: to_path }, Some(target)) = (&self.change.kind, &self.to) {
            let (to_path, from) = (to_path.clone(), Box::new(standing));
            let to = Standing::read(&target.path).map_err(|error| error.at(&to_path))?;
            to.check(permit).map_err(|error| error.at(&to_path))?;
            check_free(&to_path, &to)?;
            let to = Box::new(to);
            return Ok(Step::Move { path, from, to_path, to, bytes, executable });
        }
        if self.change.makes_link() {
            let to = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(Step::Link { path, standing, to });
        }
        Ok(Step::Write { path, standing, bytes, executable })
    }

    /// Returns what the file will hold; nothing where it will be gone.
    fn after(&self, standing: &Standing) -> Result<Option<Vec<u8>>, Invalid> {
        let (change, path) = (&self.change, &self.change.path);
        if change.makes_link() && change.kind != Kind::Add {
            return Err(Invalid(format!(
                "`{path}` is or becomes a link: patches only make new links here; use Bash"
            )));
        }
        let old = match (&change.kind, &standing.snapshot) {
            (Kind::Add, Some(_)) => {
                return Err(Invalid(format!(
                    "`{path}` exists already: change it instead of adding it"
                )));
            }
            (Kind::Add, None) => {
                return Ok(Some(Encoding::Utf8.encode(&change.apply("", self.fuzz)?)));
            }
            (_, None) => {
                return Err(Invalid(format!("`{path}` does not exist: nothing to change there")));
            }
            (_, Some(old)) => old,
        };
        if change.hunks.is_empty() {
            return Ok((change.kind != Kind::Delete).then(|| old.bytes.clone()));
        }
        let text = edit::text_of(path, old)?;
        let after = change.apply(&text.content, self.fuzz)?;
        match change.kind {
            Kind::Delete if after.is_empty() => Ok(None),
            Kind::Delete => {
                Err(Invalid(format!("the patch deletes `{path}` but not all that is in it")))
            }
            _ => Ok(Some(text.encoding.encode(&after))),
        }
    }
}

fn check_free(path: &str, standing: &Standing) -> Result<(), Invalid> {
    match standing.snapshot {
        Some(_) => Err(Invalid(format!("`{path}` exists already: delete it first"))),
        None => Ok(()),
    }
}
