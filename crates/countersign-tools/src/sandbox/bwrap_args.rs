//! The words bubblewrap is told: from a view to its mounts, in their order.

use std::path::{Path, PathBuf};

use countersign_core::SensitiveKind;

use super::guarded_paths::GuardedPath;
use super::overlay::OverlayMount;
use super::pinned_folders::PinnedFolders;
use super::view::{ChildView, ViewRoot};
use crate::machine::process::ResourceLimits;

/// Where the launcher and the way to the proxy are, inside.
pub(super) const LAUNCHER: &str = "/run/countersign/launcher";
pub(super) const PROXY: &str = "/run/countersign/proxy";

/// Folders that are empty, private and gone afterwards.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp"];

/// What of `/run` programs need to be found, or to look up names; sockets of services lie beside it.
const OF_RUN: &[&str] = &["/run/current-system", "/run/opengl-driver"];

/// In git's own folder: what makes git run something.
const STEERS_GIT: &[&str] = &["hooks", "config", "config.worktree", "info", "modules"];

/// What bubblewrap is told, word by word.
pub(super) struct BwrapArgs<'a> {
    /// A file that nobody can read.
    pub(super) nothing: &'a Path,
    pub(super) launcher: &'a Path,
    pub(super) proxy: Option<&'a Path>,
    pub(super) limits: ResourceLimits,
    pub(super) cwd: &'a Path,
    /// What is guarded in each root, in the order of the roots.
    pub(super) guarded: &'a [GuardedRoot],
    /// Where the overlays of roots are.
    pub(super) overlays: &'a [OverlayMount],
    /// Files outside the roots that can be changed.
    pub(super) outside: &'a [PathBuf],
}

/// What is guarded in a root.
#[derive(Debug, Default)]
pub(super) struct GuardedRoot {
    pub(super) guarded: Vec<GuardedPath>,
    /// The folders above it.
    pub(super) pins: PinnedFolders,
}

/// What happens to a path in a root.
enum GuardAction {
    Pinned,
    Guarded(SensitiveKind),
}

impl BwrapArgs<'_> {
    /// Returns the words, up to the program.
    pub(super) fn to_args(&self, view: &ChildView) -> Vec<String> {
        let mut words = BwrapMounts::default();
        words.say(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]);
        words.say(&["--unshare-net", "--unshare-cgroup-try", "--cap-drop", "ALL"]);
        words.say(&["--new-session", "--die-with-parent", "--ro-bind", "/", "/"]);
        words.say(&["--dev", "/dev"]);
        words.private("/dev/shm", self.limits.temporary);
        // Without this the owner of the machine could change the kernel's settings through it.
        words.say(&["--remount-ro", "/dev", "--proc", "/proc", "--remount-ro", "/proc"]);
        for folder in PRIVATE.iter().filter(|folder| is_real_folder(Path::new(folder))) {
            words.private(folder, self.limits.temporary);
        }
        self.run(&mut words);
        // What lies in a folder that is empty inside is gone already; of the roots more is said below.
        let is_gone = |path: &Path| PRIVATE.iter().chain(&["/run"]).any(|it| path.starts_with(it));
        let in_root = |path: &Path| view.roots.iter().any(|root| path.starts_with(&root.path));
        for hidden in view.hidden().iter().filter(|it| !is_gone(it) && !in_root(it)) {
            words.hide(hidden, hidden, self.nothing);
        }
        let is_plain = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_file());
        let is_own = |path: &Path| view.own.iter().any(|own| path.starts_with(own));
        for seen in view.seen.iter().filter(|it| is_gone(it) && is_plain(it) && !is_own(it)) {
            words.bind("--ro-bind", seen, seen);
        }
        for root in &view.roots {
            let how = if root.is_fixed { "--ro-bind" } else { "--bind" };
            words.bind(how, self.place_of(root), &root.path);
        }
        for (root, guarded) in view.roots.iter().zip(self.guarded) {
            self.guard(&mut words, view, root, guarded);
        }
        for file in self.outside {
            words.bind("--bind", file, file);
        }
        words.say(&["--chdir", &self.cwd.to_string_lossy(), "--"]);
        words.0
    }

    fn run(&self, words: &mut BwrapMounts) {
        words.say(&["--size", "1048576", "--tmpfs", "/run"]);
        for folder in OF_RUN {
            words.say(&["--ro-bind-try", folder, folder]);
        }
        words.bind("--ro-bind", self.launcher, Path::new(LAUNCHER));
        if let Some(proxy) = self.proxy {
            words.bind("--bind", proxy, Path::new(PROXY));
        }
        words.say(&["--remount-ro", "/run"]);
    }

    /// Returns where a root is to be taken from.
    fn place_of<'r>(&'r self, root: &'r ViewRoot) -> &'r Path {
        let laid_over = self.overlays.iter().find(|it| it.lower == root.source);
        laid_over.filter(|_| root.changes.is_some()).map_or(&root.source, |layers| &layers.at)
    }

    /// What is guarded within a root, parents first.
    fn guard(
        &self,
        words: &mut BwrapMounts,
        view: &ChildView,
        root: &ViewRoot,
        guarded: &GuardedRoot,
    ) {
        let pinned = guarded.pins.folders.iter().map(|path| (path, GuardAction::Pinned));
        let found = guarded.guarded.iter().filter(|it| !it.is_link);
        let found = found.map(|it| (&it.path, GuardAction::Guarded(it.special)));
        let mut places: Vec<_> = pinned.chain(found).collect();
        places.sort_by(|a, b| a.0.cmp(b.0));
        places.dedup_by(|a, b| a.0 == b.0);
        for (found, guarding) in places {
            let below = found.strip_prefix(&root.source).unwrap_or(found);
            let spot = SteeringPath {
                from: &self.place_of(root).join(below),
                at: &root.path.join(below),
                found,
            };
            match guarding {
                GuardAction::Guarded(SensitiveKind::Secret)
                    if view.reads.iter().chain(&view.writes).any(|it| it == spot.at) => {}
                GuardAction::Guarded(SensitiveKind::Secret) => {
                    words.hide(found, spot.at, self.nothing);
                }
                _ if root.is_fixed => {}
                GuardAction::Pinned => words.bind("--bind", spot.from, spot.at),
                GuardAction::Guarded(_) => spot.protect(words, view),
            }
        }
        for own in view.own.iter().filter(|own| own.starts_with(&root.path)) {
            words.hide(own, own, self.nothing);
        }
    }
}

/// Something in a root that steers what runs later.
struct SteeringPath<'a> {
    /// Where it lies, to look at.
    found: &'a Path,
    /// Where bubblewrap takes it from.
    from: &'a Path,
    /// Where the child finds it.
    at: &'a Path,
}

impl SteeringPath<'_> {
    /// Makes it read-only but for what of it was granted.
    fn protect(&self, words: &mut BwrapMounts, view: &ChildView) {
        let granted: Vec<_> = view.writes.iter().filter(|it| it.starts_with(self.at)).collect();
        // What is yet to be made in it, or goes as a whole, takes all of it.
        if granted.iter().any(|it| *it == self.at || it.symlink_metadata().is_err()) {
            return;
        }
        let is_git = self.at.file_name().is_some_and(|name| name == ".git");
        if view.only_git && is_git && self.found.is_dir() {
            return self.protect_git(words);
        }
        words.bind("--ro-bind", self.from, self.at);
        for file in granted {
            let below = file.strip_prefix(self.at).unwrap_or(file);
            words.bind("--bind", &self.from.join(below), file);
        }
    }

    /// As a mount it stays where it is, and what makes git run something stays as it is.
    fn protect_git(&self, words: &mut BwrapMounts) {
        words.bind("--bind", self.from, self.at);
        let is_there = |name: &&&str| {
            let found = self.found.join(name).symlink_metadata();
            found.is_ok_and(|found| !found.is_symlink())
        };
        for name in STEERS_GIT.iter().filter(is_there) {
            words.bind("--ro-bind", &self.from.join(name), &self.at.join(name));
        }
    }
}

#[derive(Default)]
struct BwrapMounts(Vec<String>);

impl BwrapMounts {
    fn say(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|word| (*word).to_owned()));
    }

    fn private(&mut self, folder: &str, size: u64) {
        self.say(&["--perms", "1777", "--size", &size.to_string(), "--tmpfs", folder]);
    }

    fn bind(&mut self, how: &str, from: &Path, to: &Path) {
        // What is not text was refused before, or is not worth a name of that kind.
        if let (Some(from), Some(to)) = (from.to_str(), to.to_str()) {
            self.say(&[how, from, to]);
        }
    }

    fn hide(&mut self, path: &Path, at: &Path, nothing: &Path) {
        let Some(text) = at.to_str() else { return };
        let Ok(found) = path.symlink_metadata() else { return };
        if found.is_dir() {
            self.say(&["--perms", "0000", "--size", "4096", "--tmpfs", text, "--remount-ro", text]);
        } else {
            self.bind("--ro-bind", nothing, at);
        }
    }
}

fn is_real_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
