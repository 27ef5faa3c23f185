//! The shell reading as a whole: the corpus, the table's examples, and what must hold of any text.

mod corpus;
mod examples;
mod properties;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Analysis, Context, Finding, Machine, Search, Tree, TreeEntry, TreeKind, analyse};
use crate::{Effect, Outcome, Place, Side, Special, Target, is_public, lexical};

pub(super) const WORKSPACE: &str = "/ws";
pub(super) const HOME: &str = "/home/me";

/// A machine with a workspace at `/ws`, a clean repository, and every program in `/usr/bin`.
pub(super) struct Fake;

impl Machine for Fake {
    fn target(&self, cwd: &Path, path: &str) -> Option<Target> {
        let path = lexical(&cwd.join(path));
        let place = Place::of(&path, &[PathBuf::from(WORKSPACE)]);
        Some(Target::new(path, place))
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<Target>> {
        let secret = |name: &str| self.target(cwd, name);
        // There is a `.env` in the workspace, and nothing else that is special.
        let hit = cwd == Path::new(WORKSPACE) && pattern.starts_with(".e");
        Some(hit.then(|| secret(".env")).flatten().into_iter().collect())
    }

    fn expand_pattern(&self, cwd: &Path, pattern: &str) -> Option<Vec<String>> {
        let names: &[&str] = match pattern {
            _ if cwd != Path::new(WORKSPACE) => &[],
            // A hostile file is named like an option.
            "*" => &["--hostile", "a"],
            _ => &[],
        };
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn secrets_below(&self, folder: &Path) -> Option<Vec<Target>> {
        let env = self.target(Path::new(WORKSPACE), ".env")?;
        Some(if env.path.starts_with(folder) { vec![env] } else { Vec::new() })
    }

    fn links_below(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<Target> {
        self.target(cwd, path)
    }

    /// The workspace has three folders; what else is named is a file.
    fn kind(&self, path: &Path) -> Option<TreeKind> {
        let folders = [WORKSPACE, "/ws/src", "/ws/docs"].map(Path::new);
        Some(if folders.contains(&path) { TreeKind::Folder } else { TreeKind::File })
    }

    fn tree(&self, path: &Path) -> Option<Arc<Tree>> {
        let found = self.secrets_below(path)?.into_iter();
        let entry = |it: Target| TreeEntry { path: it.path, place: it.place, kind: TreeKind::File };
        Some(Arc::new(Tree { kind: self.kind(path)?, entries: found.map(entry).collect() }))
    }

    fn arrivals(&self, from: &Path, to: &Path) -> Option<Vec<Target>> {
        let tree = self.tree(from)?;
        tree.entries
            .iter()
            .map(|it| self.target(to, it.path.strip_prefix(from).ok()?.to_str()?))
            .collect()
    }

    /// A pattern that has `env` in it is taken to mean the `.env`.
    fn searched_secrets(&self, _: &Path, folder: &Path, search: &Search) -> Option<Vec<Target>> {
        let meant = search.globs.iter().any(|(glob, _)| glob.contains("env"));
        let opens = search.hidden || search.ignored || meant;
        if opens { self.secrets_below(folder) } else { Some(Vec::new()) }
    }

    fn has_file_above(&self, _: &Path, _: &[&str]) -> Option<bool> {
        Some(false)
    }

    fn trusted_program(&self, name: &str) -> Option<PathBuf> {
        let odd = name.is_empty() || !name.is_ascii() || name.contains(['=', ' ']);
        (!odd).then(|| Path::new("/usr/bin").join(name))
    }

    fn git_hazards(&self, cwd: &Path) -> Option<Vec<String>> {
        let clean = [WORKSPACE, "/ws/src"].map(Path::new);
        clean.contains(&cwd).then(Vec::new)
    }

    fn git_top(&self, _: &Path) -> Option<PathBuf> {
        Some(PathBuf::from(WORKSPACE))
    }

    fn git_tracked_secrets(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }

    fn git_tracked_links(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
    }
}

pub(super) fn read(command: &str) -> Analysis {
    read_with(command, &[])
}

pub(super) fn read_with(command: &str, env: &[(String, String)]) -> Analysis {
    let (cwd, home) = (Path::new(WORKSPACE), Path::new(HOME));
    let own = [PathBuf::from("/home/me/.local/share/countersign")];
    analyse(command, &Context { cwd, home: Some(home), env, own: &own, machine: &Fake })
}

/// The plain verdict: no rules, no modes.
pub(super) fn verdict(analysis: &Analysis) -> Outcome {
    if !analysis.floors.is_empty() {
        return Outcome::Deny;
    }
    let harmless = |effect: &Effect| match effect {
        Effect::Read(Target { path, place, .. }) | Effect::ReadAll(Target { path, place, .. }) => {
            let open = place.side == Side::Inside || is_public(path);
            open && place.special != Some(Special::Secret)
        }
        _ => false,
    };
    let proven = analysis.parts.iter().all(|part| part.finding == Finding::ReadOnly);
    if proven && analysis.effects.iter().all(harmless) { Outcome::Allow } else { Outcome::Ask }
}

pub(super) fn judged(command: &str) -> Outcome {
    verdict(&read(command))
}
