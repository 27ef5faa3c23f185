//! What `diff` reads: two files, the file of the same name in a folder, or two folders at once.

use super::walk::unseen;
use super::{Eye, Given};
use crate::shell::{TreeKind, Word};
use crate::{Effect, Side, Target};

/// Returns what is read beside the operands themselves.
pub(super) fn effects(
    given: &Given<'_>,
    recursive: bool,
    eye: Eye<'_>,
) -> Result<Vec<Effect>, String> {
    let [one, two] = given.operands.as_slice() else {
        return Err("it does not compare two files".to_owned());
    };
    let follows = !given.has_one_of("--no-dereference");
    let mut effects = Vec::new();
    for (stream, other) in [(one, two), (two, one)] {
        let folders = named(other, eye)?.iter().any(|it| is_folder(it, eye).unwrap_or(true));
        if stream.literal() == Some("-") && folders {
            return Err("it compares a stream with a file of a folder".to_owned());
        }
    }
    for left in named(one, eye)? {
        for right in named(two, eye)? {
            match (kind(&left, eye)?, kind(&right, eye)?) {
                // With `-N`, what is missing counts as an empty folder beside one that is there.
                (TreeKind::Folder, TreeKind::Folder | TreeKind::Missing)
                | (TreeKind::Missing, TreeKind::Folder) => {
                    effects.extend(folder(&left, recursive, follows, eye)?);
                    effects.extend(folder(&right, recursive, follows, eye)?);
                }
                (TreeKind::Folder, _) => effects.extend(namesake(&left, two, eye)?),
                (_, TreeKind::Folder) => effects.extend(namesake(&right, one, eye)?),
                _ => {}
            }
        }
    }
    Ok(effects)
}

fn named(word: &Word, eye: Eye<'_>) -> Result<Vec<Target>, String> {
    if word.literal() == Some("-") { Ok(Vec::new()) } else { eye.targets(word) }
}

fn kind(target: &Target, eye: Eye<'_>) -> Result<TreeKind, String> {
    eye.machine().kind(&target.path).ok_or_else(|| unseen(&target.path))
}

fn is_folder(target: &Target, eye: Eye<'_>) -> Result<bool, String> {
    Ok(kind(target, eye)? == TreeKind::Folder)
}

/// The file of the same name in the folder is what is compared.
fn namesake(folder: &Target, file: &Word, eye: Eye<'_>) -> Result<Vec<Effect>, String> {
    let name = file.shown().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let found = eye.machine().target(&folder.path, name).ok_or_else(|| unseen(&folder.path))?;
    Ok(vec![Effect::Read(found)])
}

/// One of two folders that are compared; what is outside asks as it is.
fn folder(
    target: &Target,
    recursive: bool,
    follows: bool,
    eye: Eye<'_>,
) -> Result<Vec<Effect>, String> {
    let mut effects = vec![Effect::ReadAll(target.clone())];
    if target.place.side == Side::Outside {
        return Ok(effects);
    }
    let tree = eye.machine().tree(&target.path).ok_or_else(|| unseen(&target.path))?;
    let reached = tree
        .entries
        .iter()
        .filter(|entry| recursive || entry.path.parent() == Some(target.path.as_path()));
    for entry in reached {
        if entry.is_secret() {
            effects.push(Effect::Read(Target::new(entry.path.clone(), entry.place)));
        }
        if entry.kind == TreeKind::Link && follows {
            let path = entry.path.to_str().ok_or_else(|| unseen(&entry.path))?;
            let led = eye.machine().target(&target.path, path);
            let led = led.ok_or_else(|| unseen(&entry.path))?;
            if recursive && is_folder(&led, eye)? {
                return Err(format!("`{}` leads to another folder", entry.path.display()));
            }
            effects.push(Effect::Read(led));
        }
    }
    Ok(effects)
}
