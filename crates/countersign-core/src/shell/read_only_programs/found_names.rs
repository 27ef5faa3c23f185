//! Programs that print the names of files, and what another one opens that is given those names.

use super::super::argument_grammar;
use super::super::machine_view::MachineView;
use super::super::{CommandWord, WordValue};
use super::{FORMS, find};
use crate::Effect;

/// Options with which `grep` prints names and nothing else, each as it was found below a folder.
const GREP: &str = "-l -L -r --files-with-matches --files-without-match --recursive -a -e -E -F -G -i -I -n -P -s -v -w -x \
                    --regexp --extended-regexp --fixed-strings --ignore-case --invert-match --word-regexp --line-regexp \
                    --no-messages --include --exclude --exclude-dir --text";

/// The same for `rg`.
const RG: &str = "-l --files-with-matches --files-without-match -e --regexp -F --fixed-strings -g --glob --iglob -i \
                  --ignore-case -n -s -S --smart-case --case-sensitive -t --type -T --type-not -U --multiline -v \
                  --invert-match -w --word-regexp -x --line-regexp --hidden -. --no-messages";

/// Names that a command prints.
pub(in super::super) struct FoundNames {
    /// The command with every name ended by NUL.
    pub(in super::super) words: Vec<String>,
    /// Whether it ends them so as it was written.
    pub(in super::super) end_by_nul: bool,
    /// What is read by the program that is given them.
    pub(in super::super) opened: Vec<Effect>,
}

/// Returns the names that a proven command prints for another one, in which they stand for `{}`.
///
/// None if that is not known for certain, or if the other one does more than read what it is given.
pub(in super::super) fn found_names(
    name: &str,
    args: &[CommandWord],
    taker: &[CommandWord],
    view: MachineView<'_>,
) -> Option<FoundNames> {
    match name {
        "find" => {
            let (rewritten, end_by_nul) = find::end_names_by_nul(args)?;
            let opened = find::reads_of_taker(args, taker, view).ok()?;
            Some(FoundNames { words: with_name(name, rewritten), end_by_nul, opened })
        }
        "grep" | "rg" => searched_names(name, args, taker, view),
        _ => None,
    }
}

/// The files that a search names are among those that it read itself.
fn searched_names(
    name: &str,
    args: &[CommandWord],
    taker: &[CommandWord],
    view: MachineView<'_>,
) -> Option<FoundNames> {
    let entry = FORMS.iter().find(|entry| entry.names.contains(&name))?;
    let given = argument_grammar::sort_arguments(entry, args, view).ok()?;
    let (known, lists) = match name {
        "rg" => (RG, given.has_one_of("-l --files-with-matches --files-without-match")),
        _ => (
            GREP,
            given.has_one_of("-l -L --files-with-matches --files-without-match")
                && given.has_one_of("-r --recursive"),
        ),
    };
    let is_known = |option: &String| known.split_whitespace().any(|it| it == option);
    if !lists || !given.options.iter().all(is_known) {
        return None;
    }
    let patterns = usize::from(!given.has_one_of(entry.first_like_rest));
    let starts: Vec<_> = given.operands.iter().skip(patterns).copied().collect();
    let is_path = |word: &&CommandWord| match &word.value {
        WordValue::Literal(text) => !text.is_empty() && !text.starts_with('-'),
        WordValue::Glob(_) | WordValue::Text | WordValue::Words => false,
    };
    // Below the current folder the names begin with those of its files.
    if !starts.iter().all(is_path) || (starts.is_empty() && !view.has_no_options()) {
        return None;
    }
    let here = CommandWord::from_literal(".");
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    let taker: Vec<_> = taker.iter().collect();
    let opened = find::run_on_found(&taker, &starts, view).ok()?;
    let mut rewritten: Vec<_> = args.iter().map(|word| word.effective_text().to_owned()).collect();
    rewritten.insert(0, "--null".to_owned());
    Some(FoundNames { words: with_name(name, rewritten), end_by_nul: false, opened })
}

fn with_name(name: &str, args: Vec<String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(args).collect()
}
