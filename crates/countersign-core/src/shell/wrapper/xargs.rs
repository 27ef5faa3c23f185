//! `xargs`, which adds words from its input to a command.

use super::super::{Value, Word};
use super::{Unwrapped, skip_options};

/// `xargs` adds words that nobody knows.
pub(super) fn unwrap(args: &[Word]) -> Unwrapped {
    let flags =
        "-0 -r -t -x -o -p --null --no-run-if-empty --verbose --exit --open-tty --interactive";
    let values =
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars";
    let rest = match skip_options(args, flags, values) {
        Ok(rest) => rest,
        Err(why) => return Unwrapped::Unclear(why),
    };
    let options = args.get(..args.len() - rest.len()).unwrap_or_default();
    let marks = marks(options);
    let reads_list = options
        .iter()
        .any(|word| word.shown().starts_with("-a") || word.shown().starts_with("--arg"));
    let mut inner: Vec<_> = rest.iter().map(|word| filled(word, &marks)).collect();
    if inner.is_empty() {
        inner.push(Word::plain("echo"));
    }
    inner.push(Word::unknown_many("…"));
    let asks = options
        .iter()
        .any(|word| matches!(word.shown(), "-p" | "-o" | "--interactive" | "--open-tty"));
    let adds = (reads_list || asks).then_some("where it takes its words from is not followed");
    Unwrapped::Command { inner, given: Vec::new(), adds }
}

/// The marks that `-I` replaces; the command's own name may hold one too.
fn marks(options: &[Word]) -> Vec<String> {
    let mut words = options.iter().map(Word::shown);
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        match word.find('I').map(|at| word.split_at_checked(at + 1).unwrap_or_default().1) {
            Some("") if word.starts_with('-') => found.extend(words.next().map(str::to_owned)),
            Some(mark) if word.starts_with('-') => found.push(mark.to_owned()),
            _ => {}
        }
    }
    found
}

fn filled(word: &Word, marks: &[String]) -> Word {
    let holds = |text: &str| marks.iter().any(|mark| text.contains(mark.as_str()));
    if word.literal().is_none_or(holds) && !marks.is_empty() {
        return Word { value: Value::Words, expanded: true, ..word.clone() };
    }
    word.clone()
}
