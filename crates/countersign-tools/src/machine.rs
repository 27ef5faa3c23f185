//! What the reading of command lines must know of this machine: where paths lead, what names run.

use std::path::{Path, PathBuf};

use countersign_core::shell::Machine;
use countersign_core::{Special, Target};
use globset::GlobBuilder;
use ignore::WalkBuilder;

use crate::git;
use crate::process::Environment;
use crate::workspace::Workspace;

/// Folders whose programs are the system's own: nothing that runs as the user can change them.
const SYSTEM: &[&str] =
    &["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// How many entries are looked at for an answer; beyond that there is none.
const MOST: usize = 20_000;

/// This machine as a command of one workspace would find it.
pub(crate) struct Here<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) environment: &'a Environment,
}

impl Machine for Here<'_> {
    fn target(&self, cwd: &Path, path: &str) -> Option<Target> {
        self.workspace.resolve(cwd, path).ok()
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<Target>> {
        // Without `**` a pattern has as many levels as it has slashes.
        let depth = pattern.split('/').count();
        let start = if pattern.starts_with('/') { Path::new("/") } else { cwd };
        let whole = start.join(pattern);
        let glob = GlobBuilder::new(whole.to_str()?).literal_separator(true).build().ok()?;
        let glob = glob.compile_matcher();
        let found = entries(start, Some(depth))?.into_iter().filter(|path| glob.is_match(path));
        found.map(|path| self.target(cwd, path.to_str()?)).collect()
    }

    fn secrets_below(&self, folder: &Path) -> Option<Vec<Target>> {
        let is_secret = |target: &Target| target.place.special == Some(Special::Secret);
        let targets = entries(folder, None)?.into_iter().map(|path| {
            // A name that is not text can still be a secret's: no answer.
            path.to_str().and_then(|path| self.target(folder, path))
        });
        let targets = targets.collect::<Option<Vec<_>>>()?;
        Some(targets.into_iter().filter(is_secret).collect())
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        let path = self.environment.get("PATH")?;
        for folder in path.split(':').map(Path::new) {
            // A relative folder is whatever the command's folder makes of it.
            if !folder.is_absolute() {
                return None;
            }
            let program = folder.join(name);
            if program.is_file() {
                let real = program.canonicalize().ok()?;
                let system = SYSTEM.iter().any(|system| folder == Path::new(system));
                let inside = self.workspace.roots().iter().any(|root| real.starts_with(root));
                return (system && !inside).then_some(real);
            }
        }
        None
    }

    fn git_hazards(&self, cwd: &Path) -> Option<Vec<String>> {
        git::hazards(cwd)
    }
}

/// Returns everything below a folder, hidden and ignored things too; none if that is too much to
/// look at or cannot be read.
fn entries(folder: &Path, depth: Option<usize>) -> Option<Vec<PathBuf>> {
    let walk = WalkBuilder::new(folder).standard_filters(false).max_depth(depth).build();
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
            let here = Here { workspace: &workspace, environment: &environment };
            here.trusted_program("ls").is_some()
        };
        assert!(trusted("/usr/bin:/bin"));
        assert!(!trusted(&format!("{}:/usr/bin:/bin", folder.path().display())));
        assert!(!trusted(".:/usr/bin:/bin"));
        assert!(!trusted(""));
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
        let here = Here { workspace: &workspace, environment: &environment };
        let mut found: Vec<_> =
            here.matches(&root, "*.txt").unwrap().into_iter().map(|target| target.path).collect();
        found.sort();
        assert_eq!(found, [root.join("a.txt"), root.join("b.txt")]);
        let secrets = here.secrets_below(&root).unwrap();
        assert_eq!(secrets.len(), 1);
        assert_eq!(secrets[0].path, root.join("sub/.env"));
    }
}
