//! The workspace: which folders belong to a session, and where a path of a call really leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use countersign_core::{EffectTarget, InvalidCall, PathClass, SecretNames, normalize_lexically};

use crate::files::escape::escape_to_line;
use crate::files::path;

/// How many links a path may go through, as in the kernel.
const LINK_LIMIT: usize = 40;

/// The folders a session works in.
#[derive(Clone, Debug)]
pub struct Workspace {
    // INVARIANT: absolute, links resolved.
    roots: Arc<[PathBuf]>,
    /// Folders no command may touch, wherever they lie: where the gate keeps its own state.
    off_limits: Arc<[PathBuf]>,
}

/// A root of a workspace has to be a folder that exists.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` cannot be a workspace: {cause}")]
pub struct NotAFolder {
    path: PathBuf,
    cause: io::Error,
}

impl Workspace {
    /// Returns the workspace with these roots.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Result<Self, NotAFolder> {
        let canonical = |path: PathBuf| match path.canonicalize() {
            Ok(folder) if folder.is_dir() => Ok(folder),
            Ok(_) => Err(NotAFolder { path, cause: io::ErrorKind::NotADirectory.into() }),
            Err(cause) => Err(NotAFolder { path, cause }),
        };
        let roots = roots.into_iter().map(canonical).collect::<Result<_, _>>()?;
        Ok(Self { roots, off_limits: Arc::default() })
    }

    /// Puts folders out of reach of commands: those that would touch them are denied.
    #[must_use]
    pub fn keeping_out_of(self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { off_limits: folders.into_iter().collect(), ..self }
    }

    /// Returns the workspace of one folder of this one, with the same folders out of reach. None for
    /// what is not a folder of it.
    pub fn narrowed(&self, folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok().filter(|folder| folder.is_dir())?;
        let is_ours = self.roots.iter().any(|root| folder.starts_with(root))
            && !self.off_limits.iter().any(|own| folder.starts_with(own));
        is_ours.then(|| Self { roots: Arc::new([folder]), off_limits: self.off_limits.clone() })
    }

    /// Returns the folders no command may touch.
    pub(crate) fn off_limits(&self) -> &[PathBuf] {
        &self.off_limits
    }

    /// Returns the roots, links resolved.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns the roots, to be kept.
    pub(crate) fn shared_roots(&self) -> &Arc<[PathBuf]> {
        &self.roots
    }

    /// Returns where a path of a call leads: links resolved as far as the path exists, the missing
    /// rest attached.
    ///
    /// A relative path starts from `cwd`; `~` is a name like any other.
    pub fn resolve(&self, cwd: &Path, path: &str) -> Result<EffectTarget, InvalidCall> {
        self.resolve_with(cwd, path, read_link)
    }

    /// Returns the same, by what another look at links says.
    pub(crate) fn resolve_with(
        &self,
        cwd: &Path,
        path: &str,
        read_link: impl Fn(&Path) -> io::Result<Option<PathBuf>>,
    ) -> Result<EffectTarget, InvalidCall> {
        if path.is_empty() {
            return Err(InvalidCall("the path is empty: name a file or folder".to_owned()));
        }
        if path.contains('\0') {
            return Err(InvalidCall(
                "the path holds a NUL character: no file has such a name".into(),
            ));
        }
        let whole = cwd.join(path);
        if !whole.is_absolute() {
            return Err(InvalidCall(format!(
                "`{}` is relative and the call has no absolute folder to start from: give an \
                 absolute path",
                escape_to_line(path)
            )));
        }
        let path = follow_links(&whole, read_link)?;
        let place = self.place(&path);
        Ok(EffectTarget::new(path, place).with_written_path(normalize_lexically(&whole)))
    }

    /// Returns where a path leads that a model wrote: as [`Workspace::resolve`], and refusing what
    /// no path of a call may look like.
    pub(crate) fn find(&self, cwd: &Path, path: &str) -> Result<EffectTarget, InvalidCall> {
        path::check(path)?;
        let target = self.resolve(cwd, path)?;
        if self.off_limits.iter().any(|own| target.path.starts_with(own)) {
            return Err(InvalidCall(format!(
                "`{}` is where Countersign keeps its own state: no tool touches it",
                escape_to_line(path)
            )));
        }
        Ok(target)
    }

    /// Returns the place of a path that is resolved already.
    pub(crate) fn place(&self, path: &Path) -> PathClass {
        PathClass::from_path(path, &self.roots)
    }

    /// Returns which names in a resolved folder may hold secrets.
    pub(crate) fn secret_names(&self, folder: &Path) -> SecretNames {
        SecretNames::in_folder(folder, &self.roots)
    }
}

/// One step of a path still to be taken.
enum PathStep {
    Root,
    Up,
    Down(OsString),
}

/// Walks a path as the kernel would, except that what is missing is taken as if it were a folder.
///
/// `..` goes up from where the links before it led, never from how they were written.
pub(crate) fn follow_links(
    path: &Path,
    read_link: impl Fn(&Path) -> io::Result<Option<PathBuf>>,
) -> Result<PathBuf, InvalidCall> {
    let mut ahead: VecDeque<PathStep> = steps(path).collect();
    let mut here = PathBuf::from("/");
    let mut links = 0;
    while let Some(step) = ahead.pop_front() {
        let name = match step {
            PathStep::Root => {
                here = PathBuf::from("/");
                continue;
            }
            PathStep::Up => {
                here.pop();
                continue;
            }
            PathStep::Down(name) => name,
        };
        here.push(name);
        // What cannot be looked at could be a link to anywhere.
        let link = read_link(&here).map_err(|error| {
            InvalidCall(format!("cannot look at `{}`: {error}", here.display()))
        })?;
        let Some(link) = link else { continue };
        links += 1;
        if links > LINK_LIMIT {
            return Err(InvalidCall(format!("`{}` goes through too many links", path.display())));
        }
        here.pop();
        for step in steps(&link).collect::<Vec<_>>().into_iter().rev() {
            ahead.push_front(step);
        }
    }
    Ok(here)
}

fn steps(path: &Path) -> impl Iterator<Item = PathStep> {
    path.components().filter_map(|component| match component {
        Component::RootDir => Some(PathStep::Root),
        Component::ParentDir => Some(PathStep::Up),
        Component::Normal(name) => Some(PathStep::Down(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Returns where a link points; none for what is no link or is missing.
fn read_link(path: &Path) -> io::Result<Option<PathBuf>> {
    let found = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => path.read_link().map(Some),
        Ok(_) => Ok(None),
        Err(error) => Err(error),
    };
    match found {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        found => found,
    }
}

#[cfg(test)]
mod tests;
