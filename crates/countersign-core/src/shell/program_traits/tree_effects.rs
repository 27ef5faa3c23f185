//! Trees of files that are copied, moved, linked or removed: everything that arrives or vanishes.
//!
//! What lies below counts like what is named: a protected file that arrives with its folder, a
//! secret that moves with it, a link through which something is written. A tree with links in it is
//! not followed under its new name, so that asks.

use std::path::{Path, PathBuf};

use super::super::argument_grammar::{MachineView, ParsedArguments};
use super::super::{CommandWord, TreeKind, WordValue};
use crate::{Effect, EffectTarget, SensitiveKind, WorkspaceSide};

/// So many guarded files of a tree are named; one of them is enough to ask.
const NAMED: usize = 16;

const RECURSIVE: &str = "-r -R -a --recursive --archive";
const TOO_LARGE: &str = "the tree is too large to be judged, or part of it cannot be read";

/// An operand, as one command in one folder finds it.
struct FileOperand {
    /// As it was written.
    written: String,
    /// The last name as it was written; none for `.`, `..` and `/`.
    name: Option<String>,
    /// Where it lies.
    entry: EffectTarget,
    /// Where it leads.
    target: EffectTarget,
}

impl FileOperand {
    fn is_link(&self) -> bool {
        self.entry.path != self.target.path
    }

    /// Both where it lies and where it leads, once if that is the same.
    fn places(&self) -> impl Iterator<Item = &EffectTarget> {
        let led = self.is_link().then_some(&self.target);
        std::iter::once(&self.entry).chain(led)
    }
}

/// `rm`, `unlink`, `rmdir`.
pub(super) fn removal_effects(
    given: &ParsedArguments<'_>,
    eye: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let recursive = given.has_one_of("-r -R --recursive");
    let mut effects = looked_up(given, eye)?;
    let operands = in_each_folder(given, eye)?.into_iter().flatten();
    for operand in operands {
        for gone in operand.places() {
            effects.extend(if recursive { all_gone(gone, eye) } else { gone_alone(gone) });
        }
    }
    Ok(effects)
}

fn gone_alone(gone: &EffectTarget) -> Vec<Effect> {
    vec![Effect::Delete(gone.clone())]
}

/// A folder goes with all that is in it.
fn all_gone(gone: &EffectTarget, eye: MachineView<'_>) -> Vec<Effect> {
    let machine = eye.machine();
    match machine.kind(&gone.path) {
        Some(TreeKind::Folder) | None => {}
        Some(TreeKind::Missing | TreeKind::File | TreeKind::Link | TreeKind::Other) => {
            return gone_alone(gone);
        }
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
    eye: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let recursive = given.has_one_of(RECURSIVE);
    let keeps_links = recursive || given.has_one_of("-d -P --no-dereference");
    let mut effects = looked_up(given, eye)?;
    for operands in in_each_folder(given, eye)? {
        let (to, sources) = split(&operands)?;
        for from in sources {
            let at = ArrivalPath::for_source(from, to, sources.len(), given, eye)?;
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
            let perhaps = ArrivalPath::inside_future_folder(from, to, given, eye);
            effects.extend(perhaps.iter().flat_map(|at| copy(&from.target, &at.target)));
            if recursive {
                for at in std::iter::once(&at).chain(&perhaps) {
                    effects.extend(arriving(&from.target, &at.path, eye, copy));
                }
            }
        }
    }
    Ok(effects)
}

/// `mv`: what is gone here and arrives there.
pub(super) fn move_effects(
    given: &ParsedArguments<'_>,
    eye: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let mut effects = looked_up(given, eye)?;
    for operands in in_each_folder(given, eye)? {
        let (to, sources) = split(&operands)?;
        for from in sources {
            let at = ArrivalPath::for_source(from, to, sources.len(), given, eye)?;
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
            let perhaps = ArrivalPath::inside_future_folder(from, to, given, eye);
            effects.extend(perhaps.iter().flat_map(|at| carry(&from.entry, &at.target)));
            for at in std::iter::once(&at).chain(&perhaps) {
                effects.extend(arriving(&from.entry, &at.path, eye, carry));
            }
        }
    }
    Ok(effects)
}

/// `ln`: a second name for a file. One for a folder, or for what is not there, is not followed.
pub(super) fn link_effects(
    given: &ParsedArguments<'_>,
    eye: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let symbolic = given.has_one_of("-s --symbolic");
    let relative = given.has_one_of("-r --relative");
    if given.operands.iter().any(|word| word.literal().is_none()) {
        return Err("what it links to is decided only when it runs".to_owned());
    }
    let mut effects = Vec::new();
    for operands in in_each_folder(given, eye)? {
        let (to, sources) = split(&operands)?;
        for from in sources {
            let at = ArrivalPath::for_source(from, to, sources.len(), given, eye)?;
            effects.push(Effect::Write(at.target.clone()));
            effects.extend(at.entry.clone().map(Effect::Write));
            // The text of a link starts from the folder in which the link lies.
            let led = if symbolic && !relative {
                let lies_in = at.entry.as_ref().unwrap_or(&at.target).path.parent();
                lies_in.and_then(|folder| eye.machine().target(folder, &from.written))
            } else {
                Some(from.target.clone())
            };
            let led = led.ok_or_else(|| "where the link leads is unknown".to_owned())?;
            let plain = eye.machine().kind(&led.path) == Some(TreeKind::File) && !from.is_link();
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
    eye: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let (mode, files) = given.operands.split_first().ok_or("the mode is missing")?;
    if mode.literal().is_none() || files.is_empty() {
        return Err("what it changes is decided only when it runs".to_owned());
    }
    let recursive = given.has_one_of("-R --recursive");
    let mut effects = Vec::new();
    for word in files {
        effects.extend(pattern_folder(word, eye)?);
        for target in eye.named_targets(word)? {
            effects.push(Effect::Write(target.clone()));
            if recursive && eye.machine().kind(&target.path) == Some(TreeKind::Folder) {
                effects.extend(below(&target, eye));
            }
        }
    }
    Ok(effects)
}

fn below(folder: &EffectTarget, eye: MachineView<'_>) -> Vec<Effect> {
    let Some(tree) = eye.machine().tree(&folder.path) else { return vec![too_large()] };
    let guarded = tree.entries.iter().filter(|entry| entry.is_guarded()).take(NAMED);
    guarded.map(|it| Effect::Write(EffectTarget::new(it.path.clone(), it.place))).collect()
}

/// Where a source arrives.
struct ArrivalPath {
    /// Where its tree begins.
    path: PathBuf,
    /// Where that leads.
    target: EffectTarget,
    /// Where that lies, if a link stands there.
    entry: Option<EffectTarget>,
}

impl ArrivalPath {
    /// Into a folder under its own name, or at the very place.
    fn for_source(
        from: &FileOperand,
        to: &FileOperand,
        sources: usize,
        given: &ParsedArguments<'_>,
        eye: MachineView<'_>,
    ) -> Result<Self, String> {
        // A slash behind a name that is not there yet makes no folder: the tree takes that name.
        let is_folder = eye.machine().kind(&to.target.path) == Some(TreeKind::Folder);
        let into = is_folder || sources > 1;
        match &from.name {
            Some(name) if into && !is_exact(given) => {
                Self::from_path(&to.target.path.join(name), eye)
            }
            _ => {
                let entry = Some(&to.entry).filter(|_| to.is_link()).cloned();
                Ok(Self { path: to.target.path.clone(), target: to.target.clone(), entry })
            }
        }
    }

    /// What is not there yet may be made a folder by what runs before.
    fn inside_future_folder(
        from: &FileOperand,
        to: &FileOperand,
        given: &ParsedArguments<'_>,
        eye: MachineView<'_>,
    ) -> Option<Self> {
        let missing = eye.machine().kind(&to.target.path) == Some(TreeKind::Missing);
        let name = from.name.as_ref().filter(|_| missing && !is_exact(given))?;
        Self::from_path(&to.target.path.join(name), eye).ok()
    }

    fn from_path(path: &Path, eye: MachineView<'_>) -> Result<Self, String> {
        let text = path.to_str().ok_or("a name is not text")?;
        let root = Path::new("/");
        let target = eye.machine().target(root, text).ok_or("where it arrives is unknown")?;
        let entry = eye.machine().entry(root, text).filter(|lies| lies.path != target.path);
        Ok(Self { path: target.path.clone(), target, entry })
    }
}

fn is_exact(given: &ParsedArguments<'_>) -> bool {
    given.has_one_of("-T --no-target-directory")
}

/// What happens to each thing below a folder that comes to lie elsewhere.
fn arriving(
    from: &EffectTarget,
    to: &Path,
    eye: MachineView<'_>,
    effects: impl Fn(&EffectTarget, &EffectTarget) -> Vec<Effect>,
) -> Vec<Effect> {
    let machine = eye.machine();
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

fn split(operands: &[FileOperand]) -> Result<(&FileOperand, &[FileOperand]), String> {
    let (to, sources) = operands.split_last().ok_or("an operand is missing")?;
    if sources.is_empty() { Err("an operand is missing".to_owned()) } else { Ok((to, sources)) }
}

/// The folders whose names patterns show.
fn looked_up(given: &ParsedArguments<'_>, eye: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let found = given.operands.iter().map(|word| pattern_folder(word, eye));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

fn pattern_folder(word: &CommandWord, eye: MachineView<'_>) -> Result<Vec<Effect>, String> {
    let WordValue::Glob(pattern) = &word.value else { return Ok(Vec::new()) };
    Ok(eye.pattern_folder_targets(pattern)?.into_iter().map(Effect::Read).collect())
}

/// The operands as they are found in each folder the command may run in.
fn in_each_folder(
    given: &ParsedArguments<'_>,
    eye: MachineView<'_>,
) -> Result<Vec<Vec<FileOperand>>, String> {
    if given.operands.is_empty() {
        return Err("an operand is missing".to_owned());
    }
    let folders = eye.folders()?.iter();
    folders.map(|cwd| operands_in(cwd, given, eye)).collect()
}

fn operands_in(
    cwd: &Path,
    given: &ParsedArguments<'_>,
    eye: MachineView<'_>,
) -> Result<Vec<FileOperand>, String> {
    let mut found = Vec::new();
    for (at, word) in given.operands.iter().enumerate() {
        match &word.value {
            WordValue::Literal(path) => found.push(operand(cwd, path, eye)?),
            // The last one must be one word.
            WordValue::Glob(pattern) if at + 1 < given.operands.len() || at == 0 => {
                let matched = eye.named_targets(word)?;
                if matched.is_empty() {
                    found.push(operand(cwd, pattern, eye)?);
                }
                for target in matched {
                    let written = target.names().last().and_then(Path::to_str);
                    let written = written.ok_or("a name is not text")?;
                    found.push(operand(Path::new("/"), written, eye)?);
                }
            }
            WordValue::Glob(_) | WordValue::Text | WordValue::Words => {
                return Err(format!("what `{}` names is decided only when it runs", word.text));
            }
        }
    }
    Ok(found)
}

fn operand(cwd: &Path, path: &str, eye: MachineView<'_>) -> Result<FileOperand, String> {
    let machine = eye.machine();
    let unknown = || format!("where `{path}` leads is unknown");
    let target = machine.target(cwd, path).ok_or_else(unknown)?;
    let entry = machine.entry(cwd, path).ok_or_else(unknown)?;
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = Some(last.to_owned()).filter(|last| !matches!(last.as_str(), "" | "." | ".."));
    Ok(FileOperand { written: path.to_owned(), name, entry, target })
}
