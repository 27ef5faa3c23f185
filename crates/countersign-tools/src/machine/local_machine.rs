//! What the reading of command lines must know of this machine: where paths lead, what names run.

#[cfg(test)]
mod corpus;
mod expansion;
mod folder_watch;
mod pattern;
mod program;
mod program_cache;
#[cfg(test)]
mod reached;
mod status_cache;
mod tree_kind;
mod trees;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use countersign_core::shell::{self, FileTree, Machine, SearchScope, TreeEntry, TreeKind};
use countersign_core::{EffectTarget, SensitiveKind, WorkspaceSide};

use self::program::{FoundProgram, ResolvedProgram, SearchPath};
pub(super) use self::program_cache::ProgramCache;
use self::status_cache::StatusCache;
use self::trees::TreeCache;
use crate::files::workspace::Workspace;
use crate::machine::Environment;
use crate::machine::git::{self, RepositoryAudit};

/// This machine as a command of one workspace would find it.
pub(crate) struct LocalMachine<'a> {
    workspace: &'a Workspace,
    environment: &'a Environment,
    /// Which names were looked up already: the same one is asked for several times per command.
    programs: Mutex<HashMap<String, FoundProgram>>,
    /// Whether the environment steers whatever runs.
    steered: OnceLock<bool>,
    /// Where paths lead that were asked for already.
    led: Mutex<HashMap<(PathBuf, String), Option<EffectTarget>>>,
    /// The paths that were looked at.
    disk: StatusCache,
    /// The folders that were looked through.
    trees: TreeCache,
    /// Which folders' repositories were audited already.
    repositories: Mutex<HashMap<PathBuf, Option<Arc<RepositoryAudit>>>>,
}

impl Machine for LocalMachine<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let key = (cwd.to_owned(), path.to_owned());
        if let Some(known) = lock(&self.led).get(&key) {
            return known.clone();
        }
        let found = self.resolve(cwd, path);
        lock(&self.led).insert(key, found.clone());
        found
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<EffectTarget>> {
        let start = if pattern.starts_with('/') { Path::new("/") } else { cwd };
        let mut found = vec![start.to_owned()];
        let mut walk = self.trees.walk();
        for name in pattern.split('/').filter(|name| !name.is_empty() && *name != ".") {
            found = pattern::step(&found, name, &mut walk)?;
        }
        found.iter().map(|path| self.target(cwd, path.to_str()?)).collect()
    }

    fn expand_pattern(&self, cwd: &Path, pattern: &str) -> Option<Vec<String>> {
        let mut walk = self.trees.walk();
        expansion::expand(cwd, pattern, &mut || walk.take())
    }

    fn secrets_below(&self, folder: &Path) -> Option<Vec<EffectTarget>> {
        let tree = self.tree(folder)?;
        let place = self.workspace.place(folder);
        let itself = (tree.kind == TreeKind::File && place.special == Some(SensitiveKind::Secret))
            .then(|| EffectTarget::new(folder, place));
        // Nothing here went through a link, and whoever walks a tree follows none in it.
        let secrets = tree.entries.iter().filter(|entry| entry.is_secret());
        let below = secrets.map(|it| EffectTarget::new(it.path.clone(), it.place));
        Some(itself.into_iter().chain(below).collect())
    }

    fn links_below(&self, folder: &Path) -> Option<Vec<EffectTarget>> {
        let tree = self.tree(folder)?;
        let links = tree.entries.iter().filter(|entry| entry.kind == TreeKind::Link);
        links
            .map(
                |link| {
                    if link.path.is_dir() { None } else { self.target(folder, link.path.to_str()?) }
                },
            )
            .collect()
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let trimmed = path.trim_end_matches('/');
        let (folder, name) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
        if path.ends_with('/') || matches!(name, "" | "." | "..") {
            return self.target(cwd, path);
        }
        let folder = if trimmed.starts_with('/') && folder.is_empty() { "/" } else { folder };
        let lies = self.target(cwd, folder)?.path.join(name);
        let place = self.workspace.place(&lies);
        Some(EffectTarget::new(lies, place))
    }

    fn kind(&self, path: &Path) -> Option<TreeKind> {
        self.disk.kind(path)
    }

    fn tree(&self, path: &Path) -> Option<Arc<FileTree>> {
        self.trees.below(path, self.workspace)
    }

    fn arrivals(&self, from: &Path, to: &Path) -> Option<Vec<EffectTarget>> {
        let tree = self.tree(from)?;
        let is_new = self.disk.kind(to)? == TreeKind::Missing;
        let mut walk = self.trees.walk();
        let arrival = |entry: &TreeEntry| {
            walk.take()?;
            let path = to.join(entry.path.strip_prefix(from).ok()?);
            if is_new {
                let place = self.workspace.place(&path);
                return Some(EffectTarget::new(path, place));
            }
            self.workspace.resolve(Path::new("/"), path.to_str()?).ok()
        };
        tree.entries.iter().map(arrival).collect()
    }

    fn searched_secrets(
        &self,
        cwd: &Path,
        folder: &Path,
        search: &SearchScope,
    ) -> Option<Vec<EffectTarget>> {
        self.trees.searched(cwd, folder, search, self.workspace)
    }

    fn has_file_above(&self, cwd: &Path, names: &[&str]) -> Option<bool> {
        let roots = self.workspace.roots();
        let within = |folder: &&Path| roots.iter().any(|root| folder.starts_with(root));
        for folder in cwd.ancestors().take_while(within) {
            for name in names {
                if self.disk.kind(&folder.join(name))? != TreeKind::Missing {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        match self.program(name)? {
            ResolvedProgram::Itself(file) => Some(file),
            ResolvedProgram::StandIn { .. } => None,
        }
    }

    fn trusted_program_in(&self, cwd: &Path, name: &str) -> Option<PathBuf> {
        match self.program(name)? {
            ResolvedProgram::Itself(file) => Some(file),
            ResolvedProgram::StandIn { file, steered_by } => {
                (self.has_file_above(cwd, steered_by) == Some(false)).then_some(file)
            }
        }
    }

    fn is_missing(&self, name: &str) -> bool {
        let plain = !name.is_empty() && !name.contains('/');
        plain && self.find_program(name) == FoundProgram::Nowhere && !self.is_steered()
    }

    fn git_hazards(&self, cwd: &Path) -> Option<Vec<String>> {
        let mut found = self.repository(cwd)?.hazards.clone();
        found.extend(self.environment.names().filter_map(|name| {
            let value = self.environment.get(name).unwrap_or_default();
            git::is_hazard(name, value)
                .then(|| format!("`{name}` in the environment may name a program"))
        }));
        Some(found)
    }

    fn git_top(&self, cwd: &Path) -> Option<PathBuf> {
        let audit = self.repository(cwd)?;
        audit.exists.then(|| audit.tree.clone())
    }

    fn git_tracked_secrets(&self, cwd: &Path) -> Option<Vec<EffectTarget>> {
        let audit = self.repository(cwd)?;
        Some(audit.tracked_secrets(self.workspace))
    }

    fn git_tracked_links(&self, cwd: &Path) -> Option<Vec<EffectTarget>> {
        self.repository(cwd)?.tracked_links(self.workspace)
    }
}

impl<'a> LocalMachine<'a> {
    /// Returns the machine as a command finds it now.
    pub(crate) fn new(workspace: &'a Workspace, environment: &'a Environment) -> Self {
        Self {
            workspace,
            environment,
            programs: Mutex::default(),
            steered: OnceLock::new(),
            led: Mutex::default(),
            disk: StatusCache::default(),
            trees: TreeCache::default(),
            repositories: Mutex::default(),
        }
    }

    /// Reads what a command would do here, part by part.
    pub(crate) fn analyse_command(
        &self,
        command: &str,
        cwd: &Path,
        call_env: &[(String, String)],
    ) -> shell::CommandAnalysis {
        let context = shell::ShellContext {
            cwd,
            home: self.environment.get("HOME").map(Path::new),
            env: call_env,
            own: self.workspace.off_limits(),
            machine: self,
        };
        let mut analysis = shell::analyse(command, &context);
        if self.environment.get("CDPATH").is_some() {
            // Then `cd src` may lead elsewhere, and only a quoted form says where.
            analysis.canonical =
                analysis.canonical.map(shell::CanonicalCommandLine::with_quoted_words);
        }
        analysis
    }

    fn repository(&self, cwd: &Path) -> Option<Arc<RepositoryAudit>> {
        let mut audited = lock(&self.repositories);
        if let Some(found) = audited.get(cwd) {
            return found.clone();
        }
        let found = git::audit_repository(cwd, self.workspace.roots()).map(Arc::new);
        audited.insert(cwd.to_owned(), found.clone());
        found
    }

    fn resolve(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        self.trees.take_one()?;
        let read_link = |path: &Path| self.disk.read_link(path);
        let target = self.workspace.resolve_with(cwd, path, read_link).ok()?;
        // A pipe or a device among the project's files: to read it may never end.
        let inside = target.place.side == WorkspaceSide::Inside;
        let odd = inside && self.disk.kind(&target.path) == Some(TreeKind::Other);
        (!odd).then_some(target)
    }

    fn program(&self, name: &str) -> Option<ResolvedProgram> {
        let FoundProgram::Trusted(found) = self.find_program(name) else { return None };
        let steered = self.is_steered() || program::is_told(name, &found, self.environment);
        (!steered).then_some(found)
    }

    fn find_program(&self, name: &str) -> FoundProgram {
        let mut programs = lock(&self.programs);
        if let Some(found) = programs.get(name) {
            return found.clone();
        }
        let look_up = |disk: &StatusCache| match SearchPath::from_environment(self.environment) {
            Some(path) => path.look_up(name, self.workspace, disk),
            None => FoundProgram::Unclear,
        };
        let cache = self.environment.programs();
        let found = cache.find(self.workspace.shared_roots(), name, look_up);
        programs.insert(name.to_owned(), found.clone());
        found
    }

    fn is_steered(&self) -> bool {
        *self.steered.get_or_init(|| program::is_steered(self.environment, self.workspace))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_trusted_only_where_the_system_keeps_its_own() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ls"), "").unwrap();
        let trusted = |path: &str| {
            let workspace = Workspace::new([folder.path().to_owned()]).unwrap();
            let environment = Environment::from(vec![("PATH".into(), path.into())]);
            let here = LocalMachine::new(&workspace, &environment);
            here.trusted_program("ls").is_some()
        };
        assert!(trusted("/usr/bin:/bin"));
        assert!(!trusted(&format!("{}:/usr/bin:/bin", folder.path().display())));
        assert!(!trusted(".:/usr/bin:/bin"));
        assert!(!trusted(""));
    }

    #[test]
    fn a_pattern_goes_through_links_as_in_the_shell() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let workspace = Workspace::new([root.clone()]).unwrap();
        let environment = Environment::default();
        let here = LocalMachine::new(&workspace, &environment);
        let found = here.matches(&root, "*/passwd").unwrap();
        assert_eq!(found[0].path, Path::new("/etc/passwd"));
        assert_eq!(found[0].place.side, WorkspaceSide::Outside);
    }

    #[test]
    fn a_name_that_nobody_has_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new([folder.path().to_owned()]).unwrap();
        let missing = |path: &str, name: &str| {
            let environment = Environment::from(vec![("PATH".into(), path.into())]);
            LocalMachine::new(&workspace, &environment).is_missing(name)
        };
        let inside = folder.path().display();
        assert!(missing("/usr/bin:/bin", "no-such-program"));
        assert!(!missing("/usr/bin:/bin", "ls"));
        assert!(!missing(".:/usr/bin", "no-such-program"));
        assert!(!missing(&format!("/usr/bin:{inside}/bin"), "no-such-program"));
        assert!(!missing("", "no-such-program"));
    }

    #[test]
    fn an_environment_that_loads_from_the_workspace_makes_nothing_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new([folder.path().to_owned()]).unwrap();
        let inside = folder.path().canonicalize().unwrap().join("x.so").display().to_string();
        let trusted = |name: &str, value: &str| {
            let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
            let environment = Environment::from(vec![path, (name.to_owned(), value.to_owned())]);
            LocalMachine::new(&workspace, &environment).trusted_program("ls").is_some()
        };
        assert!(trusted("LANG", "C") && trusted("LD_LIBRARY_PATH", "/usr/lib"));
        assert!(!trusted("LD_PRELOAD", &inside) && !trusted("BASH_ENV", "./x"));
        assert!(!trusted("BASH_FUNC_ls%%", "() { x; }"));
    }

    #[test]
    fn a_pipe_in_the_workspace_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("s")).unwrap();
        let workspace = Workspace::new([root.clone()]).unwrap();
        let environment = Environment::default();
        let here = LocalMachine::new(&workspace, &environment);
        assert!(here.target(&root, "s").is_none());
        assert!(here.target(&root, "missing").is_some());
        assert!(here.target(&root, "/dev/null").is_some());
    }

    #[test]
    fn patterns_and_secrets_are_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        for name in ["a.txt", "b.txt", "c.rs", "sub/.env", "sub/d.txt"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let workspace = Workspace::new([root.clone()]).unwrap();
        let environment = Environment::default();
        let here = LocalMachine::new(&workspace, &environment);
        let mut found: Vec<_> =
            here.matches(&root, "*.txt").unwrap().into_iter().map(|target| target.path).collect();
        found.sort();
        assert_eq!(found, [root.join("a.txt"), root.join("b.txt")]);
        let count = |pattern: &str| here.matches(&root, pattern).unwrap().len();
        assert_eq!(count("sub/*"), 1, "hidden names are not matched");
        assert_eq!(count("sub/.e*"), 1);
        assert_eq!(count("./*.rs"), 1);
        assert_eq!(count("no/*"), 0);
        let secrets = here.secrets_below(&root).unwrap();
        assert_eq!(secrets.len(), 1);
        assert_eq!(secrets[0].path, root.join("sub/.env"));
    }
}
