//! `ApplyPatch`: changes to several files in one text, all of them or none.
//!
//! Two forms are read, unified diffs with git's headers (`unified`) and `*** Begin Patch`
//! (`envelope`), into the same [`FileChange`]s. Reading is strict: what one program skips as noise
//! another would apply.

mod change;
mod envelope;
mod hunk;
mod unified;

use std::path::Path;

use countersign_core::{
    DiffPreview, Effect, Invalid, Plan, Planner, Preimage, Preview, Target, ToolCall,
};
use serde::Deserialize;

use self::change::{FileChange, Kind, Mode};
use crate::disk::{DiskError, Standing};
use crate::shown::shown;
use crate::text::Text;
use crate::workspace::Workspace;
use crate::{edit, input, path, reach};

/// Above this many bytes a patch is refused.
const PATCH_LIMIT: usize = 10 * 1024 * 1024;

/// How many files and places one patch may change: more than anybody looks at.
const FILES: usize = 500;
const HUNKS: usize = 5_000;

/// Above this many bytes in all, the texts of further files are left out: the diffs say what changes.
const CARRIED: usize = 4 * 1024 * 1024;

/// The tool that applies a patch.
#[derive(Clone, Debug)]
pub struct ApplyPatch {
    workspace: Workspace,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    patch: String,
}

/// A change and where it leads.
struct Located {
    change: FileChange,
    at: Target,
    /// Where the file moves to.
    to: Option<Target>,
}

impl ApplyPatch {
    /// Returns the tool.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn read(&self, call: &ToolCall) -> Result<Vec<Located>, Invalid> {
        let Input { patch } = input::parse(call)?;
        if patch.len() > PATCH_LIMIT {
            return Err(Invalid(format!("`patch` is longer than {PATCH_LIMIT} bytes: split it")));
        }
        if patch.contains('\0') {
            return Err(Invalid(
                "`patch` holds a NUL character: binary patches are not read".into(),
            ));
        }
        let first = patch.lines().find(|line| !line.trim().is_empty());
        let changes = if first.is_some_and(|line| line.trim_end() == envelope::BEGIN) {
            envelope::read(&patch)?
        } else {
            unified::read(&patch)?
        };
        if changes.is_empty() {
            return Err(Invalid("`patch` changes no file".to_owned()));
        }
        let hunks: usize = changes.iter().map(|change| change.hunks.len()).sum();
        if changes.len() > FILES || hunks > HUNKS {
            return Err(Invalid(format!(
                "`patch` changes {} files in {hunks} places, the limits are {FILES} and {HUNKS}: \
                 split it",
                changes.len()
            )));
        }
        let located = changes.into_iter().map(|change| self.locate(&call.cwd, change));
        let located = located.collect::<Result<Vec<_>, _>>()?;
        check_apart(&located)?;
        Ok(located)
    }

    fn locate(&self, cwd: &Path, change: FileChange) -> Result<Located, Invalid> {
        let at = self.workspace.find(cwd, &change.path)?;
        let to = match &change.kind {
            Kind::Move { to } => Some(self.workspace.find(cwd, to)?),
            Kind::Add | Kind::Update | Kind::Delete => None,
        };
        let replaced = matches!(change.kind, Kind::Move { .. } | Kind::Delete);
        if replaced && reach::is_link(cwd, &change.path) {
            return Err(Invalid(format!(
                "`{}` is a link: patches neither move nor delete links here; use Bash",
                shown(&change.path)
            )));
        }
        Ok(Located { change, at, to })
    }
}

/// Checks that no file is changed twice, and none by way of a link that the patch makes.
fn check_apart(changes: &[Located]) -> Result<(), Invalid> {
    let paths = |it: &Located| {
        std::iter::once(it.at.path.clone()).chain(it.to.as_ref().map(|to| to.path.clone()))
    };
    let mut seen = Vec::new();
    for path in changes.iter().flat_map(paths) {
        if seen.contains(&path) {
            return Err(Invalid(format!(
                "`{}` is changed twice in one patch: put its changes together",
                path.display()
            )));
        }
        seen.push(path);
    }
    for link in changes.iter().filter(|it| it.change.makes_link()).map(|it| &it.at.path) {
        if seen.iter().any(|path| path != link && path.starts_with(link)) {
            return Err(Invalid(format!(
                "`{}` becomes a link, and the patch writes through it: make two calls",
                link.display()
            )));
        }
    }
    Ok(())
}

impl Located {
    fn effects(&self) -> Result<Vec<Effect>, Invalid> {
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

    fn summary(&self) -> String {
        let path = shown(&self.change.path);
        match &self.change.kind {
            Kind::Add => format!("add `{path}`"),
            Kind::Update => format!("change `{path}`"),
            Kind::Delete => format!("delete `{path}`"),
            Kind::Move { to } => format!("move `{path}` to `{}`", shown(to)),
        }
    }

    /// Shows the change, and tells which files that was computed from.
    fn preview(&self) -> Result<(DiffPreview, Vec<Preimage>), Invalid> {
        let path = &self.change.path;
        let in_words = |error: DiskError| error.in_preview(path);
        let standing = Standing::read(&self.at.path).map_err(in_words)?;
        standing.check_writable().map_err(in_words)?;
        let mut preimages = vec![standing.preimage()];
        let mut shown = match &self.change.kind {
            Kind::Add => self.addition(&standing)?,
            Kind::Update => self.update(path, &standing)?,
            Kind::Delete => self.deletion(&standing)?,
            Kind::Move { to } => {
                if let Some(target) = &self.to {
                    let new = Standing::read(&target.path).map_err(|e| e.in_preview(to))?;
                    if new.snapshot.is_some() {
                        return Err(Invalid(format!("`{to}` exists already: delete it first")));
                    }
                    preimages.push(new.preimage());
                }
                let moved = self.update(to, &standing)?;
                DiffPreview { renamed_from: Some(path.clone()), ..moved }
            }
        };
        shown.old_mode = self.change.old_mode.map(|mode| mode.name().to_owned());
        shown.new_mode = self.change.new_mode.map(|mode| mode.name().to_owned());
        Ok((shown, preimages))
    }

    fn addition(&self, standing: &Standing) -> Result<DiffPreview, Invalid> {
        let path = &self.change.path;
        if standing.snapshot.is_some() {
            return Err(Invalid(format!(
                "`{path}` exists already: change it instead of adding it"
            )));
        }
        let content = self.change.apply("")?;
        let shown = DiffPreview::new(path.clone(), None, &content, standing.preimage());
        let link_target = (self.change.new_mode == Some(Mode::Link)).then_some(content);
        Ok(DiffPreview { link_target, ..shown })
    }

    /// Shows what becomes of a file, under the path it will have.
    fn update(&self, path: &str, standing: &Standing) -> Result<DiffPreview, Invalid> {
        let preimage = standing.preimage();
        let Some(old) = &standing.snapshot else { return Err(self.missing()) };
        if self.change.hunks.is_empty() && Text::decode(&old.bytes).is_err() {
            let size = Some(old.bytes.len() as u64);
            return Ok(DiffPreview::of_binary(path.to_owned(), size, size, preimage));
        }
        let before = edit::text_of(&self.change.path, old)?.content;
        let after = self.change.apply(&before)?;
        let shown = DiffPreview::new(path.to_owned(), Some(&before), &after, preimage);
        let link_target = (self.change.new_mode == Some(Mode::Link)).then_some(after);
        Ok(DiffPreview { link_target, ..shown })
    }

    fn deletion(&self, standing: &Standing) -> Result<DiffPreview, Invalid> {
        let (path, preimage) = (self.change.path.clone(), standing.preimage());
        let Some(old) = &standing.snapshot else { return Err(self.missing()) };
        let Ok(text) = Text::decode(&old.bytes) else {
            let size = Some(old.bytes.len() as u64);
            return Ok(DiffPreview::of_binary(path, size, None, preimage));
        };
        if !self.change.hunks.is_empty() && !self.change.apply(&text.content)?.is_empty() {
            return Err(Invalid(format!("the patch deletes `{path}` but not all that is in it")));
        }
        Ok(DiffPreview::of_deletion(path, &text.content, preimage))
    }

    fn missing(&self) -> Invalid {
        Invalid(format!("`{}` does not exist: nothing to change there", self.change.path))
    }
}

impl Planner for ApplyPatch {
    fn plan(&self, call: &ToolCall) -> Result<Plan, Invalid> {
        let changes = self.read(call)?;
        let effects = changes.iter().map(Located::effects).collect::<Result<Vec<_>, _>>()?;
        let told: Vec<String> = changes.iter().take(3).map(Located::summary).collect();
        let more = match changes.len().saturating_sub(told.len()) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let summary = format!("Apply a patch: {}{more}", told.join(", "));
        Ok(Plan::new(effects.concat(), summary))
    }

    fn preview(&self, call: &ToolCall) -> Result<Preview, Invalid> {
        let changes = self.read(call)?;
        let shown = changes.iter().map(Located::preview).collect::<Result<Vec<_>, _>>()?;
        let (mut files, preimages): (Vec<_>, Vec<_>) = shown.into_iter().unzip();
        lighten(&mut files);
        Ok(Preview::MultiDiff { files, preimages: preimages.concat() })
    }
}

/// Leaves out the texts of files once there are too many to carry along.
fn lighten(files: &mut [DiffPreview]) {
    let mut carried = 0;
    for file in files {
        let texts = [&file.original_content, &file.new_content];
        carried += texts.into_iter().flatten().map(String::len).sum::<usize>();
        if carried > CARRIED {
            (file.original_content, file.new_content) = (None, None);
        }
    }
}

/// Checks a path of a patch where its line is known.
fn checked_path(number: usize, path: &str) -> Result<String, Invalid> {
    if path.starts_with('"') {
        return Err(at_line(number, "the path is quoted; write it plainly, as it is"));
    }
    path::check(path).map_err(|Invalid(why)| at_line(number, &why))?;
    Ok(path.to_owned())
}

/// Says which line of a patch is wrong, and why.
fn at_line(number: usize, why: &str) -> Invalid {
    Invalid(format!("line {number} of the patch: {why}"))
}
