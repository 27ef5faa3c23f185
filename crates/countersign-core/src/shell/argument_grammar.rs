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
mod program_spec;

pub(super) use folder_walk::describe_unknown_tree;
pub(super) use program_spec::{ProgramSpec, entry};

use std::path::PathBuf;

use program_spec::{DashWordHandling, OptionPosition};

use super::lower::CommandLowerer;
use super::shell_state::ShellState;
use super::{CommandWord, Machine, WordValue, argument_kinds};
use crate::{Effect, EffectTarget};

/// What looks at the machine for an entry.
#[derive(Clone, Copy)]
pub(super) struct MachineView<'a> {
    pub(super) lowering: &'a CommandLowerer<'a>,
    pub(super) state: &'a ShellState,
}

impl MachineView<'_> {
    /// Returns where a word leads that names one path or many.
    pub(super) fn targets(&self, word: &CommandWord) -> Result<Vec<EffectTarget>, String> {
        match &word.value {
            WordValue::Literal(path) => self.lowering.targets(path, self.state),
            WordValue::Glob(pattern) => {
                let mut found = self.pattern_folder_targets(pattern)?;
                found.extend(self.matches(pattern)?);
                Ok(found)
            }
            WordValue::Text | WordValue::Words => {
                Err(format!("what `{}` names is decided only when it runs", word.text))
            }
        }
    }

    /// Returns where a word leads, without the folder that a pattern is looked up in.
    pub(super) fn named_targets(&self, word: &CommandWord) -> Result<Vec<EffectTarget>, String> {
        match &word.value {
            WordValue::Glob(pattern) => self.matches(pattern),
            WordValue::Literal(_) | WordValue::Text | WordValue::Words => self.targets(word),
        }
    }

    /// Returns the folder a pattern is looked up in, whose names it shows.
    pub(super) fn pattern_folder_targets(
        &self,
        pattern: &str,
    ) -> Result<Vec<EffectTarget>, String> {
        let fixed = pattern.find(['*', '?', '[', '\\']).and_then(|at| pattern.get(..at));
        let folder =
            fixed.and_then(|fixed| fixed.rsplit_once('/')).map_or(".", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        self.lowering.targets(folder, self.state)
    }

    /// Returns what a pattern matches now.
    fn matches(&self, pattern: &str) -> Result<Vec<EffectTarget>, String> {
        let unknown = || format!("what `{pattern}` matches is unknown");
        if climbs(pattern) {
            return Err(unknown());
        }
        let mut found = Vec::new();
        for cwd in self.state.folders.as_ref().ok_or_else(unknown)? {
            found.extend(self.lowering.context.machine.matches(cwd, pattern).ok_or_else(unknown)?);
        }
        Ok(found)
    }

    pub(super) fn reads(&self, word: &CommandWord) -> Result<Vec<Effect>, String> {
        Ok(self.targets(word)?.into_iter().map(Effect::Read).collect())
    }

    pub(super) fn machine(&self) -> &dyn Machine {
        self.lowering.context.machine
    }

    /// Returns the folders the command may run in.
    pub(super) fn folders(&self) -> Result<&[PathBuf], String> {
        let unknown = || "in which folder it runs is unknown".to_owned();
        self.state.folders.as_deref().ok_or_else(unknown)
    }

    /// Whether no file's name here starts with a dash: no pattern turns into an option then.
    pub(super) fn has_no_options(&self) -> bool {
        let machine = self.lowering.context.machine;
        let none = |cwd: &PathBuf| machine.matches(cwd, "-*").is_some_and(|found| found.is_empty());
        self.state.folders.as_ref().is_some_and(|folders| folders.iter().all(none))
    }

    fn here(&self) -> Result<Vec<EffectTarget>, String> {
        self.lowering.targets(".", self.state)
    }
}

/// Whether a pattern may lead up: by a `..` behind a wildcard, or because `.*` matches `..`.
fn climbs(pattern: &str) -> bool {
    let mut wild = false;
    pattern.split('/').any(|name| {
        let dots =
            name.strip_prefix('.').is_some_and(|rest| rest.starts_with(['*', '?', '[', '.']));
        wild |= name.contains(['*', '?', '[']);
        wild && dots
    })
}

/// Returns what a program does with these arguments, or why that is not covered by its entry.
pub(super) fn apply(
    entry: &ProgramSpec,
    args: &[CommandWord],
    eye: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    match (entry.operands, args.split_last()) {
        ("test", _) => return argument_kinds::test(args, eye),
        ("test ]", Some((end, args))) if end.literal() == Some("]") => {
            return argument_kinds::test(args, eye);
        }
        ("test ]", _) => return Err("the closing `]` is missing".to_owned()),
        _ => {}
    }
    let given = sort_arguments(entry, args, eye)?;
    if !entry.needs.is_empty() && !given.has_one_of(entry.needs) {
        return Err(format!("only with {} is it known to just read", entry.needs));
    }
    condition(entry, eye)?;
    let mut effects = given.effects.clone();
    let paths = assign(entry, &given, eye, &mut effects)?;
    let paths = if paths.is_empty() && entry.here { eye.here()? } else { paths };
    if entry.here {
        effects.extend(paths.iter().cloned().map(Effect::Read));
    }
    effects.extend(folder_walk::effects(entry, &given, paths, eye)?);
    Ok(effects)
}

/// Checks that no file here makes the program do something else.
fn condition(entry: &ProgramSpec, eye: MachineView<'_>) -> Result<(), String> {
    if entry.without.is_empty() && entry.unless_matched.is_empty() {
        return Ok(());
    }
    for cwd in eye.folders()? {
        let is_met = |pattern: &&str| {
            eye.machine().matches(cwd, pattern).is_none_or(|found| !found.is_empty())
        };
        if let Some(pattern) = entry.unless_matched.iter().find(|pattern| is_met(pattern)) {
            return Err(format!("it may load what matches `{pattern}` here"));
        }
        match eye.machine().has_file_above(cwd, entry.without) {
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
    eye: MachineView<'_>,
) -> Result<ParsedArguments<'a>, String> {
    if entry.words == DashWordHandling::Raw {
        return Ok(ParsedArguments {
            operands: args.iter().collect(),
            ..ParsedArguments::default()
        });
    }
    read_options(entry, args, eye)
}

/// The arguments, sorted.
#[derive(Default)]
pub(super) struct ParsedArguments<'a> {
    pub(super) options: Vec<String>,
    /// Options with the values they were given.
    values: Vec<(String, CommandWord)>,
    pub(super) operands: Vec<&'a CommandWord>,
    effects: Vec<Effect>,
}

impl ParsedArguments<'_> {
    pub(super) fn has_one_of(&self, options: &str) -> bool {
        options.split(' ').any(|option| self.options.iter().any(|it| it == option))
    }

    /// Returns the values that one of these options was given.
    fn values_of<'a>(&'a self, options: &'a [&str]) -> impl Iterator<Item = &'a CommandWord> {
        let fits = |(name, _): &&(String, CommandWord)| options.contains(&name.as_str());
        self.values.iter().filter(fits).map(|(_, value)| value)
    }
}

/// What an option takes.
enum OptionArity {
    Nothing,
    Values(&'static str),
    MaybeValue(&'static str),
}

/// Looks an option up, by its exact name.
fn look_up(options: &'static str, name: &str) -> Option<OptionArity> {
    options.split(' ').find_map(|item| {
        let rest = item.strip_prefix(name)?;
        if rest.is_empty() {
            return Some(OptionArity::Nothing);
        }
        let maybe = rest.strip_prefix("[=").and_then(|kind| kind.strip_suffix(']'));
        maybe
            .map(OptionArity::MaybeValue)
            .or_else(|| rest.strip_prefix('=').map(OptionArity::Values))
    })
}

fn read_options<'a>(
    entry: &ProgramSpec,
    args: &'a [CommandWord],
    eye: MachineView<'_>,
) -> Result<ParsedArguments<'a>, String> {
    let mut given = ParsedArguments::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if entry.option_place == OptionPosition::First && !given.operands.is_empty() {
            given.operands.push(word);
            continue;
        }
        if entry.words != DashWordHandling::Any && may_match_options(word) {
            return Err(format!("`{}` may turn out to be an option", word.text));
        }
        match &word.value {
            WordValue::Literal(text) if text == "--" => {
                given.operands.extend(words.by_ref());
            }
            WordValue::Literal(text) if text.starts_with("--") => {
                long(entry, text, &mut words, eye, &mut given)?;
            }
            WordValue::Literal(text) if text.len() > 1 && text.starts_with('-') => {
                short(entry, text, &mut words, eye, &mut given)?;
            }
            WordValue::Literal(_) => given.operands.push(word),
            WordValue::Glob(pattern) if !pattern.starts_with(['-', '*', '?', '[', '\\']) => {
                given.operands.push(word);
            }
            WordValue::Glob(pattern)
                if (entry.words == DashWordHandling::Any || pattern.starts_with("*."))
                    && eye.has_no_options() =>
            {
                given.operands.push(word);
            }
            WordValue::Glob(pattern) if is_text_option(entry, pattern) => {}
            WordValue::Text | WordValue::Words if entry.words == DashWordHandling::Any => {
                given.operands.push(word);
            }
            WordValue::Glob(_) | WordValue::Text | WordValue::Words => {
                return Err(format!("`{}` may turn out to be an option", word.text));
            }
        }
    }
    Ok(given)
}

/// Whether a name came of a pattern that any name may match, such as that of an option.
fn may_match_options(word: &CommandWord) -> bool {
    word.text.starts_with(['*', '?', '[']) && !word.text.starts_with("*.") && !word.expanded
}

/// `--include=*.rs`: whatever it matches starts the same way, and stays a text for this option.
fn is_text_option(entry: &ProgramSpec, pattern: &str) -> bool {
    let fixed = pattern.find(['*', '?', '[', '\\']).and_then(|at| pattern.get(..at));
    let name = fixed.and_then(|fixed| fixed.split_once('=')).map(|(name, _)| name);
    let takes =
        name.filter(|name| name.starts_with("--")).and_then(|name| look_up(entry.options, name));
    matches!(takes, Some(OptionArity::Values("text") | OptionArity::MaybeValue("text")))
}

type RemainingWords<'a, 'b> = &'b mut std::slice::Iter<'a, CommandWord>;

fn long(
    entry: &ProgramSpec,
    text: &str,
    rest: RemainingWords<'_, '_>,
    eye: MachineView<'_>,
    given: &mut ParsedArguments<'_>,
) -> Result<(), String> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(CommandWord::from_literal(value))),
        None => (text, None),
    };
    let takes = look_up(entry.options, name).ok_or_else(|| unknown(name))?;
    given.options.push(name.to_owned());
    match (takes, attached) {
        (OptionArity::Nothing | OptionArity::MaybeValue(_), None) => Ok(()),
        (OptionArity::Nothing, Some(_)) => Err(unknown(text)),
        (OptionArity::MaybeValue(kind), Some(value)) => value_of(name, kind, &value, eye, given),
        (OptionArity::Values(kinds), attached) => values(kinds, attached, rest, eye, given, name),
    }
}

fn short(
    entry: &ProgramSpec,
    text: &str,
    rest: RemainingWords<'_, '_>,
    eye: MachineView<'_>,
    given: &mut ParsedArguments<'_>,
) -> Result<(), String> {
    let bundle = text.strip_prefix('-').unwrap_or_default();
    if bundle.bytes().all(|b| b.is_ascii_digit()) && look_up(entry.options, "-#").is_some() {
        return Ok(());
    }
    // A long option of one dash (`find`, `java -version`) is listed as such.
    if bundle.len() > 1 && matches!(look_up(entry.options, text), Some(OptionArity::Nothing)) {
        given.options.push(text.to_owned());
        return Ok(());
    }
    let mut chars = bundle.chars();
    while let Some(c) = chars.next() {
        let name = format!("-{c}");
        let takes = look_up(entry.options, &name).ok_or_else(|| unknown(&name))?;
        given.options.push(name.clone());
        let attached =
            Some(chars.as_str()).filter(|it| !it.is_empty()).map(CommandWord::from_literal);
        match (takes, attached) {
            (OptionArity::Nothing, _) | (OptionArity::MaybeValue(_), None) => {}
            (OptionArity::MaybeValue(kind), Some(value)) => {
                return value_of(&name, kind, &value, eye, given);
            }
            (OptionArity::Values(kinds), attached) => {
                return values(kinds, attached, rest, eye, given, &name);
            }
        }
    }
    Ok(())
}

fn unknown(option: &str) -> String {
    format!("`{option}` is not among the options known to be harmless")
}

fn values(
    kinds: &str,
    mut attached: Option<CommandWord>,
    rest: RemainingWords<'_, '_>,
    eye: MachineView<'_>,
    given: &mut ParsedArguments<'_>,
    name: &str,
) -> Result<(), String> {
    for kind in kinds.split(',') {
        let value = attached.take().or_else(|| rest.next().cloned());
        let value = value.ok_or_else(|| format!("`{name}` lacks its value"))?;
        value_of(name, kind, &value, eye, given)?;
    }
    Ok(())
}

fn value_of(
    name: &str,
    kind: &str,
    value: &CommandWord,
    eye: MachineView<'_>,
    given: &mut ParsedArguments<'_>,
) -> Result<(), String> {
    if matches!(value.value, WordValue::Words | WordValue::Glob(_)) {
        return Err(format!("`{}` may turn out to be several words", value.text));
    }
    given.effects.extend(argument_kinds::check(kind, value, eye)?);
    given.values.push((name.to_owned(), value.clone()));
    Ok(())
}

/// Gives each operand its role; returns the paths among them.
fn assign(
    entry: &ProgramSpec,
    given: &ParsedArguments<'_>,
    eye: MachineView<'_>,
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
        effects.extend(argument_kinds::check(kind, word, eye)?);
        if kind == "path" || (kind == "file" && word.literal() != Some("-")) {
            paths.extend(eye.targets(word)?);
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
