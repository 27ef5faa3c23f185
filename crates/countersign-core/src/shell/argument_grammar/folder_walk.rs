//! What a program meets that goes through folders: secrets, and where links lead.

use std::path::Path;

use super::super::machine_view::MachineView;
use super::program_spec::{FolderWalkKind, ProgramSpec};
use super::{ParsedArguments, diff_operands};
use crate::shell::SearchScope;
use crate::{Effect, EffectTarget, WorkspaceSide};

/// Options of `rg` with which it shows names, not what stands in the files.
const NAMES_ONLY: &str = "--files --type-list --version -V";

/// Options of `rg` that make it open what it leaves alone otherwise: each counts as all of them.
const UNRESTRICTED: &str = "-u --unrestricted --no-ignore --no-ignore-vcs";

/// Types of `rg` none of whose names are hidden ones.
const PLAIN_TYPES: &[&str] = &[
    "c", "cpp", "css", "go", "html", "java", "js", "kotlin", "lua", "markdown", "md", "php", "py",
    "rust", "swift", "ts",
];

/// Returns what a program meets on its way through these paths.
pub(super) fn effects(
    entry: &ProgramSpec,
    given: &ParsedArguments<'_>,
    paths: Vec<EffectTarget>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    match entry.walk {
        FolderWalkKind::Compares => {
            diff_operands::effects(given, given.has_one_of(entry.walks), view)
        }
        FolderWalkKind::Searches if given.has_one_of(NAMES_ONLY) => Ok(Vec::new()),
        FolderWalkKind::Searches => searched(given, &starts(paths, view)?, view),
        FolderWalkKind::Plain => plain(entry, given, paths, view),
    }
}

fn starts(paths: Vec<EffectTarget>, view: MachineView<'_>) -> Result<Vec<EffectTarget>, String> {
    if paths.is_empty() { view.here() } else { Ok(paths) }
}

/// What lies outside asks as it is, and may be the whole disk.
fn inside(paths: &[EffectTarget]) -> impl Iterator<Item = &EffectTarget> {
    paths.iter().filter(|path| path.place.side == WorkspaceSide::Inside)
}

fn plain(
    entry: &ProgramSpec,
    given: &ParsedArguments<'_>,
    paths: Vec<EffectTarget>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let mut effects = Vec::new();
    if given.has_one_of(entry.dereferences) {
        for path in inside(&paths) {
            effects.extend(links_below(path, view)?);
        }
    }
    if given.has_one_of(entry.walks) {
        let walked = starts(paths, view)?;
        effects.extend(walked.iter().cloned().map(Effect::ReadAll));
        for path in inside(&walked) {
            let found = view.machine().secrets_below(&path.path);
            effects.extend(
                found
                    .ok_or_else(|| describe_unknown_tree(&path.path))?
                    .into_iter()
                    .map(Effect::Read),
            );
        }
    }
    Ok(effects)
}

fn searched(
    given: &ParsedArguments<'_>,
    walked: &[EffectTarget],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let search = search(given);
    let mut effects: Vec<_> = walked.iter().cloned().map(Effect::ReadAll).collect();
    for path in inside(walked) {
        for cwd in view.folders()? {
            let found = view.machine().searched_secrets(cwd, &path.path, &search);
            effects.extend(
                found
                    .ok_or_else(|| describe_unknown_tree(&path.path))?
                    .into_iter()
                    .map(Effect::Read),
            );
        }
    }
    Ok(effects)
}

/// Reads from the options of `rg` what it opens; where that is unclear, more.
fn search(given: &ParsedArguments<'_>) -> SearchScope {
    let folds = given.has_one_of("--glob-case-insensitive");
    let globs =
        given.values_of(&["-g", "--glob"]).map(|glob| (glob.effective_text().to_owned(), folds));
    let folded = given.values_of(&["--iglob"]).map(|glob| (glob.effective_text().to_owned(), true));
    let is_odd = |name: &str| !PLAIN_TYPES.contains(&name);
    let ignored = given.has_one_of(UNRESTRICTED);
    SearchScope {
        globs: globs.chain(folded).collect(),
        // A file of a type that is asked for is opened though its name is hidden.
        hidden: ignored
            || given.has_one_of("-. --hidden")
            || given.values_of(&["-t", "--type"]).any(|name| is_odd(name.effective_text())),
        ignored,
    }
}

/// Returns where the links below a folder lead.
fn links_below(folder: &EffectTarget, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let found = view.machine().links_below(&folder.path);
    let unknown = || {
        let folder = folder.path.display();
        format!("where links in `{folder}` lead is unknown, or one leads to another folder")
    };
    Ok(found.ok_or_else(unknown)?.into_iter().map(Effect::Read).collect())
}

/// Why there is no answer about a tree.
pub(in super::super) fn describe_unknown_tree(folder: &Path) -> String {
    let folder = folder.display();
    format!("`{folder}` cannot be looked through: the tree is too large to be judged, or closed")
}
