//! An entry: what a program may be given, as data.

use std::borrow::Cow;

use super::super::CommandWord;
use crate::Effect;
use crate::program_verbs::count_globals;

/// What a program may be given.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the program's file")]
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct ProgramSpec {
    pub(in super::super) names: &'static [&'static str],
    /// The sub-commands it is for, of one or more words; none for the program itself.
    pub(in super::super) commands: &'static [&'static str],
    /// Options that may stand before the sub-command.
    pub(in super::super) globals: &'static str,
    /// Whether it also reads from a service with the person's credentials.
    pub(in super::super) reads_remotely: bool,
    pub(in super::super) options: &'static str,
    pub(in super::super) operands: &'static str,
    /// Options that make the first operand one like the rest (`grep -e`).
    pub(in super::super) first_like_rest: &'static str,
    /// Options that make it read everything below a folder.
    pub(in super::super) walks: &'static str,
    pub(in super::super) walk: FolderWalkKind,
    /// Options that make it look at what the links lead to that it meets.
    pub(in super::super) dereferences: &'static str,
    /// One of these options must be there.
    pub(in super::super) needs: &'static str,
    /// No file of these names may lie in the folder it runs in, or above it in the workspace.
    pub(in super::super) without: &'static [&'static str],
    /// Nothing in the folder it runs in may match one of these patterns.
    pub(in super::super) unless_matched: &'static [&'static str],
    pub(in super::super) option_place: OptionPosition,
    /// Arguments that do not fit leave the question to what is known to change files.
    pub(in super::super) may_change: bool,
    /// Reads the current folder when no path is given.
    pub(in super::super) here: bool,
    pub(in super::super) words: DashWordHandling,
    /// The shell does it itself.
    pub(in super::super) builtin: bool,
    /// Examples, checked by a test.
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are read by the tests"))]
    pub(in super::super) ok: &'static [&'static str],
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are read by the tests"))]
    pub(in super::super) not: &'static [&'static str],
}

/// How a program walks through folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum FolderWalkKind {
    /// Through everything, if it is told to, and through no link.
    Plain,
    /// As `rg` does: always, but for what is hidden or ignored unless it is told to.
    Searches,
    /// As `diff` does: through two folders at once, and through the links in them.
    Compares,
}

/// Where options may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum OptionPosition {
    /// Before, between and behind the operands.
    Anywhere,
    /// Before the first operand; what looks like one behind it is an operand.
    First,
}

/// How an entry takes words with a dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum DashWordHandling {
    /// They are options, and must be listed.
    Listed,
    /// So they are, but every option the program has is harmless: a word that is not known yet may
    /// turn out to be one.
    Any,
    /// They are operands: the program has no options.
    Raw,
}

/// Begins an entry.
pub(in super::super) const fn entry(
    names: &'static [&'static str],
    options: &'static str,
    operands: &'static str,
) -> ProgramSpec {
    ProgramSpec {
        names,
        commands: &[],
        globals: "",
        reads_remotely: false,
        options,
        operands,
        first_like_rest: "",
        walks: "",
        walk: FolderWalkKind::Plain,
        dereferences: "",
        needs: "",
        without: &[],
        unless_matched: &[],
        option_place: OptionPosition::Anywhere,
        may_change: false,
        here: false,
        words: DashWordHandling::Listed,
        builtin: false,
        ok: &[],
        not: &[],
    }
}

impl ProgramSpec {
    pub(in super::super) const fn commands(
        self,
        commands: &'static [&'static str],
        globals: &'static str,
    ) -> Self {
        Self { commands, globals, ..self }
    }

    pub(in super::super) const fn remote_read(self) -> Self {
        Self { reads_remotely: true, ..self }
    }

    pub(in super::super) const fn first_like_rest(self, with: &'static str) -> Self {
        Self { first_like_rest: with, ..self }
    }

    pub(in super::super) const fn walks(self, with: &'static str) -> Self {
        Self { walks: with, ..self }
    }

    pub(in super::super) const fn searches(self) -> Self {
        Self { walk: FolderWalkKind::Searches, ..self }
    }

    pub(in super::super) const fn compares(self) -> Self {
        Self { walk: FolderWalkKind::Compares, ..self }
    }

    pub(in super::super) const fn dereferences(self, with: &'static str) -> Self {
        Self { dereferences: with, ..self }
    }

    pub(in super::super) const fn without(self, files: &'static [&'static str]) -> Self {
        Self { without: files, ..self }
    }

    pub(in super::super) const fn unless_matched(self, patterns: &'static [&'static str]) -> Self {
        Self { unless_matched: patterns, ..self }
    }

    pub(in super::super) const fn options_first(self) -> Self {
        Self { option_place: OptionPosition::First, ..self }
    }

    pub(in super::super) const fn may_change(self) -> Self {
        Self { may_change: true, ..self }
    }

    pub(in super::super) const fn needs(self, one_of: &'static str) -> Self {
        Self { needs: one_of, ..self }
    }

    pub(in super::super) const fn here(self) -> Self {
        Self { here: true, ..self }
    }

    pub(in super::super) const fn any_word(self) -> Self {
        Self { words: DashWordHandling::Any, ..self }
    }

    pub(in super::super) const fn raw(self) -> Self {
        Self { words: DashWordHandling::Raw, ..self }
    }

    pub(in super::super) const fn builtin(self) -> Self {
        Self { builtin: true, ..self }
    }

    /// Returns the arguments without the sub-command that this entry is for; none if they have another.
    ///
    /// Options before it are arguments like those behind it.
    pub(in super::super) fn without_command<'a>(
        &self,
        args: &'a [CommandWord],
    ) -> Option<Cow<'a, [CommandWord]>> {
        if self.commands.is_empty() {
            return Some(Cow::Borrowed(args));
        }
        let words: Vec<_> = args.iter().map(CommandWord::effective_text).collect();
        let before = count_globals(&words, self.globals);
        let (globals, rest) = args.split_at_checked(before)?;
        let is_next = |command: &&&str| {
            let mut written = rest.iter();
            let is_it =
                |word: &CommandWord, name: &str| !word.expanded && word.literal() == Some(name);
            command.split(' ').all(|name| written.next().is_some_and(|word| is_it(word, name)))
        };
        let command = self.commands.iter().find(is_next)?;
        let behind = rest.get(command.split(' ').count()..).unwrap_or_default();
        Some(Cow::Owned([globals, behind].concat()))
    }

    /// Returns that it reads from a service, if it does.
    pub(in super::super) fn remote_effect(&self, program: &str) -> Option<Effect> {
        self.reads_remotely.then(|| Effect::RemoteRead { program: program.to_owned() })
    }

    /// Returns whether the arguments look like the way of use that this entry is for.
    pub(in super::super) fn is_meant(&self, args: &[CommandWord]) -> bool {
        let needed = |word: &CommandWord| {
            let text = word.effective_text().split('=').next().unwrap_or_default();
            let bundle = text.starts_with('-') && !text.starts_with("--");
            let is = |need: &str| {
                need == text
                    || (bundle && need.len() == 2 && text.contains(need.trim_start_matches('-')))
            };
            self.needs.split(' ').any(is)
        };
        self.needs.is_empty() || args.iter().any(needed)
    }

    pub(in super::super) const fn ok(self, ok: &'static [&'static str]) -> Self {
        Self { ok, ..self }
    }

    pub(in super::super) const fn not(self, not: &'static [&'static str]) -> Self {
        Self { not, ..self }
    }
}
