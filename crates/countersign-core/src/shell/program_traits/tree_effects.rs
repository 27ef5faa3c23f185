//! Trees of files that are copied, moved, linked or removed: everything that arrives or vanishes.
//!
//! What lies below counts like what is named: a protected file that arrives with its folder, a
//! secret that moves with it, a link through which something is written. A tree with links in it is
//! not followed under its new name, so that asks.

mod arrival_path;
mod file_operand;

use std::path::Path;

use self::arrival_path::ArrivalPath;
use self::file_operand::{in_each_folder, split};
use super::super::argument_grammar::ParsedArguments;
use super::super::machine_view::MachineView;
use super::super::{CommandWord, TreeKind, WordValue};
use crate::{Effect, EffectTarget, SensitiveKind, WorkspaceSide};

/// So many guarded files of a tree are named; one of them is enough to ask.
const NAMED: usize = 16;

const RECURSIVE: &str = "-r -R -a --recursive --archive";
const TOO_LARGE: &str = "the tree is too large to be judged, or part of it cannot be read";

/// `rm`, `unlink`, `rmdir`.
pub(super) fn removal_effects(
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let recursive = given.has_one_of("-r -R --recursive");
    let mut effects = looked_up(given, view)?;
    let operands = in_each_folder(given, view)?.into_iter().flatten();
    for operand in operands {
        for gone in operand.places() {
            effects.extend(if recursive { all_gone(gone, view) } else { gone_alone(gone) });
        }
    }
    Ok(effects)
}

fn gone_alone(gone: &EffectTarget) -> Vec<Effect> {
    vec![Effect::Delete(gone.clone())]
}

/// A folder goes with all that is in it.
fn all_gone(gone: &EffectTarget, view: MachineView<'_>) -> Vec<Effect> {
    let machine = view.machine();
    match machine.kind(&gone.path) {
        Some(TreeKind::Folder) | None => {}
        // By the time it runs there may be a folder of that name.
        Some(TreeKind::Missing) => return vec![Effect::DeleteAll(gone.clone())],
        Some(TreeKind::File | TreeKind::Link | TreeKind::Other) => return gone_alone(gone),
    }
    let above = machine.target(&gone.path, "..").map(|above| above.place.side);
    let is_root = above != Some(gone.place.side);
    let Some(tree) = machine.tree(&gone.path) else {
        return vec![Effect::DeleteAll(gone.clone())];
    };
    if tree.entries.is_empty() && !is_root {
        return gone_alone(gone);
    }
    let guarded = tree.entries.iter().filter(|entry| entry.is_guarded()).take(NAMED);
    let guarded = guarded.map(|it| Effect::Delete(EffectTarget::new(it.path.clone(), it.place)));
    std::iter::once(Effect::DeleteAll(gone.clone())).chain(guarded).collect()
}

/// `cp`: what is read, and where it arrives.
pub(super) fn copy_effects(
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let recursive = given.has_one_of(RECURSIVE);
    let keeps_links = recursive || given.has_one_of("-d -P --no-dereference");
    let mut effects = looked_up(given, view)?;
    for operands in in_each_folder(given, view)? {
        let (to, sources) = split(&operands)?;
        for from in sources {
            let at = ArrivalPath::for_source(from, to, sources.len(), given, view)?;
            effects.push(Effect::Read(from.target.clone()));
            effects.push(Effect::Write(at.target.clone()));
            if given.has_one_of("-l --link") {
                // Who changes the one name changes the other.
                effects.push(Effect::Write(from.target.clone()));
            }
            if keeps_links && from.is_link() {
                effects.push(linked_elsewhere(&from.entry.path));
            }
            let copy = |from: &EffectTarget, to: &EffectTarget| {
                let read = is_secret(from).then(|| Effect::Read(from.clone()));
                let written = is_guarded(to).then(|| Effect::Write(to.clone()));
                read.into_iter().chain(written).collect::<Vec<_>>()
            };
            let perhaps = ArrivalPath::inside_future_folder(from, to, given, view);
            effects.extend(perhaps.iter().flat_map(|at| copy(&from.target, &at.target)));
            if recursive {
                for at in std::iter::once(&at).chain(&perhaps) {
                    effects.extend(arriving(&from.target, &at.path, view, copy));
                }
            }
        }
    }
    Ok(effects)
}

/// `mv`: what is gone here and arrives there.
pub(super) fn move_effects(
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let mut effects = looked_up(given, view)?;
    for operands in in_each_folder(given, view)? {
        let (to, sources) = split(&operands)?;
        for from in sources {
            let at = ArrivalPath::for_source(from, to, sources.len(), given, view)?;
            let ends = std::iter::once(&at.target).chain(at.entry.as_ref());
            let rename =
                |to: &EffectTarget| Effect::Rename { from: from.entry.clone(), to: to.clone() };
            effects.extend(ends.map(rename));
            if from.is_link() {
                effects.push(linked_elsewhere(&from.entry.path));
                continue;
            }
            let carry = |from: &EffectTarget, to: &EffectTarget| {
                let counts = is_guarded(from) || is_guarded(to);
                let rename = || Effect::Rename { from: from.clone(), to: to.clone() };
                counts.then(rename).into_iter().collect::<Vec<_>>()
            };
            let perhaps = ArrivalPath::inside_future_folder(from, to, given, view);
            effects.extend(perhaps.iter().flat_map(|at| carry(&from.entry, &at.target)));
            for at in std::iter::once(&at).chain(&perhaps) {
                effects.extend(arriving(&from.entry, &at.path, view, carry));
            }
        }
    }
    Ok(effects)
}

/// `ln`: a second name for a file. One for a folder, or for what is not there, is not followed.
pub(super) fn link_effects(
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let symbolic = given.has_one_of("-s --symbolic");
    let relative = given.has_one_of("-r --relative");
    if given.operands.iter().any(|word| word.literal().is_none()) {
        return Err("what it links to is decided only when it runs".to_owned());
    }
    let mut effects = Vec::new();
    for operands in in_each_folder(given, view)? {
        let (to, sources) = split(&operands)?;
        for from in sources {
            let at = ArrivalPath::for_source(from, to, sources.len(), given, view)?;
            effects.push(Effect::Write(at.target.clone()));
            effects.extend(at.entry.clone().map(Effect::Write));
            // The text of a link starts from the folder in which the link lies.
            let led = if symbolic && !relative {
                let lies_in = at.entry.as_ref().unwrap_or(&at.target).path.parent();
                lies_in.and_then(|folder| view.machine().target(folder, &from.written))
            } else {
                Some(from.target.clone())
            };
            let led = led.ok_or_else(|| "where the link leads is unknown".to_owned())?;
            let plain = view.machine().kind(&led.path) == Some(TreeKind::File) && !from.is_link();
            if !plain {
                effects.push(Effect::Opaque {
                    why: format!(
                        "`{}` leads to `{}`: what is reached by it later is not followed",
                        at.path.display(),
                        led.path.display()
                    ),
                });
            }
            effects.push(if plain && symbolic && !is_guarded(&led) {
                Effect::Read(led)
            } else {
                Effect::Write(led)
            });
        }
    }
    Ok(effects)
}

/// `chmod`: a hook that may run is a hook.
pub(super) fn mode_effects(
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let (mode, files) = given.operands.split_first().ok_or("the mode is missing")?;
    if mode.literal().is_none() || files.is_empty() {
        return Err("what it changes is decided only when it runs".to_owned());
    }
    let recursive = given.has_one_of("-R --recursive");
    let mut effects = Vec::new();
    for word in files {
        effects.extend(pattern_folder(word, view)?);
        for target in view.named_targets(word)? {
            effects.push(Effect::Write(target.clone()));
            if recursive && view.machine().kind(&target.path) == Some(TreeKind::Folder) {
                effects.extend(below(&target, view));
            }
        }
    }
    Ok(effects)
}

fn below(folder: &EffectTarget, view: MachineView<'_>) -> Vec<Effect> {
    let Some(tree) = view.machine().tree(&folder.path) else { return vec![too_large()] };
    let guarded = tree.entries.iter().filter(|entry| entry.is_guarded()).take(NAMED);
    guarded.map(|it| Effect::Write(EffectTarget::new(it.path.clone(), it.place))).collect()
}

/// What happens to each thing below a folder that comes to lie elsewhere.
fn arriving(
    from: &EffectTarget,
    to: &Path,
    view: MachineView<'_>,
    effects: impl Fn(&EffectTarget, &EffectTarget) -> Vec<Effect>,
) -> Vec<Effect> {
    let machine = view.machine();
    match machine.kind(&from.path) {
        Some(TreeKind::Folder) => {}
        Some(TreeKind::File | TreeKind::Missing | TreeKind::Other) => return Vec::new(),
        Some(TreeKind::Link) | None => return vec![linked_elsewhere(&from.path)],
    }
    let tree = machine.tree(&from.path);
    let Some((tree, arrivals)) = tree.zip(machine.arrivals(&from.path, to)) else {
        return vec![too_large()];
    };
    let mut found: Vec<_> =
        tree.has_links().then(|| linked_elsewhere(&from.path)).into_iter().collect();
    let pairs = tree.entries.iter().zip(&arrivals);
    let each = pairs
        .flat_map(|(entry, to)| effects(&EffectTarget::new(entry.path.clone(), entry.place), to));
    found.extend(each.take(NAMED));
    found
}

fn is_secret(target: &EffectTarget) -> bool {
    target.place.special == Some(SensitiveKind::Secret)
}

/// Whether somebody has to be asked who changes it.
fn is_guarded(target: &EffectTarget) -> bool {
    target.place.side == WorkspaceSide::Outside
        || matches!(target.place.special, Some(SensitiveKind::Secret | SensitiveKind::Protected))
}

fn linked_elsewhere(path: &Path) -> Effect {
    let why = format!(
        "`{}` is or holds a link: what is reached by its new name is not followed",
        path.display()
    );
    Effect::Opaque { why }
}

fn too_large() -> Effect {
    Effect::Opaque { why: TOO_LARGE.to_owned() }
}

/// The folders whose names patterns show.
fn looked_up(given: &ParsedArguments<'_>, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let found = given.operands.iter().map(|word| pattern_folder(word, view));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

fn pattern_folder(word: &CommandWord, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let WordValue::Glob(pattern) = &word.value else { return Ok(Vec::new()) };
    Ok(view.pattern_folder_targets(pattern)?.into_iter().map(Effect::Read).collect())
}
