//! The shell reading as a whole: the corpus, the table's examples, and what must hold of any text.

mod corpus;
mod examples;
mod properties;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    CommandAnalysis, FileTree, Machine, PartFinding, SearchScope, ShellContext, TreeEntry,
    TreeKind, analyse,
};
use crate::{
    Effect, EffectTarget, PathClass, SensitiveKind, VerdictAction, WorkspaceSide, is_public,
    normalize_lexically,
};

pub(super) const WORKSPACE: &str = "/ws";
pub(super) const HOME: &str = "/home/me";

/// A machine with a workspace at `/ws`, a clean repository, and every program in `/usr/bin`.
pub(super) struct Fake;

impl Machine for Fake {
    fn target(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        let path = normalize_lexically(&cwd.join(path));
        let place = PathClass::from_path(&path, &[PathBuf::from(WORKSPACE)]);
        Some(EffectTarget::new(path, place))
    }

    fn matches(&self, cwd: &Path, pattern: &str) -> Option<Vec<EffectTarget>> {
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

    fn secrets_below(&self, folder: &Path) -> Option<Vec<EffectTarget>> {
        let env = self.target(Path::new(WORKSPACE), ".env")?;
        Some(if env.path.starts_with(folder) { vec![env] } else { Vec::new() })
    }

    fn links_below(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn entry(&self, cwd: &Path, path: &str) -> Option<EffectTarget> {
        self.target(cwd, path)
    }

    /// The workspace has three folders; what else is named is a file.
    fn kind(&self, path: &Path) -> Option<TreeKind> {
        let folders = [WORKSPACE, "/ws/src", "/ws/docs"].map(Path::new);
        Some(if folders.contains(&path) { TreeKind::Folder } else { TreeKind::File })
    }

    fn tree(&self, path: &Path) -> Option<Arc<FileTree>> {
        let found = self.secrets_below(path)?.into_iter();
        let entry =
            |it: EffectTarget| TreeEntry { path: it.path, place: it.place, kind: TreeKind::File };
        Some(Arc::new(FileTree { kind: self.kind(path)?, entries: found.map(entry).collect() }))
    }

    fn arrivals(&self, from: &Path, to: &Path) -> Option<Vec<EffectTarget>> {
        let tree = self.tree(from)?;
        tree.entries
            .iter()
            .map(|it| self.target(to, it.path.strip_prefix(from).ok()?.to_str()?))
            .collect()
    }

    /// A pattern that has `env` in it is taken to mean the `.env`.
    fn searched_secrets(
        &self,
        _: &Path,
        folder: &Path,
        search: &SearchScope,
    ) -> Option<Vec<EffectTarget>> {
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

    fn git_tracked_secrets(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }

    fn git_tracked_links(&self, _: &Path) -> Option<Vec<EffectTarget>> {
        Some(Vec::new())
    }
}

pub(super) fn read(command: &str) -> CommandAnalysis {
    read_with(command, &[])
}

pub(super) fn read_with(command: &str, env: &[(String, String)]) -> CommandAnalysis {
    let (cwd, home) = (Path::new(WORKSPACE), Path::new(HOME));
    let own = [PathBuf::from("/home/me/.local/share/countersign")];
    analyse(command, &ShellContext { cwd, home: Some(home), env, own: &own, machine: &Fake })
}

/// The plain verdict: no rules, no modes.
pub(super) fn verdict(analysis: &CommandAnalysis) -> VerdictAction {
    if !analysis.denials.is_empty() {
        return VerdictAction::Deny;
    }
    let harmless = |effect: &Effect| match effect {
        Effect::Read(EffectTarget { path, place, .. })
        | Effect::ReadAll(EffectTarget { path, place, .. }) => {
            let open = place.side == WorkspaceSide::Inside || is_public(path);
            open && place.special != Some(SensitiveKind::Secret)
        }
        _ => false,
    };
    let proven = analysis.parts.iter().all(|part| part.finding == PartFinding::ReadOnly);
    if proven && analysis.effects.iter().all(harmless) {
        VerdictAction::Allow
    } else {
        VerdictAction::Ask
    }
}

pub(super) fn judged(command: &str) -> VerdictAction {
    verdict(&read(command))
}
