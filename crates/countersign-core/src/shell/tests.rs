//! The shell reading as a whole: the corpus, the table's examples, and what must hold of any text.

mod corpus;
mod examples;
mod properties;

use std::path::{Path, PathBuf};

use super::{Analysis, Context, Finding, Machine, analyse};
use crate::{Effect, Outcome, Place, Side, Special, Target, lexical};

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

    fn secrets_below(&self, folder: &Path) -> Option<Vec<Target>> {
        let env = self.target(Path::new(WORKSPACE), ".env")?;
        Some(if env.path.starts_with(folder) { vec![env] } else { Vec::new() })
    }

    fn links_below(&self, _: &Path) -> Option<Vec<Target>> {
        Some(Vec::new())
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
        Effect::Read(Target { place, .. }) | Effect::ReadAll(Target { place, .. }) => {
            place.side == Side::Inside && place.special != Some(Special::Secret)
        }
        _ => false,
    };
    let proven = analysis.parts.iter().all(|part| part.finding == Finding::ReadOnly);
    if proven && analysis.effects.iter().all(harmless) { Outcome::Allow } else { Outcome::Ask }
}

pub(super) fn judged(command: &str) -> Outcome {
    verdict(&read(command))
}
