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

mod compare;
mod entry;
mod walk;

pub(super) use entry::{Entry, entry};
pub(super) use walk::unseen;

use std::path::PathBuf;

use entry::{OptionPlace, Words};

use super::lower::Lowering;
use super::state::State;
use super::{Machine, Value, Word, script};
use crate::{Effect, Target};

/// What looks at the machine for an entry.
#[derive(Clone, Copy)]
pub(super) struct Eye<'a> {
    pub(super) lowering: &'a Lowering<'a>,
    pub(super) state: &'a State,
}

impl Eye<'_> {
    /// Returns where a word leads that names one path or many.
    pub(super) fn targets(&self, word: &Word) -> Result<Vec<Target>, String> {
        match &word.value {
            Value::Literal(path) => self.lowering.targets(path, self.state),
            Value::Glob(pattern) => {
                let mut found = self.looked_up_in(pattern)?;
                found.extend(self.matches(pattern)?);
                Ok(found)
            }
            Value::Text | Value::Words => {
                Err(format!("what `{}` names is decided only when it runs", word.text))
            }
        }
    }

    /// Returns where a word leads, without the folder that a pattern is looked up in.
    pub(super) fn named(&self, word: &Word) -> Result<Vec<Target>, String> {
        match &word.value {
            Value::Glob(pattern) => self.matches(pattern),
            Value::Literal(_) | Value::Text | Value::Words => self.targets(word),
        }
    }

    /// Returns the folder a pattern is looked up in, whose names it shows.
    pub(super) fn looked_up_in(&self, pattern: &str) -> Result<Vec<Target>, String> {
        let fixed = pattern.find(['*', '?', '[', '\\']).and_then(|at| pattern.get(..at));
        let folder =
            fixed.and_then(|fixed| fixed.rsplit_once('/')).map_or(".", |(folder, _)| folder);
        let folder = if folder.is_empty() { "/" } else { folder };
        self.lowering.targets(folder, self.state)
    }

    /// Returns what a pattern matches now.
    fn matches(&self, pattern: &str) -> Result<Vec<Target>, String> {
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

    pub(super) fn reads(&self, word: &Word) -> Result<Vec<Effect>, String> {
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

    fn here(&self) -> Result<Vec<Target>, String> {
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
pub(super) fn apply(entry: &Entry, args: &[Word], eye: Eye<'_>) -> Result<Vec<Effect>, String> {
    match (entry.operands, args.split_last()) {
        ("test", _) => return script::test(args, eye),
        ("test ]", Some((end, args))) if end.literal() == Some("]") => {
            return script::test(args, eye);
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
    effects.extend(walk::effects(entry, &given, paths, eye)?);
    Ok(effects)
}

/// Checks that no file here makes the program do something else.
fn condition(entry: &Entry, eye: Eye<'_>) -> Result<(), String> {
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
    entry: &Entry,
    args: &'a [Word],
    eye: Eye<'_>,
) -> Result<Given<'a>, String> {
    if entry.words == Words::Raw {
        return Ok(Given { operands: args.iter().collect(), ..Given::default() });
    }
    read_options(entry, args, eye)
}

/// The arguments, sorted.
#[derive(Default)]
pub(super) struct Given<'a> {
    pub(super) options: Vec<String>,
    /// Options with the values they were given.
    values: Vec<(String, Word)>,
    pub(super) operands: Vec<&'a Word>,
    effects: Vec<Effect>,
}

impl Given<'_> {
    pub(super) fn has_one_of(&self, options: &str) -> bool {
        options.split(' ').any(|option| self.options.iter().any(|it| it == option))
    }

    /// Returns the values that one of these options was given.
    fn values_of<'a>(&'a self, options: &'a [&str]) -> impl Iterator<Item = &'a Word> {
        let fits = |(name, _): &&(String, Word)| options.contains(&name.as_str());
        self.values.iter().filter(fits).map(|(_, value)| value)
    }
}

/// What an option takes.
enum Takes {
    Nothing,
    Values(&'static str),
    MaybeValue(&'static str),
}

/// Looks an option up, by its exact name.
fn look_up(options: &'static str, name: &str) -> Option<Takes> {
    options.split(' ').find_map(|item| {
        let rest = item.strip_prefix(name)?;
        if rest.is_empty() {
            return Some(Takes::Nothing);
        }
        let maybe = rest.strip_prefix("[=").and_then(|kind| kind.strip_suffix(']'));
        maybe.map(Takes::MaybeValue).or_else(|| rest.strip_prefix('=').map(Takes::Values))
    })
}

fn read_options<'a>(entry: &Entry, args: &'a [Word], eye: Eye<'_>) -> Result<Given<'a>, String> {
    let mut given = Given::default();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if entry.option_place == OptionPlace::First && !given.operands.is_empty() {
            given.operands.push(word);
            continue;
        }
        if entry.words != Words::Any && may_match_options(word) {
            return Err(format!("`{}` may turn out to be an option", word.text));
        }
        match &word.value {
            Value::Literal(text) if text == "--" => {
                given.operands.extend(words.by_ref());
            }
            Value::Literal(text) if text.starts_with("--") => {
                long(entry, text, &mut words, eye, &mut given)?;
            }
            Value::Literal(text) if text.len() > 1 && text.starts_with('-') => {
                short(entry, text, &mut words, eye, &mut given)?;
            }
            Value::Literal(_) => given.operands.push(word),
            Value::Glob(pattern) if !pattern.starts_with(['-', '*', '?', '[', '\\']) => {
                given.operands.push(word);
            }
            Value::Glob(pattern)
                if (entry.words == Words::Any || pattern.starts_with("*."))
                    && eye.has_no_options() =>
            {
                given.operands.push(word);
            }
            Value::Glob(pattern) if is_text_option(entry, pattern) => {}
            Value::Text | Value::Words if entry.words == Words::Any => given.operands.push(word),
            Value::Glob(_) | Value::Text | Value::Words => {
                return Err(format!("`{}` may turn out to be an option", word.text));
            }
        }
    }
    Ok(given)
}

/// Whether a name came of a pattern that any name may match, such as that of an option.
fn may_match_options(word: &Word) -> bool {
    word.text.starts_with(['*', '?', '[']) && !word.text.starts_with("*.") && !word.expanded
}

/// `--include=*.rs`: whatever it matches starts the same way, and stays a text for this option.
fn is_text_option(entry: &Entry, pattern: &str) -> bool {
    let fixed = pattern.find(['*', '?', '[', '\\']).and_then(|at| pattern.get(..at));
    let name = fixed.and_then(|fixed| fixed.split_once('=')).map(|(name, _)| name);
    let takes =
        name.filter(|name| name.starts_with("--")).and_then(|name| look_up(entry.options, name));
    matches!(takes, Some(Takes::Values("text") | Takes::MaybeValue("text")))
}

type Rest<'a, 'b> = &'b mut std::slice::Iter<'a, Word>;

fn long(
    entry: &Entry,
    text: &str,
    rest: Rest<'_, '_>,
    eye: Eye<'_>,
    given: &mut Given<'_>,
) -> Result<(), String> {
    let (name, attached) = match text.split_once('=') {
        Some((name, value)) => (name, Some(Word::plain(value))),
        None => (text, None),
    };
    let takes = look_up(entry.options, name).ok_or_else(|| unknown(name))?;
    given.options.push(name.to_owned());
    match (takes, attached) {
        (Takes::Nothing | Takes::MaybeValue(_), None) => Ok(()),
        (Takes::Nothing, Some(_)) => Err(unknown(text)),
        (Takes::MaybeValue(kind), Some(value)) => value_of(name, kind, &value, eye, given),
        (Takes::Values(kinds), attached) => values(kinds, attached, rest, eye, given, name),
    }
}

fn short(
    entry: &Entry,
    text: &str,
    rest: Rest<'_, '_>,
    eye: Eye<'_>,
    given: &mut Given<'_>,
) -> Result<(), String> {
    let bundle = text.strip_prefix('-').unwrap_or_default();
    if bundle.bytes().all(|b| b.is_ascii_digit()) && look_up(entry.options, "-#").is_some() {
        return Ok(());
    }
    // A long option of one dash (`find`, `java -version`) is listed as such.
    if bundle.len() > 1 && matches!(look_up(entry.options, text), Some(Takes::Nothing)) {
        given.options.push(text.to_owned());
        return Ok(());
    }
    let mut chars = bundle.chars();
    while let Some(c) = chars.next() {
        let name = format!("-{c}");
        let takes = look_up(entry.options, &name).ok_or_else(|| unknown(&name))?;
        given.options.push(name.clone());
        let attached = Some(chars.as_str()).filter(|it| !it.is_empty()).map(Word::plain);
        match (takes, attached) {
            (Takes::Nothing, _) | (Takes::MaybeValue(_), None) => {}
            (Takes::MaybeValue(kind), Some(value)) => {
                return value_of(&name, kind, &value, eye, given);
            }
            (Takes::Values(kinds), attached) => {
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
    mut attached: Option<Word>,
    rest: Rest<'_, '_>,
    eye: Eye<'_>,
    given: &mut Given<'_>,
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
    value: &Word,
    eye: Eye<'_>,
    given: &mut Given<'_>,
) -> Result<(), String> {
    if matches!(value.value, Value::Words | Value::Glob(_)) {
        return Err(format!("`{}` may turn out to be several words", value.text));
    }
    given.effects.extend(script::check(kind, value, eye)?);
    given.values.push((name.to_owned(), value.clone()));
    Ok(())
}

/// Gives each operand its role; returns the paths among them.
fn assign(
    entry: &Entry,
    given: &Given<'_>,
    eye: Eye<'_>,
    effects: &mut Vec<Effect>,
) -> Result<Vec<Target>, String> {
    let mut roles: Vec<&str> = entry.operands.split(' ').filter(|role| !role.is_empty()).collect();
    if given.has_one_of(entry.first_like_rest) {
        roles.remove(0);
    }
    let mut paths = Vec::new();
    for (word, (kind, many)) in given.operands.iter().zip(spread(&roles, given.operands.len())?) {
        if !many && matches!(word.value, Value::Glob(_) | Value::Words) {
            return Err(format!("`{}` may turn out to be several words", word.text));
        }
        effects.extend(script::check(kind, word, eye)?);
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
