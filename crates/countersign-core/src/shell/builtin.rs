//! What the shell does itself: moving about, setting variables, running text.

use super::command_judgement::CommandJudgement;
use super::lower::CommandLowerer;
use super::shell_state::ShellState;
use super::{CommandWord, PartFinding, WordValue, variable, word};
use crate::{Effect, EffectTarget};

/// Builtins that change how later words are read, or run text that they are given.
const TAINTING: &[&str] = &[
    ".",
    "alias",
    "bind",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "enable",
    "eval",
    "fc",
    "getopts",
    "hash",
    "history",
    "let",
    "mapfile",
    "readarray",
    "setopt",
    "shopt",
    "source",
    "suspend",
    "trap",
    "unalias",
    "unsetopt",
    "zmodload",
    "autoload",
    "emulate",
    "zle",
    "vared",
    "sched",
];

/// Builtins that our executor has, and the options of `set` that it knows.
const EXECUTABLE: &[&str] =
    &["cd", "exit", "export", "pwd", "read", "set", "unset", "command", "type"];

/// Names that only a shell has: the executor finds no program of that name, or another one.
const SHELL_ONLY: &[&str] = &[
    "bg", "break", "builtin", "continue", "declare", "dirs", "disown", "exec", "fg", "jobs",
    "local", "logout", "popd", "pushd", "readonly", "return", "shift", "times", "typeset",
    "ulimit", "umask", "wait",
];

/// Returns how many words at the start of a command only say that the shell itself should do it.
pub(super) fn count_prefix_words(words: &[Option<&str>]) -> usize {
    let mut count = 0;
    while let [Some("command" | "builtin"), Some(next), ..] = words.get(count..).unwrap_or_default()
        && !next.starts_with('-')
    {
        count += 1;
    }
    count
}

/// Returns why a command is not part of the canonical language, if it is not.
pub(super) fn explain_inexpressible(words: &[Option<&str>], given: bool) -> Option<String> {
    let (Some(name), arguments) = words.split_first().map(|(name, rest)| (*name, rest))? else {
        return Some("which program runs is decided only when it runs".to_owned());
    };
    let plain = match (name, arguments) {
        ("cd", [Some(folder)]) => !given && !folder.starts_with('-'),
        ("cd" | "exit", [])
        | ("pwd", [] | [Some("-L" | "-P")])
        | ("command", [Some("-v"), Some(_)]) => !given,
        // What is no literal is the code of the command before.
        ("exit", [code]) => !given && code.is_none_or(|it| it.bytes().all(|b| b.is_ascii_digit())),
        // With a variable before it, which is `IFS`, it keeps a line whole.
        ("read", [Some("-r"), names @ ..]) => {
            (names.len() == 1 || (!given && names.len() > 1)) && names.iter().all(Option::is_some)
        }
        ("export" | "unset" | "set", arguments) => !given && arguments.iter().all(Option::is_some),
        ("type", [_, ..]) => {
            !given && arguments.iter().all(|it| it.is_some_and(|name| !name.starts_with('-')))
        }
        (name, _) if EXECUTABLE.contains(&name) => false,
        (name, _) => !SHELL_ONLY.contains(&name) && !TAINTING.contains(&name),
    };
    (!plain).then(|| format!("this form of `{name}` is not run without asking"))
}

impl CommandLowerer<'_> {
    /// Judges a builtin. `None` when the name is none that has to be known here.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        argv: &[CommandWord],
        state: &mut ShellState,
    ) -> Option<CommandJudgement> {
        let operands = argv.get(1..).unwrap_or_default();
        match name {
            "cd" => Some(self.change_folder(argv, operands, state)),
            "pushd" | "popd" => {
                state.leave();
                Some(unproven(argv, "to which folder it moves is not followed"))
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                Some(declare(name, argv, operands, state))
            }
            "set" => Some(options(argv, operands, state)),
            "unset" => Some(unset(argv, operands, state)),
            "read" => Some(read(argv, operands, state)),
            "exit" | "return" | "break" | "continue" | "shift" | "wait" | "jobs" | "times"
            | "dirs" => {
                // With options they name variables (`wait -p`) or run commands (`jobs -x`).
                let plain = operands.iter().all(is_status);
                Some(if plain {
                    CommandJudgement::read_only(argv.to_vec())
                } else {
                    unproven(argv, "it does more than usual")
                })
            }
            "umask" | "ulimit" if operands.is_empty() => {
                Some(CommandJudgement::read_only(argv.to_vec()))
            }
            "command"
                if matches!(operands.first().and_then(CommandWord::literal), Some("-v" | "-V")) =>
            {
                Some(CommandJudgement::read_only(argv.to_vec()))
            }
            _ if TAINTING.contains(&name) => Some(self.tainting(name, argv, operands, state)),
            _ => None,
        }
    }

    fn change_folder(
        &mut self,
        argv: &[CommandWord],
        operands: &[CommandWord],
        state: &mut ShellState,
    ) -> CommandJudgement {
        let mut folders =
            operands.iter().filter(|word| !matches!(word.literal(), Some("-L" | "-P" | "--")));
        let home = CommandWord {
            value: state.variables.get("HOME").cloned().unwrap_or(WordValue::Text),
            ..CommandWord::from_literal("~")
        };
        let target = folders.next().unwrap_or(&home);
        let path = target.literal().filter(|path| !path.starts_with('-') && !path.is_empty());
        // The shell goes up by name, not by folder: after a link that leads elsewhere than it seems.
        let climbs = path.is_some_and(|path| path.split('/').any(|name| name == ".."));
        let found = match (path, folders.next()) {
            (Some(_), None) if climbs && state.linked => {
                Err("which folder is above a link is decided only when it runs".to_owned())
            }
            (Some(path), None) => self.targets(path, state).and_then(|targets| {
                let linked = goes_through_link(path, &targets, state);
                if linked && climbs {
                    return Err("it goes up from a link".to_owned());
                }
                state.linked |= linked;
                Ok(targets)
            }),
            _ => Err("to which folder it moves is decided only when it runs".to_owned()),
        };
        match found {
            Ok(targets) => {
                state.enter(targets.iter().map(|target| target.path.clone()).collect());
                let effects = targets.into_iter().map(Effect::Read).collect();
                CommandJudgement { effects, ..CommandJudgement::read_only(argv.to_vec()) }
            }
            Err(why) => {
                state.leave();
                unproven(argv, &why)
            }
        }
    }

    /// Runs or keeps text: what is known of it is judged, for denials and denials.
    fn tainting(
        &mut self,
        name: &str,
        argv: &[CommandWord],
        operands: &[CommandWord],
        state: &mut ShellState,
    ) -> CommandJudgement {
        let known: Vec<_> = operands.iter().map(CommandWord::effective_text).collect();
        let joined = known.join(" ");
        match name {
            "eval" => drop(self.lower_text(&joined, state.clone()).0),
            "trap" => {
                let text = known.first().copied().unwrap_or_default();
                if !text.starts_with('-') && !text.is_empty() {
                    self.lower_text(text, state.clone());
                }
            }
            _ => {
                for inner in word::substitutions(&joined) {
                    self.lower_text(&inner, state.clone());
                }
            }
        }
        self.runs_text = true;
        state.taint(&format!("`{name}`"));
        state.leave();
        let mut judged =
            unproven(argv, &format!("`{name}` runs text, or changes what later words mean"));
        if name == "trap" {
            judged.effects.push(Effect::RunsLater { what: joined });
        }
        judged
    }
}

/// Whether a path leads elsewhere than its components say.
fn goes_through_link(path: &str, targets: &[EffectTarget], state: &ShellState) -> bool {
    let folders = state.folders.as_deref().unwrap_or_default();
    let seems = folders.iter().map(|folder| crate::normalize_lexically(&folder.join(path)));
    let seems: Vec<_> = seems.collect();
    !targets.iter().all(|target| seems.contains(&target.path))
}

fn is_status(word: &CommandWord) -> bool {
    match word.literal() {
        Some(text) => text.bytes().all(|b| b.is_ascii_digit()),
        None => word.text == "$?",
    }
}

fn unproven(argv: &[CommandWord], why: &str) -> CommandJudgement {
    let mut judged = CommandJudgement::unproven(argv.to_vec(), why.to_owned());
    judged.effects.push(Effect::Opaque { why: why.to_owned() });
    judged
}

/// `export A=b` and its kin. With options, or without words, they do or show more.
fn declare(
    name: &str,
    argv: &[CommandWord],
    operands: &[CommandWord],
    state: &mut ShellState,
) -> CommandJudgement {
    let exports = name == "export";
    let mut judged = CommandJudgement::read_only(argv.to_vec());
    for word in operands {
        let text = word.literal().unwrap_or(&word.text);
        let (variable, value) = match text.split_once('=') {
            Some((variable, value)) => (variable, Some(value)),
            None => (text, None),
        };
        let known = value.filter(|_| word.literal().is_some());
        let free = if exports {
            variable::may_be_given(variable, known)
        } else {
            variable::may_be_set(variable, known)
        };
        let is_name =
            !variable.is_empty() && variable.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !free || !is_name || name == "readonly" {
            judged = unproven(argv, &format!("`{variable}` may steer what later programs do"));
            judged.effects.push(Effect::Env { name: variable.to_owned() });
            state.taint(&format!("the change of `{variable}`"));
            return judged;
        }
        let value = known.map_or(WordValue::Text, |value| WordValue::Literal(value.to_owned()));
        state.variables.insert(variable.to_owned(), value);
    }
    if operands.is_empty() {
        unproven(argv, "it shows every variable, secrets included")
    } else {
        judged
    }
}

/// `set -euo pipefail` and the like.
fn options(
    argv: &[CommandWord],
    operands: &[CommandWord],
    state: &mut ShellState,
) -> CommandJudgement {
    let mut words = operands.iter().map(CommandWord::literal);
    let mut plain = !operands.is_empty();
    while let Some(word) = words.next() {
        let letters = word.and_then(|word| word.strip_prefix(['-', '+'])).unwrap_or("?");
        plain &= !letters.is_empty() && letters.chars().all(|c| "euo".contains(c));
        if letters.contains('o') {
            plain &= matches!(words.next().flatten(), Some("pipefail" | "errexit" | "nounset"));
        }
    }
    if plain {
        return CommandJudgement::read_only(argv.to_vec());
    }
    state.taint("`set`");
    unproven(argv, "it changes the shell, or shows its variables")
}

fn unset(
    argv: &[CommandWord],
    operands: &[CommandWord],
    state: &mut ShellState,
) -> CommandJudgement {
    for word in operands {
        let Some(name) = word.literal().filter(|name| variable::may_be_set(name, None)) else {
            state.taint("`unset`");
            return unproven(argv, "it takes a variable away that may steer later programs");
        };
        // Whether it is empty or not there makes no difference to what it expands to.
        state.variables.insert(name.to_owned(), WordValue::Literal(String::new()));
    }
    CommandJudgement::read_only(argv.to_vec())
}

/// `read -r name …`
fn read(
    argv: &[CommandWord],
    operands: &[CommandWord],
    state: &mut ShellState,
) -> CommandJudgement {
    for word in operands {
        match word.literal() {
            Some("-r" | "-s") => {}
            Some(name) if variable::may_be_set(name, None) && !name.is_empty() => {
                state.variables.insert(name.to_owned(), WordValue::Text);
            }
            _ => {
                state.taint("`read`");
                return unproven(argv, "it sets a variable that may steer later programs");
            }
        }
    }
    CommandJudgement::read_only(argv.to_vec())
}

impl CommandJudgement {
    pub(super) fn is_proven(&self) -> bool {
        matches!(self.finding, PartFinding::ReadOnly | PartFinding::Changes)
    }
}
