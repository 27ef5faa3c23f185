//! Names that one command finds and `xargs` hands to the next: `find src -name '*.rs' | xargs wc -l`.
//!
//! As it is written, `xargs` splits what it reads at blanks and quotes, so that a file's name may become
//! several words. The canonical form ends the names by NUL on both sides. Then each name is one word and
//! begins as the starting point does: it is neither an option nor a path that leads elsewhere.

use std::ops::Range;

use super::super::canonical::{
    CanonicalCommand, CanonicalRedirection, CanonicalScript, CanonicalWord,
};
use super::super::machine_view::MachineView;
use super::super::read_only_programs::ReadOnlyProof;
use super::super::shell_state::ShellState;
use super::super::{CommandWord, PartFinding, hard_denial, read_only_programs};
use super::CommandLowerer;
use crate::Effect;

/// One command of a pipeline, and the parts that were made of it.
pub(super) struct PipelineStage {
    pub(super) script: CanonicalScript,
    pub(super) parts: Range<usize>,
}

/// What `xargs` is told.
struct XargsCall {
    reads_nul: bool,
    /// Whether it runs its program once, without a name, when it is given none.
    runs_if_empty: bool,
    /// The program it runs, with `{}` for the names.
    command: Vec<CommandWord>,
}

impl CommandLowerer<'_> {
    /// Proves the stages that are given names by the one before them, as far as that can be done.
    pub(super) fn hand_over_names(&mut self, stages: &mut [PipelineStage], state: &ShellState) {
        for at in 1..stages.len() {
            if let Some([finder, taker]) = stages.get_mut(at - 1..=at)
                && state.tainted.is_none()
            {
                self.hand_over(finder, taker, state);
            }
        }
    }

    fn hand_over(
        &mut self,
        finder: &mut PipelineStage,
        taker: &mut PipelineStage,
        state: &ShellState,
    ) -> Option<()> {
        let [search] = self.parts.get(finder.parts.clone())? else { return None };
        let [xargs] = self.parts.get(taker.parts.clone())? else { return None };
        let is_certain = search.finding == PartFinding::ReadOnly
            && xargs.wrappers == ["xargs"]
            && xargs.argv.first().is_some_and(|head| !head.expanded);
        let (finding, taking) = (plain_words(&finder.script)?, plain_words(&taker.script)?);
        let call = XargsCall::read(taking.get(1..)?).filter(|_| is_certain)?;
        let view = MachineView { lowering: self, state };
        let (name, args) = finding.split_first()?;
        let names = read_only_programs::found_names(name.literal()?, args, &call.command, view)?;
        if names.end_by_nul != call.reads_nul {
            return None;
        }
        let mut effects = names.opened;
        if call.runs_if_empty {
            effects.extend(call.effects_without_names(view)?);
        }
        let part = self.parts.get_mut(taker.parts.start)?;
        part.effects = effects;
        part.finding = PartFinding::ReadOnly;
        self.denials.extend(hard_denial::check_effects(&part.effects, &part.argv, self.context));
        if !names.end_by_nul {
            put_words(&mut finder.script, names.words);
            put_words(&mut taker.script, with_nul(&taking));
        }
        Some(())
    }
}

impl XargsCall {
    /// Reads the arguments of `xargs`; none where they say more than is known to be harmless.
    fn read(args: &[CommandWord]) -> Option<Self> {
        let (mut reads_nul, mut runs_if_empty) = (false, true);
        let mut mark = None;
        let mut words = args.iter().peekable();
        while let Some(option) = words.next_if(|word| word.effective_text().starts_with('-')) {
            let mut value = |attached: &str| match attached {
                "" => words.next().and_then(CommandWord::literal).map(str::to_owned),
                attached => Some(attached.to_owned()),
            };
            match option.literal()?.split_at_checked(2)? {
                ("-0", "") | ("--", "null") => reads_nul = true,
                ("-0", "r") | ("-r", "0") => (reads_nul, runs_if_empty) = (true, false),
                ("-r", "") | ("--", "no-run-if-empty") => runs_if_empty = false,
                ("-n", attached) => drop(value(attached).filter(|it| is_number(it))?),
                ("-I", attached) => mark = Some(value(attached)?),
                _ => return None,
            }
        }
        let mut command: Vec<_> = words.cloned().collect();
        if command.is_empty() {
            command.push(CommandWord::from_literal("echo"));
        }
        mark_names(&mut command, mark.as_deref())?;
        // With `-I` it runs once for each line, so never for none.
        Some(Self { reads_nul, runs_if_empty: runs_if_empty && mark.is_none(), command })
    }

    /// Returns what the program does without a name: `grep -r` then searches the whole folder. None if
    /// that is not proven to only read.
    fn effects_without_names(&self, view: MachineView<'_>) -> Option<Vec<Effect>> {
        let words: Vec<_> =
            self.command.iter().filter(|word| word.literal() != Some("{}")).cloned().collect();
        let (program, args) = words.split_first()?;
        match read_only_programs::prove(program.literal()?, args, view) {
            ReadOnlyProof::Reads(effects) => Some(effects),
            ReadOnlyProof::Unproven(_) | ReadOnlyProof::Unlisted => None,
        }
    }
}

/// Puts `{}` where the names will stand; none if that cannot be told.
fn mark_names(command: &mut Vec<CommandWord>, mark: Option<&str>) -> Option<()> {
    let Some(mark) = mark else {
        // A `{}` that `xargs` leaves alone must not be taken for a mark.
        if command.iter().any(|word| word.effective_text().contains("{}")) {
            return None;
        }
        command.push(CommandWord::from_literal("{}"));
        return Some(());
    };
    for word in command {
        match word.literal()? {
            text if text == mark => *word = CommandWord::from_literal("{}"),
            text if text.contains(mark) || text.contains("{}") => return None,
            _ => {}
        }
    }
    Some(())
}

/// Returns the words of a call of `xargs` with names that are ended by NUL.
fn with_nul(written: &[CommandWord]) -> Vec<String> {
    let mut words: Vec<_> = written.iter().map(|word| word.effective_text().to_owned()).collect();
    words.insert(1.min(words.len()), "-0".to_owned());
    words
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the words of a command of which nothing but the words decides what goes through the pipe.
fn plain_words(script: &CanonicalScript) -> Option<Vec<CommandWord>> {
    let CanonicalScript::Command(CanonicalCommand { assignments, words, redirections, .. }) =
        script
    else {
        return None;
    };
    let is_silenced = |it: &CanonicalRedirection| matches!(it, CanonicalRedirection::Write { stream: 2, path, .. } if path == "/dev/null");
    if !assignments.is_empty() || !redirections.iter().all(is_silenced) {
        return None;
    }
    words.iter().map(|word| word.as_literal().map(CommandWord::from_literal)).collect()
}

fn put_words(script: &mut CanonicalScript, texts: Vec<String>) {
    if let CanonicalScript::Command(command) = script {
        command.words = texts.into_iter().map(CanonicalWord::literal).collect();
    }
}
