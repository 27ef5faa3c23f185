//! Names that one command finds and `xargs` hands to the next: `find src -name '*.rs' | xargs wc -l`.
//!
//! As it is written, `xargs` splits what it reads at blanks and quotes, so that a file's name may become
//! several words. The canonical form ends the names by NUL on both sides. Then each name is one word and
//! begins as the starting point does: it is neither an option nor a path that leads elsewhere.

use std::ops::Range;

use super::super::canonical::{CanonicalCommand, CanonicalScript, CanonicalWord, Redirection};
use super::super::grammar::Eye;
use super::super::state::State;
use super::super::{Finding, Word, floor, table};
use super::Lowering;

/// One command of a pipeline, and the parts that were made of it.
pub(super) struct Stage {
    pub(super) script: CanonicalScript,
    pub(super) parts: Range<usize>,
}

/// What `xargs` is told.
struct XargsCall {
    reads_nul: bool,
    /// The program it runs, with `{}` for the names.
    command: Vec<Word>,
}

impl Lowering<'_> {
    /// Proves the stages that are given names by the one before them, as far as that can be done.
    pub(super) fn hand_over_names(&mut self, stages: &mut [Stage], state: &State) {
        for at in 1..stages.len() {
            if let Some([finder, taker]) = stages.get_mut(at - 1..=at)
                && state.tainted.is_none()
            {
                self.hand_over(finder, taker, state);
            }
        }
    }

    fn hand_over(&mut self, finder: &mut Stage, taker: &mut Stage, state: &State) -> Option<()> {
        let [search] = self.parts.get(finder.parts.clone())? else { return None };
        let [xargs] = self.parts.get(taker.parts.clone())? else { return None };
        let is_certain = search.finding == Finding::ReadOnly
            && xargs.wrappers == ["xargs"]
            && xargs.argv.first().is_some_and(|head| !head.expanded);
        let (finding, taking) = (plain_words(&finder.script)?, plain_words(&taker.script)?);
        let call = XargsCall::read(taking.get(1..)?).filter(|_| is_certain)?;
        let eye = Eye { lowering: self, state };
        let (name, args) = finding.split_first()?;
        let names = table::found_names(name.literal()?, args, &call.command, eye)?;
        if names.end_by_nul != call.reads_nul {
            return None;
        }
        let part = self.parts.get_mut(taker.parts.start)?;
        part.effects = names.opened;
        part.finding = Finding::ReadOnly;
        self.floors.extend(floor::of_effects(&part.effects, &part.argv, self.context));
        if !names.end_by_nul {
            put_words(&mut finder.script, names.words);
            put_words(&mut taker.script, with_nul(&taking));
        }
        Some(())
    }
}

impl XargsCall {
    /// Reads the arguments of `xargs`; none where they say more than is known to be harmless.
    fn read(args: &[Word]) -> Option<Self> {
        let mut reads_nul = false;
        let mut mark = None;
        let mut words = args.iter().peekable();
        while let Some(option) = words.next_if(|word| word.shown().starts_with('-')) {
            let mut value = |attached: &str| match attached {
                "" => words.next().and_then(Word::literal).map(str::to_owned),
                attached => Some(attached.to_owned()),
            };
            match option.literal()?.split_at_checked(2)? {
                ("-0", "" | "r") | ("-r", "0") | ("--", "null") => reads_nul = true,
                ("-r", "") | ("--", "no-run-if-empty") => {}
                ("-n", attached) => drop(value(attached).filter(|it| is_number(it))?),
                ("-I", attached) => mark = Some(value(attached)?),
                _ => return None,
            }
        }
        let mut command: Vec<_> = words.cloned().collect();
        if command.is_empty() {
            command.push(Word::plain("echo"));
        }
        mark_names(&mut command, mark.as_deref())?;
        Some(Self { reads_nul, command })
    }
}

/// Puts `{}` where the names will stand; none if that cannot be told.
fn mark_names(command: &mut Vec<Word>, mark: Option<&str>) -> Option<()> {
    let Some(mark) = mark else {
        // A `{}` that `xargs` leaves alone must not be taken for a mark.
        if command.iter().any(|word| word.shown().contains("{}")) {
            return None;
        }
        command.push(Word::plain("{}"));
        return Some(());
    };
    for word in command {
        match word.literal()? {
            text if text == mark => *word = Word::plain("{}"),
            text if text.contains(mark) || text.contains("{}") => return None,
            _ => {}
        }
    }
    Some(())
}

/// Returns the words of a call of `xargs` with names that are ended by NUL.
fn with_nul(written: &[Word]) -> Vec<String> {
    let mut words: Vec<_> = written.iter().map(|word| word.shown().to_owned()).collect();
    words.insert(1.min(words.len()), "-0".to_owned());
    words
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the words of a command of which nothing but the words decides what goes through the pipe.
fn plain_words(script: &CanonicalScript) -> Option<Vec<Word>> {
    let CanonicalScript::Command(CanonicalCommand { assignments, words, redirections, .. }) =
        script
    else {
        return None;
    };
    let is_silenced = |it: &Redirection| matches!(it, Redirection::Write { stream: 2, path, .. } if path == "/dev/null");
    if !assignments.is_empty() || !redirections.iter().all(is_silenced) {
        return None;
    }
    words.iter().map(|word| word.as_literal().map(Word::plain)).collect()
}

fn put_words(script: &mut CanonicalScript, texts: Vec<String>) {
    if let CanonicalScript::Command(command) = script {
        command.words = texts.into_iter().map(CanonicalWord::literal).collect();
    }
}
