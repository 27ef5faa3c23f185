//! Programs that were looked up before, kept for as long as nothing changes where they were looked for.
//!
//! A command names few programs, but each is looked for in every folder of `PATH`, and each folder above
//! that one may be a link or another's. All of these folders are watched, so that the answer for a name
//! costs one system call while nothing changes, and is never older than the last change.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::folder_watch::FolderWatch;
use super::program::FoundProgram;
use super::status_cache::StatusCache;

/// Beyond so many names all are forgotten.
const MOST_NAMES: usize = 1_000;

/// From this look on, answers are kept. To end a watch takes the kernel milliseconds, which a process
/// that judges one command, such as a hook, should not pay.
const KEEPS_FROM: usize = 100;

/// The programs of one environment.
#[derive(Default)]
pub(crate) struct ProgramCache {
    known: Mutex<KnownPrograms>,
}

#[derive(Default)]
struct KnownPrograms {
    looks: usize,
    /// None before anything is kept.
    watch: Option<FolderWatch>,
    /// By the workspace's roots and the program's name.
    found: HashMap<(Arc<[PathBuf]>, String), FoundProgram>,
}

impl ProgramCache {
    /// Returns what stands behind a name: what is known of it, or else what a look says.
    pub(super) fn find(
        &self,
        roots: &Arc<[PathBuf]>,
        name: &str,
        look: impl Fn(&StatusCache) -> FoundProgram,
    ) -> FoundProgram {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.forget_what_changed();
        let key = (Arc::clone(roots), name.to_owned());
        if let Some(found) = known.found.get(&key) {
            return found.clone();
        }
        let first = StatusCache::default();
        let found = look(&first);
        known.looks = known.looks.saturating_add(1);
        if known.looks < KEEPS_FROM || known.watch_paths_of(&first).is_err() {
            return found;
        }
        // What changed before it was watched is seen by a second look.
        let second = StatusCache::default();
        let seen = look(&second);
        if seen == found && second.has_same_paths(&first) {
            known.found.insert(key, seen.clone());
        }
        seen
    }
}

impl KnownPrograms {
    fn forget_what_changed(&mut self) {
        let has_changed = self.watch.as_mut().is_some_and(FolderWatch::take_changes);
        if has_changed || self.found.len() >= MOST_NAMES {
            self.found.clear();
        }
    }

    fn watch_paths_of(&mut self, looked_at: &StatusCache) -> io::Result<()> {
        let watch = match &mut self.watch {
            Some(watch) => watch,
            none => none.insert(FolderWatch::new()?),
        };
        looked_at.paths().iter().try_for_each(|path| watch.add_folders_above(path))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::super::LocalMachine;
    use super::*;
    use crate::files::workspace::Workspace;
    use crate::machine::Environment;
    use countersign_core::shell::Machine;

    #[test]
    fn a_name_is_looked_for_again_once_anything_changed() {
        let world = World::after_many_looks();
        assert!(world.is_missing("tool") && world.is_missing("tool"));
        world.write("first/tool");
        assert!(!world.is_missing("tool"), "a program that came to be is not missing");
        std::fs::remove_file(world.at("first/tool")).unwrap();
        assert!(world.is_missing("tool"));
        std::fs::create_dir(world.at("late")).unwrap();
        world.write("late/tool");
        assert!(!world.is_missing("tool"), "in a folder of `PATH` that was not there before");
    }

    #[test]
    fn a_folder_that_comes_to_be_the_workspaces_makes_names_unclear() {
        let world = World::after_many_looks();
        assert!(world.is_missing("tool") && world.is_missing("tool"));
        std::fs::rename(world.at("first"), world.at("workspace/first")).unwrap();
        symlink(world.at("workspace/first"), world.at("first")).unwrap();
        assert!(!world.is_missing("tool"));
    }

    #[test]
    fn what_is_kept_is_not_looked_for_again() {
        let world = World::after_many_looks();
        let roots = world.workspace.shared_roots();
        let look_up = |found: FoundProgram| {
            let looked = std::cell::Cell::new(0);
            let found = world.environment.programs().find(roots, "tool", |disk| {
                disk.kind(&world.at("first/tool"));
                looked.set(looked.get() + 1);
                found.clone()
            });
            (found, looked.get())
        };
        // Other tests change folders further up, and then it is looked for again.
        let is_kept = (0..1_000).any(|_| {
            look_up(FoundProgram::Nowhere);
            look_up(FoundProgram::Unclear) == (FoundProgram::Nowhere, 0)
        });
        assert!(is_kept);
        world.write("first/other");
        assert_eq!(look_up(FoundProgram::Unclear), (FoundProgram::Unclear, 2));
    }

    struct World {
        folder: tempfile::TempDir,
        workspace: Workspace,
        environment: Environment,
    }

    impl World {
        fn after_many_looks() -> Self {
            let world = Self::new();
            for number in 0..KEEPS_FROM {
                world.is_missing(&format!("tool-{number}"));
            }
            world
        }

        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for name in ["first", "workspace"] {
                std::fs::create_dir(folder.path().join(name)).unwrap();
            }
            let at = |name: &str| folder.path().join(name).display().to_string();
            let path = format!("{}:{}", at("first"), at("late"));
            let environment = Environment::from(vec![("PATH".to_owned(), path)]);
            let workspace = Workspace::new([folder.path().join("workspace")]).unwrap();
            Self { folder, workspace, environment }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: impl AsRef<Path>) {
            std::fs::write(self.folder.path().join(name), "").unwrap();
        }

        fn is_missing(&self, name: &str) -> bool {
            LocalMachine::new(&self.workspace, &self.environment).is_missing(name)
        }
    }
}
