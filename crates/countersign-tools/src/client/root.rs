//! The folder of a project on another machine, and paths below it by their components.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use countersign_core::{Invalid, Place, Target};

use crate::path;
use crate::shown::shown;

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

    /// Returns where a path of a call leads, if that is below the root.
    pub(super) fn find(&self, path: &str) -> Result<Target, Invalid> {
        path::check(path)?;
        let target = self.locate(&self.0, path);
        if target.path.starts_with(&self.0) {
            Ok(target)
        } else {
            Err(Invalid(format!(
                "`{}` lies outside the project `{}`: only files of the project are reached here",
                shown(path),
                self.0.display()
            )))
        }
    }

    /// Returns where a path leads, wherever that is.
    pub(super) fn locate(&self, from: &Path, path: &str) -> Target {
        let path = normal(&from.join(path));
        let place = Place::of(&path, &[self.0.to_path_buf()]);
        Target::new(path, place)
    }
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
    use countersign_core::Special;

    use super::*;

    #[test]
    fn a_path_is_judged_by_its_components() {
        let root = ClientRoot::new(Path::new("/home/me/proj/."));
        let found = |path: &str| root.find(path).map(|target| target.path.display().to_string());
        assert_eq!(found("src/../a.rs").unwrap(), "/home/me/proj/a.rs");
        assert_eq!(found("/home/me/proj/b").unwrap(), "/home/me/proj/b");
        assert_eq!(found(".").unwrap(), "/home/me/proj");
        for path in ["..", "../proj-evil/a", "a/../../x", "/etc/passwd", "/home/me/proj-evil/a"] {
            let Invalid(text) = found(path).unwrap_err();
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
        assert_eq!(special(".env"), Some(Special::Secret));
        assert_eq!(special("x/../.git/config"), Some(Special::Protected));
        assert_eq!(special("src/main.rs"), None);
    }
}
