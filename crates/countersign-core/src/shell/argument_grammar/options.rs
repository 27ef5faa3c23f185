//! Reading the options of a command by what its program takes.

use super::super::machine_view::MachineView;
use super::super::{CommandWord, WordValue, argument_kinds};
use super::ProgramSpec;
use super::program_spec::{DashWordHandling, OptionPosition};
use crate::Effect;

type RemainingWords<'a, 'b> = &'b mut std::slice::Iter<'a, CommandWord>;

/// The arguments, sorted.
#[derive(Default)]
pub(crate) struct ParsedArguments<'a> {
    pub(crate) options: Vec<String>,
    /// Options with the values they were given.
    pub(super) values: Vec<(String, CommandWord)>,
    pub(crate) operands: Vec<&'a CommandWord>,
    pub(super) effects: Vec<Effect>,
}

impl ParsedArguments<'_> {
    pub(crate) fn has_one_of(&self, options: &str) -> bool {
        options.split(' ').any(|option| self.options.iter().any(|it| it == option))
    }

    /// Returns the values that one of these options was given.
    pub(super) fn values_of<'a>(
        &'a self,
        options: &'a [&str],
    ) -> impl Iterator<Item = &'a CommandWord> {
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

pub(super) fn read_options<'a>(
    entry: &ProgramSpec,
    args: &'a [CommandWord],
    view: MachineView<'_>,
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
                long(entry, text, &mut words, view, &mut given)?;
            }
            WordValue::Literal(text) if text.len() > 1 && text.starts_with('-') => {
                short(entry, text, &mut words, view, &mut given)?;
            }
            WordValue::Literal(_) => given.operands.push(word),
            WordValue::Glob(pattern) if !pattern.starts_with(['-', '*', '?', '[', '\\']) => {
                given.operands.push(word);
            }
            WordValue::Glob(pattern)
                if (entry.words == DashWordHandling::Any || pattern.starts_with("*."))
                    && view.has_no_options() =>
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

fn long(
    entry: &ProgramSpec,
    text: &str,
    rest: RemainingWords<'_, '_>,
    view: MachineView<'_>,
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
        (OptionArity::MaybeValue(kind), Some(value)) => value_of(name, kind, &value, view, given),
        (OptionArity::Values(kinds), attached) => values(kinds, attached, rest, view, given, name),
    }
}

fn short(
    entry: &ProgramSpec,
    text: &str,
    rest: RemainingWords<'_, '_>,
    view: MachineView<'_>,
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
                return value_of(&name, kind, &value, view, given);
            }
            (OptionArity::Values(kinds), attached) => {
                return values(kinds, attached, rest, view, given, &name);
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
    view: MachineView<'_>,
    given: &mut ParsedArguments<'_>,
    name: &str,
) -> Result<(), String> {
    for kind in kinds.split(',') {
        let value = attached.take().or_else(|| rest.next().cloned());
        let value = value.ok_or_else(|| format!("`{name}` lacks its value"))?;
        value_of(name, kind, &value, view, given)?;
    }
    Ok(())
}

fn value_of(
    name: &str,
    kind: &str,
    value: &CommandWord,
    view: MachineView<'_>,
    given: &mut ParsedArguments<'_>,
) -> Result<(), String> {
    if matches!(value.value, WordValue::Words | WordValue::Glob(_)) {
        return Err(format!("`{}` may turn out to be several words", value.text));
    }
    given.effects.extend(argument_kinds::check(kind, value, view)?);
    given.values.push((name.to_owned(), value.clone()));
    Ok(())
}
