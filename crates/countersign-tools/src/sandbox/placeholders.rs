//! Stand-ins: what steers later runs cannot be made while it is missing, nor be there afterwards.
//!
//! A mount can only cover what is there. So the names that other programs act on at once are made as
//! empty folders (which git does not see), covered, and taken away again; any other such name that a
//! command has made, at whatever depth, is put aside once all its processes are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::{PathClass, SensitiveKind};
use rustix::fs::{FlockOperation, flock};

use super::guarded_paths::{GuardedPath, GuardedTree};

/// What a stand-in is known by: an empty folder, kept as nobody keeps one.
const STICKY: u32 = 0o1000;

/// What editors, agents and git act on as soon as it is there.
const WATCHED: &[&str] = &[
    ".claude",
    ".codex",
    ".cursor",
    ".devcontainer",
    ".git",
    ".husky",
    ".idea",
    ".mcp.json",
    ".vscode",
];

/// What makes git run something, and must not come to be in its folder.
const IN_GIT: &[&str] = &[".git/commondir", ".git/config.worktree", ".git/hooks", ".git/info"];

/// The roots in which stand-ins may be.
#[derive(Debug)]
pub(super) struct PlaceholderRoots {
    roots: Mutex<BTreeSet<PathBuf>>,
    /// Where they are written down, for who comes after a crash.
    journal: PathBuf,
}

impl PlaceholderRoots {
    /// Returns that there are none. Nothing is touched yet.
    pub(super) fn new(journal: PathBuf) -> Self {
        Self { roots: Mutex::default(), journal }
    }

    /// Takes away what was left by somebody who is no more.
    pub(super) fn clear(&self) {
        let left = fs::read_to_string(&self.journal).unwrap_or_default();
        for root in left.lines().map(Path::new) {
            if let Ok(lock) = File::open(root) {
                take_away(root, &lock);
            }
        }
        let _ = fs::remove_file(&self.journal);
    }

    fn note(&self, root: &Path) {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if !roots.insert(root.to_owned()) {
            return;
        }
        let paths: String = roots.iter().map(|path| format!("{}\n", path.display())).collect();
        if let Err(error) = fs::write(&self.journal, paths) {
            tracing::warn!(%error, "where folders stand in could not be written down");
        }
    }
}

/// What a file is, whatever its name: its file system and its number there.
type FileIdentity = (u64, u64);

/// The stand-ins of one child, and what was there before it.
#[derive(Debug)]
pub(super) struct RootPlaceholders {
    root: PathBuf,
    /// Held as long as the child needs them. Other servers may have children in the same root.
    lock: Option<File>,
    made: Vec<PathBuf>,
    /// The names that steer something and were there already.
    known: BTreeSet<PathBuf>,
    /// Which of them could be replaced, and by what they are known.
    replaceable: BTreeMap<PathBuf, FileIdentity>,
    /// Whether all of the root was looked at, so that what is found later below its top is new.
    is_whole: bool,
    /// Whether git alone runs, which makes its own folders.
    only_git: bool,
    /// What may be made.
    granted: Vec<PathBuf>,
}

impl RootPlaceholders {
    /// Makes the stand-ins of a root. What a person said may be written needs none.
    pub(super) fn make(shared: &Arc<PlaceholderRoots>, root: &Path, granted: &[PathBuf]) -> Self {
        shared.note(root);
        // Waits at most for somebody who is taking them away.
        let lock = File::open(root).ok();
        let lock = lock.filter(|lock| flock(lock, FlockOperation::LockShared).is_ok());
        let is_granted = |path: &Path| granted.iter().any(|it| it.starts_with(path));
        let missing = WATCHED.iter().map(|name| root.join(name)).filter(|it| !is_granted(it));
        let made = missing.filter(|path| {
            // There already is either somebody's own, or a stand-in that another child needs too.
            let _ = DirBuilder::new().mode(STICKY | 0o755).create(path);
            is_stand_in(path)
        });
        let made = made.collect();
        let known = steering_at_top(root).into_iter().collect();
        Self {
            root: root.to_owned(),
            lock,
            made,
            known,
            replaceable: BTreeMap::new(),
            is_whole: false,
            only_git: false,
            granted: granted.to_vec(),
        }
    }

    /// Notes what is there before the child, also below the top, and the folders that it could move.
    pub(super) fn remember(&mut self, tree: &GuardedTree, movable: &[PathBuf], only_git: bool) {
        (self.is_whole, self.only_git) = (tree.is_whole, only_git);
        for path in tree.found.iter().filter(|it| is_steering(it)).map(|it| &it.path) {
            self.known.insert(path.clone());
            if movable.iter().any(|folder| path.starts_with(folder)) {
                self.replaceable.extend(identity(path).map(|it| (path.clone(), it)));
            }
        }
    }

    /// Returns where they are.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folders that stand in.
    pub(super) fn made(&self) -> &[PathBuf] {
        &self.made
    }

    /// Puts aside what steers something and was made meanwhile; returns its names, old and new.
    ///
    /// To be called when no process of the child is left.
    pub(super) fn put_aside(&self) -> Vec<(PathBuf, PathBuf)> {
        let may_be = |path: &PathBuf| {
            self.granted.iter().any(|it| path.starts_with(it) || it.starts_with(path))
        };
        let is_other = |path: &PathBuf| {
            self.replaceable.get(path).is_some_and(|it| identity(path) != Some(*it))
        };
        let is_new = |path: &PathBuf| {
            (!self.known.contains(path) || is_other(path)) && !may_be(path) && !is_stand_in(path)
        };
        self.find_steering_files()
            .into_iter()
            .filter(is_new)
            .filter_map(|path| aside(&path))
            .collect()
    }

    /// Returns what is there now that steers what runs later.
    fn find_steering_files(&self) -> BTreeSet<PathBuf> {
        let mut found: BTreeSet<_> = steering_at_top(&self.root).into_iter().collect();
        // Where not everything was known before, nothing says what is new.
        if self.is_whole {
            let is_gits = |path: &Path| {
                let is_below = path.parent() != Some(self.root.as_path());
                self.only_git && is_below && path.file_name().is_some_and(|it| it == ".git")
            };
            let deep = GuardedTree::find_after(&self.root).found.into_iter();
            let deep = deep.filter(is_steering).map(|it| it.path);
            found.extend(deep.filter(|path| !is_gits(path)));
        }
        found
    }
}

impl Drop for RootPlaceholders {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            take_away(&self.root, lock);
        }
    }
}

/// Takes the stand-ins of a root away, unless a child still needs them: then that one does.
fn take_away(root: &Path, lock: &File) {
    if flock(lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    for path in WATCHED.iter().map(|name| root.join(name)).filter(|path| is_stand_in(path)) {
        // Whoever has put something there meanwhile, from outside, keeps it.
        let _ = fs::remove_dir(path);
    }
}

fn is_stand_in(path: &Path) -> bool {
    let is_marked = |it: fs::Metadata| it.is_dir() && it.permissions().mode() & STICKY != 0;
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    path.symlink_metadata().is_ok_and(is_marked) && is_empty()
}

fn is_steering(guarded: &GuardedPath) -> bool {
    guarded.special == SensitiveKind::Protected
}

fn identity(path: &Path) -> Option<FileIdentity> {
    path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// Returns what is there now, directly in a root, that steers what runs later.
fn steering_at_top(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let roots = [root.to_owned()];
    let steers = |path: &PathBuf| {
        PathClass::from_path(path, &roots).special == Some(SensitiveKind::Protected)
    };
    let found = entries.map(|entry| entry.path()).filter(steers);
    let in_git = IN_GIT.iter().map(|name| root.join(name));
    found.chain(in_git.filter(|path| path.symlink_metadata().is_ok())).collect()
}

fn aside(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let free = (0_u32..).map(|number| match number {
        0 => path.with_file_name(format!("put-aside.{name}")),
        more => path.with_file_name(format!("put-aside-{more}.{name}")),
    });
    let to = free.take(1000).find(|to| to.symlink_metadata().is_err())?;
    fs::rename(path, &to).ok()?;
    Some((path.to_owned(), to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_watched_name_steers_something() {
        let root = PathBuf::from("/ws");
        for name in WATCHED.iter().chain(IN_GIT) {
            let place = PathClass::from_path(&root.join(name), std::slice::from_ref(&root));
            assert_eq!(place.special, Some(SensitiveKind::Protected), "{name}");
        }
    }

    fn names(root: &Path) -> Vec<std::ffi::OsString> {
        fs::read_dir(root).unwrap().map(|it| it.unwrap().file_name()).collect()
    }

    #[test]
    fn stand_ins_go_with_the_last_child_that_needs_them_whoever_started_it() {
        let folder = tempfile::tempdir().unwrap();
        let (root, journals) = (folder.path(), tempfile::tempdir().unwrap());
        fs::create_dir(root.join(".git")).unwrap();
        // Two servers that know nothing of each other.
        let server = |name: &str| Arc::new(PlaceholderRoots::new(journals.path().join(name)));
        let first = RootPlaceholders::make(&server("one"), root, &[]);
        let second =
            RootPlaceholders::make(&server("two"), root, &[root.join(".claude/settings.json")]);
        assert!(!first.made().contains(&root.join(".git")), "it is there already");
        assert!(first.made().contains(&root.join(".claude")));
        assert!(!second.made().contains(&root.join(".claude")), "it was granted");
        assert_eq!(second.put_aside(), [], "another's stand-ins are no child's work");
        drop(first);
        assert!(root.join(".vscode").is_dir(), "the other still needs it");
        drop(second);
        assert_eq!(names(root), [".git"]);
    }

    #[test]
    fn what_a_crash_leaves_is_taken_away_by_who_comes_next() {
        let folder = tempfile::tempdir().unwrap();
        let (root, journals) = (folder.path(), tempfile::tempdir().unwrap());
        let shared = Arc::new(PlaceholderRoots::new(journals.path().join("journal")));
        let mut crashed = RootPlaceholders::make(&shared, root, &[]);
        // The kernel takes the lock back; nobody takes the folders away.
        crashed.lock = None;
        drop(crashed);
        fs::remove_dir(root.join(".vscode")).unwrap();
        fs::create_dir(root.join(".vscode")).unwrap();
        PlaceholderRoots::new(journals.path().join("journal")).clear();
        assert_eq!(names(root), [".vscode"], "a person's own empty folder stays");
    }

    #[test]
    fn what_was_made_meanwhile_and_steers_something_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join("lefthook.yml"), "").unwrap();
        let stand_ins = {
            let shared = Arc::new(PlaceholderRoots::new(folder.path().with_extension("journal")));
            RootPlaceholders::make(&shared, root, &[root.join(".gitmodules")])
        };
        for name in [".git/commondir", "rust-toolchain.toml", ".gitmodules", "plain.txt"] {
            fs::write(root.join(name), "x").unwrap();
        }
        let mut moved = stand_ins.put_aside();
        moved.sort();
        let expected = [
            (root.join(".git/commondir"), root.join(".git/put-aside.commondir")),
            (root.join("rust-toolchain.toml"), root.join("put-aside.rust-toolchain.toml")),
        ];
        assert_eq!(moved, expected);
        drop(stand_ins);
        assert!(root.join("lefthook.yml").exists() && root.join("plain.txt").exists());
    }

    /// Puts aside what `change` makes of a workspace with a known `pkg/.vscode`; returns the new names.
    fn put_aside_after(
        only_git: bool,
        movable: &[&str],
        change: impl FnOnce(&Path),
    ) -> Vec<PathBuf> {
        let (folder, journal) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = folder.path();
        fs::create_dir_all(root.join("pkg/.vscode")).unwrap();
        let shared = Arc::new(PlaceholderRoots::new(journal.path().join("journal")));
        let mut stand_ins = RootPlaceholders::make(&shared, root, &[root.join("named")]);
        let movable: Vec<_> = movable.iter().map(|it| root.join(it)).collect();
        stand_ins.remember(&GuardedTree::find(root), &movable, only_git);
        change(root);
        let moved = stand_ins.put_aside();
        moved.into_iter().map(|(_, to)| to.strip_prefix(root).unwrap().to_owned()).collect()
    }

    #[test]
    fn what_steers_something_is_put_aside_at_any_depth() {
        let make = |root: &Path| {
            for path in ["a/b/.github/workflows", "named/.vscode", "node_modules/p/.vscode"] {
                fs::create_dir_all(root.join(path)).unwrap();
            }
            std::os::unix::fs::symlink("x", root.join("a/.mcp.json")).unwrap();
        };
        let moved = ["a/put-aside..mcp.json", "a/b/.github/put-aside.workflows"];
        assert_eq!(put_aside_after(false, &[], make), moved.map(PathBuf::from));
    }

    #[test]
    fn git_alone_makes_its_own_folders() {
        let make = |root: &Path| fs::create_dir_all(root.join("sub/.git")).unwrap();
        assert_eq!(put_aside_after(true, &[], make), [] as [PathBuf; 0]);
        assert_eq!(put_aside_after(false, &[], make), [PathBuf::from("sub/put-aside..git")]);
    }

    #[test]
    fn what_took_the_place_of_something_that_could_be_moved_is_put_aside() {
        let replace = |root: &Path| {
            fs::rename(root.join("pkg"), root.join("away")).unwrap();
            fs::create_dir_all(root.join("pkg/.vscode")).unwrap();
        };
        let moved = ["away/put-aside..vscode", "pkg/put-aside..vscode"];
        assert_eq!(put_aside_after(false, &["pkg"], replace), moved.map(PathBuf::from));
    }
}
