//! The folder of a project on another machine, and paths below it by their components.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use countersign_core::{EffectTarget, InvalidCall, PathClass, SensitiveKind, WorkspaceSide};

use crate::files::escape::escape_to_line;
use crate::files::path;

/// The project's folder on the client's machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRoot(
    // INVARIANT: free of `.` and `..`.
    Arc<Path>,
);

impl ClientRoot {
    /// Returns the root at a path of the client's machine.
    pub fn new(root: &Path) -> Self {
        Self(normal(root).into())
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns where a path of a call leads, if that is below the root however the client reads it.
    pub(super) fn find(&self, path: &str) -> Result<EffectTarget, InvalidCall> {
        path::check(path)?;
        let outside = || {
            Err(InvalidCall(format!(
                "`{}` lies outside the project `{}`: only files of the project are reached here",
                escape_to_line(path),
                self.0.display()
            )))
        };
        let target = self.locate(&self.0, path);
        if target.names().all(|name| name.starts_with(&self.0))
            && target.place.side == WorkspaceSide::Inside
        {
            Ok(target)
        } else {
            outside()
        }
    }

    /// Returns where a path leads, wherever that is.
    ///
    /// The server cannot know whether the client reads `\` as a letter or between folders. Both
    /// readings are names of the target, and the worse of both places is where it lies.
    pub(super) fn locate(&self, from: &Path, path: &str) -> EffectTarget {
        let plain = normal(&from.join(path));
        let place = self.place(&plain);
        if is_rooted_on_windows(path) {
            let place = PathClass { side: WorkspaceSide::Outside, ..place };
            return EffectTarget::new(plain, place);
        }
        if !path.contains('\\') {
            return EffectTarget::new(plain, place);
        }
        let split = normal(&from.join(path.replace('\\', "/")));
        let place = worse(place, self.place(&split));
        EffectTarget::new(split, place).with_written_path(plain)
    }

    /// Returns the path as a machine reads it on which `\` is a letter.
    pub(super) fn posix(&self, path: &str) -> PathBuf {
        normal(&self.0.join(path))
    }

    fn place(&self, path: &Path) -> PathClass {
        PathClass::from_path(path, &[self.0.to_path_buf()])
    }
}

/// Whether Windows reads a path from a drive, a share or the top of a drive.
fn is_rooted_on_windows(path: &str) -> bool {
    let mut letters = path.chars();
    let has_drive =
        letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':');
    has_drive || path.starts_with('\\')
}

/// Returns the place that asks for more consent, in every respect.
fn worse(one: PathClass, other: PathClass) -> PathClass {
    let is_outside = one.side == WorkspaceSide::Outside || other.side == WorkspaceSide::Outside;
    let side = if is_outside { WorkspaceSide::Outside } else { WorkspaceSide::Inside };
    let special = [SensitiveKind::Secret, SensitiveKind::Protected, SensitiveKind::RunsLater]
        .into_iter()
        .find(|it| [one.special, other.special].contains(&Some(*it)));
    PathClass { side, special }
}

/// Takes `.` and `..` out; above the root there is only the root.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut normal, component| {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
        normal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_judged_by_its_components() {
        let root = ClientRoot::new(Path::new("/home/me/proj/."));
        let found = |path: &str| root.find(path).map(|target| target.path.display().to_string());
        assert_eq!(found("src/../a.rs").unwrap(), "/home/me/proj/a.rs");
        assert_eq!(found("/home/me/proj/b").unwrap(), "/home/me/proj/b");
        assert_eq!(found(".").unwrap(), "/home/me/proj");
        for path in ["..", "../proj-evil/a", "a/../../x", "/etc/passwd", "/home/me/proj-evil/a"] {
            let InvalidCall(text) = found(path).unwrap_err();
            assert!(text.contains("lies outside the project `/home/me/proj`"), "{text}");
        }
        for path in ["", "a\0", "a\nb", "~/a"] {
            assert!(found(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn special_names_are_special_on_every_machine() {
        let root = ClientRoot::new(Path::new("/p"));
        let special = |path| root.find(path).unwrap().place.special;
        assert_eq!(special(".env"), Some(SensitiveKind::Secret));
        assert_eq!(special("x/../.git/config"), Some(SensitiveKind::Protected));
        assert_eq!(special("src/main.rs"), None);
    }

    #[test]
    fn a_backslash_leads_out_if_it_does_on_any_machine() {
        let root = ClientRoot::new(Path::new("/p"));
        for path in [
            "..\\outside.txt",
            "a\\..\\..\\x",
            "a/..\\../x",
            "a\\../..\\x",
            "C:\\x",
            "c:x",
            "C:/x",
            "\\x",
            "\\\\host\\share\\x",
            "/p\\..\\..\\etc",
            "/p/..\\..\\etc",
        ] {
            let InvalidCall(text) = root.find(path).unwrap_err();
            assert!(text.contains("lies outside the project"), "{path}: {text}");
        }
        let target = root.find("src\\sub/../a.txt").unwrap();
        assert_eq!(target.path, Path::new("/p/src/a.txt"));
        let names: Vec<_> = target.names().collect();
        assert_eq!(names, [Path::new("/p/src/a.txt"), Path::new("/p/a.txt")]);
    }

    #[test]
    fn a_backslash_hides_no_special_name() {
        let root = ClientRoot::new(Path::new("/p"));
        let special = |path| root.find(path).unwrap().place.special;
        assert_eq!(special(".git\\hooks\\pre-commit"), Some(SensitiveKind::Protected));
        assert_eq!(special("src\\.env"), Some(SensitiveKind::Secret));
        assert_eq!(special(".env\\..\\a.txt"), None);
        assert_eq!(special(".git/x\\..\\..\\a"), Some(SensitiveKind::Protected), "by one reading");
        assert_eq!(special("src\\a.rs"), None);
    }
}
