//! What the reading of command lines must know of this machine: where paths lead, what names run.

#[cfg(test)]
mod corpus;
mod pattern;

use std::collections::HashMap;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_core::shell::{self, Machine};
use countersign_core::{Side, Special, Target};
use ignore::WalkBuilder;

use crate::git::{self, RepositoryAudit};
use crate::process::Environment;
use crate::workspace::Workspace;

/// Folders whose programs are the system's own: nothing that runs as the user can change them.
const SYSTEM: &[&str] =
    &["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// How many entries are looked at for an answer; beyond that there is none.
const MOST: usize = 100_000;

/// Variables by which a program loads code, or reads settings that name some.
const STEERING: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LESSOPEN",
    "NODE_OPTIONS",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RIPGREP_CONFIG_PATH",
    "RUBYOPT",
    "SHELLOPTS",
    "BASHOPTS",
    "GREP_OPTIONS",
    "TAR_OPTIONS",
];

/// This machine as a command of one workspace would find it.
pub(crate) struct Here<'a> {
    workspace: &'a Workspace,
    environment: &'a Environment,
    /// Which names were looked up already: the same one is asked for several times per command.
    looked_up: Mutex<HashMap<String, Which>>,
    /// Which folders' repositories were audited already.
    repositories: Mutex<HashMap<PathBuf, Option<Arc<RepositoryAudit>>>>,
}

/// What `PATH` makes of a program's name.
#[derive(Clone)]
enum Which {
    /// No folder has it, and none of them is the workspace's.
    Nowhere,
    /// The first folder that has something of that name.
    In(PathBuf),
    /// It depends on where the command runs, or cannot be told.
    Unclear,
}

impl Machine for Here<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<Target> {
        let target = self.workspace.resolve(cwd, path).ok()?;
        // A pipe or a device among the project's files: to read it may never end.
        (target.place.side == Side::Outside || !is_odd(&target.path)).then_some(target)
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<Target>> {
        let start = if pattern.starts_with('/') { Path::new("/") } else { cwd };
        let mut found = vec![start.to_owned()];
        let mut left = MOST;
        for name in pattern.split('/').filter(|name| !name.is_empty() && *name != ".") {
            found = pattern::step(&found, name, &mut left)?;
        }
        found.iter().map(|path| self.target(cwd, path.to_str()?)).collect()
    }

    fn secrets_below(&self, folder: &Path) -> Option<Vec<Target>> {
        let mut found = Vec::new();
        for path in entries(folder)? {
            // A name that is not text can still be a secret's: no answer.
            path.to_str()?;
            // Nothing here went through a link, and whoever walks a tree follows none in it.
            let place = self.workspace.place(&path);
            if place.special == Some(Special::Secret) {
                found.push(Target::new(path, place));
            }
        }
        Some(found)
    }

    fn links_below(&self, folder: &Path) -> Option<Vec<Target>> {
        let links = entries(folder)?.into_iter().filter(|path| path.is_symlink());
        links
            .map(|path| if path.is_dir() { None } else { self.target(folder, path.to_str()?) })
            .collect()
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        let Which::In(folder) = self.which(name) else { return None };
        let program = folder.join(name);
        let real = program.is_file().then(|| program.canonicalize().ok())??;
        let system = SYSTEM.iter().any(|system| folder == Path::new(system));
        let inside = self.workspace.roots().iter().any(|root| real.starts_with(root));
        (system && !inside && !self.is_steered()).then_some(real)
    }

    fn is_missing(&self, name: &str) -> bool {
        let plain = !name.is_empty() && !name.contains('/');
        plain && matches!(self.which(name), Which::Nowhere) && !self.is_steered()
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
        Some(self.repository(cwd)?.tree.clone())
    }

    fn git_tracked_secrets(&self, cwd: &Path) -> Option<Vec<Target>> {
        let audit = self.repository(cwd)?;
        Some(audit.tracked_secrets(self.workspace))
    }

    fn git_tracked_links(&self, cwd: &Path) -> Option<Vec<Target>> {
        self.repository(cwd)?.tracked_links(self.workspace)
    }
}

impl<'a> Here<'a> {
    /// Returns the machine as a command finds it now.
    pub(crate) fn new(workspace: &'a Workspace, environment: &'a Environment) -> Self {
        Self { workspace, environment, looked_up: Mutex::default(), repositories: Mutex::default() }
    }

    /// Reads what a command would do here, part by part.
    pub(crate) fn understood(
        &self,
        command: &str,
        cwd: &Path,
        call_env: &[(String, String)],
    ) -> shell::Analysis {
        let context = shell::Context {
            cwd,
            home: self.environment.get("HOME").map(Path::new),
            env: call_env,
            own: self.workspace.off_limits(),
            machine: self,
        };
        shell::analyse(command, &context)
    }

    fn repository(&self, cwd: &Path) -> Option<Arc<RepositoryAudit>> {
        let mut audited = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = audited.get(cwd) {
            return found.clone();
        }
        let found = git::audit_repository(cwd, self.workspace.roots()).map(Arc::new);
        audited.insert(cwd.to_owned(), found.clone());
        found
    }

    fn which(&self, name: &str) -> Which {
        let mut looked_up = self.looked_up.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = looked_up.get(name) {
            return found.clone();
        }
        let found = self.look_up(name);
        looked_up.insert(name.to_owned(), found.clone());
        found
    }

    fn look_up(&self, name: &str) -> Which {
        let Some(path) = self.environment.get("PATH") else { return Which::Unclear };
        let folders = || path.split(':').map(Path::new);
        for folder in folders() {
            // A relative folder is whatever the command's folder makes of it.
            if !folder.is_absolute() {
                return Which::Unclear;
            }
            if folder.join(name).symlink_metadata().is_ok() {
                return Which::In(folder.to_owned());
            }
        }
        // What is not in a folder of the workspace now may be there when the command runs.
        let is_ours = |folder: &Path| {
            let real = folder.canonicalize();
            let real = real.as_deref().unwrap_or(folder);
            let roots = self.workspace.roots();
            roots.iter().any(|root| real.starts_with(root) || folder.starts_with(root))
        };
        if folders().any(is_ours) { Which::Unclear } else { Which::Nowhere }
    }

    /// Whether the environment makes programs load what may lie in the workspace.
    fn is_steered(&self) -> bool {
        let roots = self.workspace.roots();
        let leads_here = |value: &str| {
            value.split([':', ' ', '=']).any(|it| {
                let path = Path::new(it.trim_start_matches('|'));
                let named = it.contains('/') || it == ".";
                named && (path.is_relative() || roots.iter().any(|root| path.starts_with(root)))
            })
        };
        STEERING.iter().filter_map(|name| self.environment.get(name)).any(leads_here)
            || self.environment.names().any(|name| name.starts_with("BASH_FUNC_"))
    }
}

/// Whether a path is a pipe, a socket or a device.
fn is_odd(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
    })
}

/// Returns everything below a folder, hidden and ignored things too; none if that is too much to
/// look at or cannot be read.
fn entries(folder: &Path) -> Option<Vec<PathBuf>> {
    if folder.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Some(Vec::new());
    }
    let walk = WalkBuilder::new(folder).standard_filters(false).build();
    let mut found = Vec::new();
    for entry in walk {
        found.push(entry.ok()?.into_path());
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
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
            let here = Here::new(&workspace, &environment);
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
        let here = Here::new(&workspace, &environment);
        let found = here.matches(&root, "*/passwd").unwrap();
        assert_eq!(found[0].path, Path::new("/etc/passwd"));
        assert_eq!(found[0].place.side, Side::Outside);
    }

    #[test]
    fn a_name_that_nobody_has_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new([folder.path().to_owned()]).unwrap();
        let missing = |path: &str, name: &str| {
            let environment = Environment::from(vec![("PATH".into(), path.into())]);
            Here::new(&workspace, &environment).is_missing(name)
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
            Here::new(&workspace, &environment).trusted_program("ls").is_some()
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
        let here = Here::new(&workspace, &environment);
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
        let here = Here::new(&workspace, &environment);
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
