//! `xargs`, which adds words from its input to a command.

use super::super::{CommandWord, WordValue};
use super::{UnwrapResult, skip_options};

/// `xargs` adds words that nobody knows.
pub(super) fn unwrap(args: &[CommandWord]) -> UnwrapResult {
    let flags =
        "-0 -r -t -x -o -p --null --no-run-if-empty --verbose --exit --open-tty --interactive";
    let values =
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars";
    let rest = match skip_options(args, flags, values) {
        Ok(rest) => rest,
        Err(why) => return UnwrapResult::Unclear(why),
    };
    let options = args.get(..args.len() - rest.len()).unwrap_or_default();
    let marks = marks(options);
    let reads_list = options.iter().any(|word| {
        word.effective_text().starts_with("-a") || word.effective_text().starts_with("--arg")
    });
    let mut inner: Vec<_> = rest.iter().map(|word| filled(word, &marks)).collect();
    if inner.is_empty() {
        inner.push(CommandWord::from_literal("echo"));
    }
    inner.push(CommandWord::unknown_many("…"));
    let asks = options
        .iter()
        .any(|word| matches!(word.effective_text(), "-p" | "-o" | "--interactive" | "--open-tty"));
    let adds = (reads_list || asks).then_some("where it takes its words from is not followed");
    UnwrapResult::Command { inner, given: Vec::new(), adds }
}

/// The marks that `-I` replaces; the command's own name may hold one too.
fn marks(options: &[CommandWord]) -> Vec<String> {
    let mut words = options.iter().map(CommandWord::effective_text);
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

fn filled(word: &CommandWord, marks: &[String]) -> CommandWord {
    let holds = |text: &str| marks.iter().any(|mark| text.contains(mark.as_str()));
    if word.literal().is_none_or(holds) && !marks.is_empty() {
        return CommandWord { value: WordValue::Words, expanded: true, ..word.clone() };
    }
    word.clone()
}
