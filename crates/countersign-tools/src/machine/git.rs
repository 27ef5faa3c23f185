//! The audit of a repository: whether git's reading commands run anything but git in it, and show
//! anything but its files.
//!
//! A repository's own config can name programs that `git status` or `git diff` start. So the config is
//! held against a list of keys that are known to name none; whatever is not on it, or cannot be read,
//! is a hazard. So is a repository that git might not take, or whose own files lead elsewhere. The
//! user's own config outside the repository is theirs, and not audited.

mod config;
mod discovery;
mod index;
mod internals;
mod plain_file;
mod reader;

use std::path::{Path, PathBuf};

use countersign_core::{EffectTarget, SecretNames};

use crate::files::workspace::Workspace;
use config::{ConfigFindings, inspect_config};
use discovery::{RepositoryDiscovery, RepositoryPaths, discover, discover_at, line_of};
pub(crate) use index::TrackedFiles;
pub(crate) use reader::harden;
pub use reader::{reader_environment, with_reader_arguments};

/// Submodules in submodules, and all of them together.
const MAX_DEPTH: usize = 4;
const MAX_REPOSITORIES: usize = 100;
/// Entries of folders that one audit looks at.
pub(crate) const MAX_ENTRIES: usize = 10_000;
/// The size of a config.
const MAX_CONFIG: u64 = 1024 * 1024;

/// Returns whether a variable makes git start a program, or read settings from elsewhere.
pub(crate) fn is_hazard(name: &str, value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
    match name {
        "PAGER" | "GIT_PAGER" | "LESS" => !value.chars().all(plain),
        "GIT_OPTIONAL_LOCKS" | "GIT_TERMINAL_PROMPT" | "GIT_EDITOR" => false,
        _ => {
            name.starts_with("GIT_")
                && !name.starts_with("GIT_AUTHOR_")
                && !name.starts_with("GIT_COMMITTER_")
        }
    }
}

/// What an audit of the repository of a folder found.
#[derive(Debug)]
pub(crate) struct RepositoryAudit {
    /// Why git's reading commands are not harmless there.
    pub(crate) hazards: Vec<String>,
    /// The topmost folder of its files.
    pub(crate) tree: PathBuf,
    /// Whether there is a repository at all.
    pub(crate) exists: bool,
    /// What git tracks.
    pub(crate) tracked: TrackedFiles,
}

impl RepositoryAudit {
    /// Returns the secrets that git tracks: whatever prints contents may print theirs.
    pub(crate) fn tracked_secrets(&self, workspace: &Workspace) -> Vec<EffectTarget> {
        let mut found = Vec::new();
        let mut folder: Option<(&Path, SecretNames)> = None;
        for path in self.tracked.paths() {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let names = match &folder {
                Some((known, names)) if *known == parent => names,
                _ => {
                    let names = workspace.secret_names(&self.tree.join(parent));
                    &folder.insert((parent, names)).1
                }
            };
            if names.hold(name) {
                let path = self.tree.join(path);
                let place = workspace.place(&path);
                found.push(EffectTarget::new(path, place));
            }
        }
        found
    }

    /// Returns where the tracked folders lead that are links now; none if there are too many.
    ///
    /// `git grep` reads the files of such a folder wherever they are.
    pub(crate) fn tracked_links(&self, workspace: &Workspace) -> Option<Vec<EffectTarget>> {
        let folders = self.tracked.folders(MAX_ENTRIES)?;
        let links = folders.into_iter().filter(|folder| self.tree.join(folder).is_symlink());
        links.map(|link| workspace.resolve(&self.tree, link.to_str()?).ok()).collect()
    }
}

/// Audits the repository that git would use in a folder; none if it cannot be told.
///
/// A folder outside every repository has no hazards: git says so and ends, unless it compares paths.
pub(crate) fn audit_repository(cwd: &Path, roots: &[PathBuf]) -> Option<RepositoryAudit> {
    let mut audit = RepositoryAuditor {
        roots,
        found: Vec::new(),
        repositories: MAX_REPOSITORIES,
        entries: MAX_ENTRIES,
    };
    let without = |hazards: Vec<String>| RepositoryAudit {
        hazards,
        tree: cwd.to_owned(),
        exists: false,
        tracked: TrackedFiles::default(),
    };
    match discover(cwd) {
        RepositoryDiscovery::Repository(paths) => {
            let tracked = audit.inspect(&paths, 0)?;
            let (hazards, tree) = (audit.found, paths.tree);
            Some(RepositoryAudit { hazards, tree, exists: true, tracked })
        }
        RepositoryDiscovery::Nowhere => Some(without(Vec::new())),
        RepositoryDiscovery::Unclear(why) => Some(without(vec![why.to_owned()])),
    }
}

struct RepositoryAuditor<'a> {
    roots: &'a [PathBuf],
    found: Vec<String>,
    /// How many repositories may still be looked at.
    repositories: usize,
    /// How many entries of folders may still be looked at.
    entries: usize,
}

impl RepositoryAuditor<'_> {
    /// Looks at a repository and at those inside it, which git asks for their state too.
    fn inspect(&mut self, paths: &RepositoryPaths, depth: usize) -> Option<TrackedFiles> {
        self.repositories = self.repositories.checked_sub(1)?;
        let RepositoryPaths { git, common, tree } = paths;
        let config = self.inspect_configs(paths)?;
        let is_here = config.worktree.as_ref().map(|to| leads_to(&git.join(to), tree));
        if is_here == Some(false) {
            self.found.push("the repository's config says that its files are elsewhere".to_owned());
        }
        let file = tree.join(".git");
        let points_back = is_here == Some(true) || points_back(git, &file);
        if file.is_file() && !points_back && !self.is_inside(git) {
            self.found.push("`.git` points to a repository that does not point back".to_owned());
        }
        if self.is_inside(git) && !self.is_inside(common) {
            self.found.push("the repository shares another one outside the workspace".to_owned());
        }
        // The one hook that reading commands run, when they bring the index up to date.
        if common.join("hooks/post-index-change").symlink_metadata().is_ok() {
            self.found.push("a hook runs when the index changes".to_owned());
        }
        if tree.join(".gitmodules").is_symlink() {
            self.found.push("`.gitmodules` is a link".to_owned());
        }
        self.found.extend(internals::find_links(git, &mut self.entries)?);
        if git != common {
            self.found.extend(internals::find_links(common, &mut self.entries)?);
        }
        let tracked = index::read_index(&git.join("index"), config.wide_names)?;
        self.inspect_submodules(&tracked, tree, depth)?;
        Some(tracked)
    }

    fn inspect_configs(&mut self, paths: &RepositoryPaths) -> Option<ConfigFindings> {
        let mut all = ConfigFindings::default();
        for file in [paths.common.join("config"), paths.git.join("config.worktree")] {
            let Some(bytes) = plain_file::read_plain_file(&file, MAX_CONFIG)? else { continue };
            let found = inspect_config(&bytes);
            self.found.extend(found.hazards);
            all.worktree = found.worktree.or(all.worktree);
            all.wide_names |= found.wide_names;
        }
        Some(all)
    }

    fn inspect_submodules(
        &mut self,
        tracked: &TrackedFiles,
        tree: &Path,
        depth: usize,
    ) -> Option<()> {
        for folder in tracked.repositories() {
            if depth >= MAX_DEPTH {
                return None;
            }
            match discover_at(&tree.join(folder)) {
                RepositoryDiscovery::Repository(paths) => drop(self.inspect(&paths, depth + 1)?),
                RepositoryDiscovery::Nowhere => {}
                RepositoryDiscovery::Unclear(why) => {
                    self.found.push(format!("in a submodule, {why}"));
                }
            }
        }
        Some(())
    }

    fn is_inside(&self, git: &Path) -> bool {
        git.canonicalize().is_ok_and(|git| self.roots.iter().any(|root| git.starts_with(root)))
    }
}

/// Whether a worktree's folder in its repository names the `.git` file that names it.
fn points_back(git: &Path, file: &Path) -> bool {
    line_of(&git.join("gitdir")).is_some_and(|back| leads_to(&git.join(back), file))
}

fn leads_to(path: &Path, to: &Path) -> bool {
    let path = path.canonicalize().ok();
    path.is_some() && path == to.canonicalize().ok()
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
