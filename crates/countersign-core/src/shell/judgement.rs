//! One simple command: what it does, and how sure that is.

use std::path::PathBuf;

use super::canonical::CanonicalScript;
use super::command_judgement::CommandJudgement;
use super::hard_denial::{self, DenialContext};
use super::lower::CommandLowerer;
use super::machine_view::MachineView;
use super::portable_text::is_portable;
use super::read_only_programs::{self, ReadOnlyProof};
use super::shell_state::ShellState;
use super::wrapper::{self, ShellDialect, UnwrapResult};
use super::{
    CommandPart, CommandWord, HardDenial, PartFinding, WordValue, program_traits, raw_tokens,
    variable,
};
use crate::Effect;

/// Programs that stand in for others and run whichever version the project asks for.
const MANAGERS: &[&str] = &[
    "asdf",
    "corepack",
    "fnm",
    "mise",
    "nvm",
    "pyenv",
    "rbenv",
    "rtx",
    "rustup",
    "rustup-init",
    "volta",
    "volta-shim",
];

/// Wrappers around wrappers.
const MAX_WRAPPERS: usize = 8;

impl CommandLowerer<'_> {
    /// Judges a command by its words and by what it gets on its standard input.
    pub(super) fn judge(
        &mut self,
        argv: Vec<CommandWord>,
        input: Option<&str>,
        state: &mut ShellState,
    ) -> CommandJudgement {
        self.unwrapped(argv, input, state, MAX_WRAPPERS)
    }

    fn unwrapped(
        &mut self,
        argv: Vec<CommandWord>,
        input: Option<&str>,
        state: &mut ShellState,
        left: usize,
    ) -> CommandJudgement {
        let Some((head, operands)) = argv.split_first() else {
            return CommandJudgement::unproven(argv, "there is no program".to_owned());
        };
        let name = head.literal().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
        let Some(name) = name else {
            self.runs_text = true;
            return exec(argv, None, "which program runs is decided only when it runs".to_owned());
        };
        let scene = DenialContext { context: self.context, folders: state.folders.as_deref() };
        self.denials.extend(hard_denial::check_call(&name, operands, &scene));
        self.denials.extend(hard_denial::check_shutdown(&name, operands));
        let is_path = head.effective_text().contains('/');
        if !is_path && let Some(judged) = self.builtin(&name, &argv, state) {
            return judged.with_head(head);
        }
        match wrapper::unwrap(&name, operands) {
            Some(_) if left == 0 => exec(argv, None, "it is wrapped too often".to_owned()),
            Some(unwrapped) => {
                self.inside(&name, argv.clone(), unwrapped, input, state, left).with_head(head)
            }
            None => self.bare(&name, argv, input, state),
        }
    }

    fn inside(
        &mut self,
        name: &str,
        argv: Vec<CommandWord>,
        unwrapped: UnwrapResult,
        input: Option<&str>,
        state: &mut ShellState,
        left: usize,
    ) -> CommandJudgement {
        match unwrapped {
            UnwrapResult::Unclear(why) => {
                self.runs_text = true;
                if name == "exec" {
                    state.taint("`exec`");
                }
                self.version_or(name, argv, why, state)
            }
            UnwrapResult::Script { text, dialect } => {
                self.script(name, argv, &text, dialect, state)
            }
            UnwrapResult::Command { inner, given, adds } => {
                if name == "xargs" {
                    let fed: Vec<_> = input
                        .unwrap_or_default()
                        .split_whitespace()
                        .map(CommandWord::from_literal)
                        .collect();
                    self.denials.extend(self.check_fed_command(&inner, &fed, state));
                }
                // These run what they are given in the shell itself; others start a program.
                let mut judged = if matches!(name, "command" | "builtin") {
                    self.unwrapped(inner, input, state, left - 1)
                } else {
                    self.unwrapped(inner, input, &mut state.clone(), left - 1)
                };
                if judged.script.take().is_some() {
                    self.cannot_express(format!("`{name}` runs a shell"));
                }
                judged.wrappers.insert(0, name.to_owned());
                for (name, value) in &given {
                    if !variable::may_be_given(name, Some(value)) {
                        judged.effects.push(Effect::Env { name: name.clone() });
                        judged =
                            judged.and_asks(&format!("`{name}` may steer what the program does"));
                    }
                }
                let shell = matches!(name, "command" | "builtin")
                    || self.context.machine.trusted_program(name).is_some();
                let judged = if shell {
                    judged
                } else {
                    judged.and_asks(&format!("`{name}` is not a trusted program"))
                };
                adds.into_iter().fold(judged, CommandJudgement::and_asks)
            }
        }
    }

    /// A text for a shell is read like the command line itself, in a shell that knows no variables.
    fn script(
        &mut self,
        name: &str,
        argv: Vec<CommandWord>,
        text: &CommandWord,
        dialect: ShellDialect,
        state: &mut ShellState,
    ) -> CommandJudgement {
        let Some(text) = text.literal() else {
            self.runs_text = true;
            return exec(
                argv,
                None,
                format!("the text `{name}` runs is decided only when it runs"),
            );
        };
        let first = self.parts.len();
        let mut inner = ShellState::for_context(self.context);
        inner.folders.clone_from(&state.folders);
        inner.linked = state.linked;
        inner.tainted.clone_from(&state.tainted);
        inner.changed.clone_from(&state.changed);
        if dialect == ShellDialect::Other
            || (dialect == ShellDialect::Portable && !is_portable(text))
        {
            self.cannot_express(format!("`{name}` may read its text otherwise than bash does"));
        }
        let (after, script) = self.lower_text(text, inner);
        // What changed on disk stays changed.
        state.changed = state.changed.take().or(after.changed);
        for part in self.parts.iter_mut().skip(first) {
            part.wrappers.insert(0, format!("{name} -c"));
        }
        let script = Some(CanonicalScript::Subshell(Box::new(script)));
        let judged = CommandJudgement { script, ..CommandJudgement::read_only(argv) };
        match self.context.machine.trusted_program(name) {
            Some(program) if dialect != ShellDialect::Other => {
                CommandJudgement { program: Some(program), ..judged }
            }
            _ => {
                judged.and_asks(&format!("`{name}` may read start-up files or trace what it runs"))
            }
        }
    }

    /// A command without wrappers: the table, then what is known to change files, then the rest.
    fn bare(
        &mut self,
        name: &str,
        argv: Vec<CommandWord>,
        input: Option<&str>,
        state: &ShellState,
    ) -> CommandJudgement {
        let operands = argv.get(1..).unwrap_or_default();
        if name == "find" {
            self.found(operands, state);
        }
        let view = MachineView { lowering: self, state };
        let program = match self.trusted(name, argv.first(), state) {
            Ok(program) => program,
            Err(why) => return self.described(name, argv, input, None, Some(why)),
        };
        match read_only_programs::prove(name, operands, view) {
            ReadOnlyProof::Reads(effects) => {
                CommandJudgement { program, effects, ..CommandJudgement::read_only(argv) }
            }
            ReadOnlyProof::Unproven(why) => self.described(name, argv, input, program, Some(why)),
            ReadOnlyProof::Unlisted => {
                match program_traits::file_change_effects(name, operands, view) {
                    Some(effects) => CommandJudgement {
                        program,
                        effects,
                        finding: PartFinding::Changes,
                        ..CommandJudgement::read_only(argv)
                    },
                    None => self.described(name, argv, input, program, None),
                }
            }
        }
    }

    /// The hard denial of a command that gets more words from elsewhere.
    pub(super) fn check_fed_command(
        &self,
        argv: &[CommandWord],
        words: &[CommandWord],
        state: &ShellState,
    ) -> Option<HardDenial> {
        let (head, given) = argv.split_first()?;
        let scene = DenialContext { context: self.context, folders: state.folders.as_deref() };
        let name = head.effective_text().rsplit('/').next().unwrap_or_default();
        let all: Vec<_> = given.iter().chain(words).cloned().collect();
        hard_denial::check_call(name, &all, &scene)
    }

    /// Returns the file behind a name, if it is the machine's own.
    fn trusted(
        &self,
        name: &str,
        head: Option<&CommandWord>,
        state: &ShellState,
    ) -> Result<Option<PathBuf>, String> {
        let head =
            head.filter(|head| !head.expanded).ok_or("which program runs depends on a variable")?;
        let written = head.effective_text();
        if !written.contains('/') && read_only_programs::is_builtin(name) {
            return Ok(None);
        }
        let machine = self.context.machine;
        if self.context.env.iter().any(|(name, _)| name == "PATH") {
            return Err("the call changes where programs are looked up".to_owned());
        }
        if !written.contains('/') && machine.is_missing(name) {
            // The shell says so, and nothing runs.
            return Ok(None);
        }
        let anywhere = || machine.trusted_program(name);
        let found = match state.folders.as_deref() {
            Some([folder]) => machine.trusted_program_in(folder, name),
            _ => anywhere(),
        };
        let found = found
            .ok_or_else(|| format!("`{name}` is not found among the programs that are trusted"))?;
        let real = found.file_name().map(|it| it.to_string_lossy()).unwrap_or_default();
        if MANAGERS.contains(&real.as_ref()) {
            return Err(format!("`{name}` is `{real}`, which runs what the project asks for"));
        }
        if !written.contains('/') {
            return Ok(Some(found));
        }
        let root = std::path::Path::new("/");
        let same = written.starts_with('/')
            && machine.target(root, written).map(|it| it.path)
                == found.to_str().and_then(|it| machine.target(root, it)).map(|it| it.path);
        if same {
            Ok(Some(found))
        } else {
            Err(format!("`{written}` is not the system's `{name}`"))
        }
    }

    /// Everything else runs a program, with what is known of it.
    fn described(
        &mut self,
        name: &str,
        argv: Vec<CommandWord>,
        input: Option<&str>,
        program: Option<PathBuf>,
        why: Option<String>,
    ) -> CommandJudgement {
        let known = program_traits::describe(name, argv.get(1..).unwrap_or_default());
        if program_traits::is_interpreter(&name.to_lowercase()) {
            self.runs_text = true;
            self.denials.extend(
                input
                    .map(|input| raw_tokens::find_denials(input, self.context))
                    .unwrap_or_default(),
            );
        }
        let unseen = program_traits::runs_its_input(name, argv.get(1..).unwrap_or_default());
        let mut judged = exec(argv, program, why.unwrap_or(known.why));
        judged.effects.extend(known.effects);
        // Whoever allows the program has not seen what it runs.
        judged.effects.extend(unseen.then(|| Effect::Opaque {
            why: format!("what `{name}` runs comes in on its standard input"),
        }));
        judged
    }

    /// `bash --version` and its like are no wrappers.
    fn version_or(
        &mut self,
        name: &str,
        argv: Vec<CommandWord>,
        why: String,
        state: &ShellState,
    ) -> CommandJudgement {
        let view = MachineView { lowering: self, state };
        match read_only_programs::prove(name, argv.get(1..).unwrap_or_default(), view) {
            ReadOnlyProof::Reads(effects) => {
                CommandJudgement { effects, ..CommandJudgement::read_only(argv) }
            }
            ReadOnlyProof::Unproven(_) | ReadOnlyProof::Unlisted => exec(argv, None, why),
        }
    }

    /// The commands that `find` runs on what it finds are parts of their own.
    fn found(&mut self, operands: &[CommandWord], state: &ShellState) {
        let is_exec = |word: &&CommandWord| {
            matches!(word.effective_text(), "-exec" | "-execdir" | "-ok" | "-okdir")
        };
        let view = MachineView { lowering: self, state };
        let proven =
            matches!(read_only_programs::prove("find", operands, view), ReadOnlyProof::Reads(_));
        let mut rest = operands.iter();
        while let Some(action) = rest.by_ref().find(is_exec) {
            let words =
                rest.by_ref().take_while(|word| !matches!(word.effective_text(), ";" | "+"));
            let argv: Vec<_> = words.map(as_found).collect();
            let text = argv.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let judged = if proven {
                CommandJudgement::read_only(argv)
            } else {
                let judged = self.unwrapped(argv, None, &mut state.clone(), MAX_WRAPPERS);
                judged.and_asks("on which files it runs is not known")
            };
            let mut judged = judged;
            judged.wrappers.insert(0, format!("find {}", action.effective_text()));
            self.denials.extend(hard_denial::check_effects(
                &judged.effects,
                &judged.argv,
                self.context,
            ));
            let CommandJudgement { wrappers, argv, program, effects, finding, .. } = judged;
            self.parts.push(CommandPart { text, wrappers, argv, program, effects, finding });
        }
    }
}

/// A program is run, and that is all that is known.
fn exec(argv: Vec<CommandWord>, program: Option<PathBuf>, why: String) -> CommandJudgement {
    let shown = argv.iter().map(|word| word.effective_text().to_owned()).collect();
    let mut effects = vec![Effect::Exec { argv: shown, program: program.clone() }];
    if argv.iter().any(|word| matches!(word.value, WordValue::Words)) {
        effects.push(Effect::Opaque { why: why.clone() });
    }
    CommandJudgement { program, effects, ..CommandJudgement::unproven(argv, why) }
}

fn as_found(word: &CommandWord) -> CommandWord {
    if word.effective_text().contains("{}") {
        return CommandWord { value: WordValue::Text, expanded: true, ..word.clone() };
    }
    word.clone()
}
