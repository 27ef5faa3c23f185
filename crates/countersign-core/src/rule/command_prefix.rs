//! The start of a command: the words that say what it does, before those that say to what.

use crate::program_verbs::find_verb;

/// Modules of an interpreter are named by its third word.
const WITH_MODULE: &[(&str, &str)] = &[("python", "-m"), ("python3", "-m")];

/// Returns how many words say what a command does.
pub(crate) fn prefix_len(words: &[&str]) -> usize {
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let wanted = if WITH_MODULE.contains(&(first, second)) {
        3
    } else {
        find_verb(words).map_or(1, |verb| verb.words)
    };
    wanted.min(words.len())
}
