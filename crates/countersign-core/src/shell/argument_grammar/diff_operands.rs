//! What `diff` reads: two files, the file of the same name in a folder, or two folders at once.

use super::super::machine_view::MachineView;
use super::ParsedArguments;
use super::folder_walk::describe_unknown_tree;
use crate::shell::{CommandWord, TreeKind};
use crate::{Effect, EffectTarget, WorkspaceSide};

/// Returns what is read beside the operands themselves.
pub(super) fn effects(
    given: &ParsedArguments<'_>,
    recursive: bool,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let [one, two] = given.operands.as_slice() else {
        return Err("it does not compare two files".to_owned());
    };
    let follows = !given.has_one_of("--no-dereference");
    let mut effects = Vec::new();
    for (stream, other) in [(one, two), (two, one)] {
        let folders = named(other, view)?.iter().any(|it| is_folder(it, view).unwrap_or(true));
        if stream.literal() == Some("-") && folders {
            return Err("it compares a stream with a file of a folder".to_owned());
        }
    }
    for left in named(one, view)? {
        for right in named(two, view)? {
            match (kind(&left, view)?, kind(&right, view)?) {
                // With `-N`, what is missing counts as an empty folder beside one that is there.
                (TreeKind::Folder, TreeKind::Folder | TreeKind::Missing)
                | (TreeKind::Missing, TreeKind::Folder) => {
                    effects.extend(folder(&left, recursive, follows, view)?);
                    effects.extend(folder(&right, recursive, follows, view)?);
                }
                (TreeKind::Folder, _) => effects.extend(namesake(&left, two, view)?),
                (_, TreeKind::Folder) => effects.extend(namesake(&right, one, view)?),
                _ => {}
            }
        }
    }
    Ok(effects)
}

fn named(word: &CommandWord, view: MachineView<'_>) -> Result<Vec<EffectTarget>, String> {
    if word.literal() == Some("-") { Ok(Vec::new()) } else { view.targets(word) }
}

fn kind(target: &EffectTarget, view: MachineView<'_>) -> Result<TreeKind, String> {
    view.machine().kind(&target.path).ok_or_else(|| describe_unknown_tree(&target.path))
}

fn is_folder(target: &EffectTarget, view: MachineView<'_>) -> Result<bool, String> {
    Ok(kind(target, view)? == TreeKind::Folder)
}

/// The file of the same name in the folder is what is compared.
fn namesake(
    folder: &EffectTarget,
    file: &CommandWord,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let name = file.effective_text().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let found = view
        .machine()
        .target(&folder.path, name)
        .ok_or_else(|| describe_unknown_tree(&folder.path))?;
    Ok(vec![Effect::Read(found)])
}

/// One of two folders that are compared; what is outside asks as it is.
fn folder(
    target: &EffectTarget,
    recursive: bool,
    follows: bool,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let mut effects = vec![Effect::ReadAll(target.clone())];
    if target.place.side == WorkspaceSide::Outside {
        return Ok(effects);
    }
    let tree =
        view.machine().tree(&target.path).ok_or_else(|| describe_unknown_tree(&target.path))?;
    let reached = tree
        .entries
        .iter()
        .filter(|entry| recursive || entry.path.parent() == Some(target.path.as_path()));
    for entry in reached {
        if entry.is_secret() {
            effects.push(Effect::Read(EffectTarget::new(entry.path.clone(), entry.place)));
        }
        if entry.kind == TreeKind::Link && follows {
            let path = entry.path.to_str().ok_or_else(|| describe_unknown_tree(&entry.path))?;
            let led = view.machine().target(&target.path, path);
            let led = led.ok_or_else(|| describe_unknown_tree(&entry.path))?;
            if recursive && is_folder(&led, view)? {
                return Err(format!("`{}` leads to another folder", entry.path.display()));
            }
            effects.push(Effect::Read(led));
        }
    }
    Ok(effects)
}
