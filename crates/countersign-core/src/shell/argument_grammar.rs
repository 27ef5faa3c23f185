//! The grammar of a program's arguments: which options it may have, what its operands are.
//!
//! An entry is data. Options are written as in a manual, one blank apart:
//!
//! | written | means |
//! | --- | --- |
//! | `-a` `--all` | takes no value |
//! | `-n=number` `--lines=number` | takes a value of this kind, in the same word or the next |
//! | `-U[=number]` `--color[=text]` | may have a value in the same word |
//! | `--arg=text,text` | takes two |
//! | `-#` | a number with a dash (`head -20`) |
//!
//! Operands likewise: `text path*` is one text and any number of paths; `?` marks one that may be
//! missing. A `path` is a file whatever its name; a `file` is one, too, but `-` is standard input.
//! An option that is not listed, or is abbreviated, is unknown, and unknown is never harmless.

mod diff_operands;
mod folder_walk;
mod options;
mod program_spec;

pub(super) use folder_walk::describe_unknown_tree;
pub(super) use options::ParsedArguments;
pub(super) use program_spec::{ProgramSpec, entry};

use program_spec::DashWordHandling;

use self::options::read_options;
use super::machine_view::MachineView;
use super::{CommandWord, WordValue, argument_kinds};
use crate::{Effect, EffectTarget};

/// Returns what a program does with these arguments, or why that is not covered by its entry.
pub(super) fn apply(
    entry: &ProgramSpec,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    match (entry.operands, args.split_last()) {
        ("test", _) => return argument_kinds::test(args, view),
        ("test ]", Some((end, args))) if end.literal() == Some("]") => {
            return argument_kinds::test(args, view);
        }
        ("test ]", _) => return Err("the closing `]` is missing".to_owned()),
        _ => {}
    }
    let given = sort_arguments(entry, args, view)?;
    if !entry.needs.is_empty() && !given.has_one_of(entry.needs) {
        return Err(format!("only with {} is it known to just read", entry.needs));
    }
    condition(entry, view)?;
    let mut effects = given.effects.clone();
    let paths = assign(entry, &given, view, &mut effects)?;
    let paths = if paths.is_empty() && entry.here { view.here()? } else { paths };
    if entry.here {
        effects.extend(paths.iter().cloned().map(Effect::Read));
    }
    effects.extend(folder_walk::effects(entry, &given, paths, view)?);
    Ok(effects)
}

/// Checks that no file here makes the program do something else.
fn condition(entry: &ProgramSpec, view: MachineView<'_>) -> Result<(), String> {
    if entry.without.is_empty() && entry.unless_matched.is_empty() {
        return Ok(());
    }
    for cwd in view.folders()? {
        let is_met = |pattern: &&str| {
            view.machine().matches(cwd, pattern).is_none_or(|found| !found.is_empty())
        };
        if let Some(pattern) = entry.unless_matched.iter().find(|pattern| is_met(pattern)) {
            return Err(format!("it may load what matches `{pattern}` here"));
        }
        match view.machine().has_file_above(cwd, entry.without) {
            Some(false) => {}
            Some(true) => {
                return Err(format!("one of {} here steers it", entry.without.join(", ")));
            }
            None => return Err("whether a file here steers it is unknown".to_owned()),
        }
    }
    Ok(())
}

/// Sorts arguments into options and operands, or says which of them is not covered by the entry.
pub(super) fn sort_arguments<'a>(
    entry: &ProgramSpec,
    args: &'a [CommandWord],
    view: MachineView<'_>,
) -> Result<ParsedArguments<'a>, String> {
    if entry.words == DashWordHandling::Raw {
        return Ok(ParsedArguments {
            operands: args.iter().collect(),
            ..ParsedArguments::default()
        });
    }
    read_options(entry, args, view)
}

/// Gives each operand its role; returns the paths among them.
fn assign(
    entry: &ProgramSpec,
    given: &ParsedArguments<'_>,
    view: MachineView<'_>,
    effects: &mut Vec<Effect>,
) -> Result<Vec<EffectTarget>, String> {
    let mut roles: Vec<&str> = entry.operands.split(' ').filter(|role| !role.is_empty()).collect();
    if given.has_one_of(entry.first_like_rest) {
        roles.remove(0);
    }
    let mut paths = Vec::new();
    for (word, (kind, many)) in given.operands.iter().zip(spread(&roles, given.operands.len())?) {
        if !many && matches!(word.value, WordValue::Glob(_) | WordValue::Words) {
            return Err(format!("`{}` may turn out to be several words", word.text));
        }
        effects.extend(argument_kinds::check(kind, word, view)?);
        if kind == "path" || (kind == "file" && word.literal() != Some("-")) {
            paths.extend(view.targets(word)?);
        }
    }
    Ok(paths)
}

/// Spreads roles (`a b* c`) over so many operands.
fn spread<'r>(roles: &[&'r str], count: usize) -> Result<Vec<(&'r str, bool)>, String> {
    let is_many = |role: &str| role.ends_with('*');
    let required = roles.iter().filter(|role| !role.ends_with(['*', '?'])).count();
    let mut spare = count.checked_sub(required).ok_or("an operand is missing")?;
    let mut spread = Vec::new();
    for role in roles {
        let times = match role {
            role if is_many(role) => spare,
            role if role.ends_with('?') => spare.min(1),
            _ => 1,
        };
        if role.ends_with(['*', '?']) {
            spare -= times;
        }
        spread
            .extend(std::iter::repeat_n((role.trim_end_matches(['*', '?']), is_many(role)), times));
    }
    if spare > 0 {
        return Err("there are more operands than are known to be harmless".to_owned());
    }
    Ok(spread)
}
