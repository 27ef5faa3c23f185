//! The walk over the syntax tree: every simple command, wherever it stands, becomes a [`CommandPart`].

mod compound;
mod loops;
mod part_draft;
mod sequence;
mod xargs_names;

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::Command;

pub(super) use self::part_draft::PartDraft;
pub(super) use self::sequence::ExitStates;
use super::canonical::CanonicalScript;
use super::command_judgement::CommandJudgement;
use super::quoted_document;
use super::shell_state::ShellState;
use super::syntax::{self, ParsedSource};
use super::text_guard::{self, StackDemand};
use super::{
    CommandPart, CommandWord, HardDenial, PartFinding, ShellContext, hard_denial, raw_tokens,
};
use crate::{Effect, EffectTarget};

/// Texts inside texts: substitutions, `sh -c`.
const MAX_DEPTH: usize = 8;
/// All such texts together.
const MAX_TEXTS: usize = 100;
/// Simple commands looked at, rounds of loops included.
const MAX_STEPS: usize = 1_000;
/// Rounds of a `for` loop, which are followed one by one.
const MAX_ROUNDS: usize = 64;
/// The parser needs up to 5 kB of stack per level, and the guard admits 512 of them.
const STACK: usize = 16 * 1024 * 1024;

/// What came out of reading a text.
pub(super) struct LoweredCommand {
    pub(super) parts: Vec<CommandPart>,
    pub(super) effects: Vec<Effect>,
    /// Its canonical form, or why it has none.
    pub(super) script: Result<CanonicalScript, String>,
}

impl LoweredCommand {
    /// Returns the reading of a text that was not understood.
    pub(super) fn opaque(why: String) -> Self {
        Self { parts: Vec::new(), effects: vec![opaque(&why)], script: Err(why) }
    }
}

/// Reads an admitted text; any failure is an opaque effect.
pub(super) fn lower_command(
    command: &str,
    size: StackDemand,
    context: &ShellContext<'_>,
    denials: &mut Vec<HardDenial>,
) -> LoweredCommand {
    let read = || {
        let mut lowering = CommandLowerer::new(context);
        let (_, script) = lowering.lower_text(command, ShellState::for_context(context));
        (lowering, script)
    };
    let lowered = match size {
        StackDemand::Small => catch_unwind(AssertUnwindSafe(read)).ok(),
        StackDemand::Large => on_own_thread(read),
    };
    let Some((lowered, script)) = lowered else {
        denials.extend(raw_tokens::find_denials(command, context));
        return LoweredCommand::opaque("it could not be read".to_owned());
    };
    denials.extend(lowered.denials);
    if lowered.texts > MAX_TEXTS {
        denials.extend(raw_tokens::find_denials(command, context));
    }
    let effects = lowered.parts.iter().flat_map(|part| part.effects.clone()).collect();
    LoweredCommand {
        parts: lowered.parts,
        effects,
        script: lowered.inexpressible.map_or(Ok(script), Err),
    }
}

fn on_own_thread<T: Send>(read: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        builder.spawn_scoped(scope, read).ok()?.join().ok()
    })
}

fn opaque(why: impl Into<String>) -> Effect {
    Effect::Opaque { why: why.into() }
}

/// The walk: what it has found so far.
pub(super) struct CommandLowerer<'a> {
    pub(super) context: &'a ShellContext<'a>,
    pub(super) parts: Vec<CommandPart>,
    pub(super) denials: Vec<HardDenial>,
    /// Whether the command that was just judged runs text that it is given.
    pub(super) runs_text: bool,
    /// Why the canonical language cannot express the text, if it cannot.
    pub(super) inexpressible: Option<String>,
    depth: usize,
    texts: usize,
    steps: usize,
}

impl<'a> CommandLowerer<'a> {
    fn new(context: &'a ShellContext<'a>) -> Self {
        let (parts, denials) = (Vec::new(), Vec::new());
        let inexpressible = None;
        Self {
            context,
            parts,
            denials,
            runs_text: false,
            inexpressible,
            depth: 0,
            texts: 0,
            steps: 0,
        }
    }

    /// Notes that the canonical language lacks something; the first such reason is kept.
    pub(super) fn cannot_express(&mut self, why: impl Into<String>) {
        self.inexpressible.get_or_insert_with(|| why.into());
    }

    /// Reads a whole text: the command line, a substitution, the argument of `sh -c`.
    pub(super) fn lower_text(
        &mut self,
        text: &str,
        state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        self.texts += 1;
        if self.texts > MAX_TEXTS + 1 {
            // Said once, by the part of the text before.
            self.cannot_express("it is nested too deeply to be read");
            return (state, CanonicalScript::no_op());
        }
        if self.depth >= MAX_DEPTH || self.texts > MAX_TEXTS {
            return self.lower_unparsed(
                text,
                "it is nested too deeply to be read".to_owned(),
                state,
            );
        }
        let text = &*quoted_document::inline_quoted_documents(text);
        let parsed = text_guard::admit(text).and_then(|_| syntax::parse(text));
        match parsed {
            Err(why) => self.lower_unparsed(text, why, state),
            Ok(program) => {
                self.depth += 1;
                let source = ParsedSource::new(text);
                let mut state = state;
                let mut scripts = Vec::new();
                for list in &program.complete_commands {
                    let script;
                    (state, script) = self.list(list, &source, state);
                    scripts.push(script);
                }
                self.depth -= 1;
                (state, CanonicalScript::in_sequence(scripts))
            }
        }
    }

    /// Keeps a text that was not understood as a part, and looks for denials in its tokens.
    fn lower_unparsed(
        &mut self,
        text: &str,
        why: String,
        mut state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        self.denials.extend(raw_tokens::find_denials(text, self.context));
        self.cannot_express(why.clone());
        self.push(
            PartDraft::new(text.trim().to_owned()),
            CommandJudgement::unproven(Vec::new(), why),
            &state,
        );
        state.taint("something that could not be read");
        state.leave();
        (state, CanonicalScript::no_op())
    }

    pub(super) fn push(
        &mut self,
        mut draft: PartDraft,
        judged: CommandJudgement,
        state: &ShellState,
    ) {
        if let PartFinding::Unproven { why } = &judged.finding
            && judged.effects.is_empty()
        {
            draft.effects.push(opaque(why));
        }
        let part = draft.into_part(judged, state.tainted.as_deref());
        self.denials.extend(hard_denial::check_effects(&part.effects, &part.argv, self.context));
        self.parts.push(part);
    }

    /// Returns where a path leads from every folder the shell may be in.
    pub(super) fn targets(
        &self,
        path: &str,
        state: &ShellState,
    ) -> Result<Vec<EffectTarget>, String> {
        let folders = match &state.folders {
            Some(folders) => folders.as_slice(),
            None if path.starts_with('/') => &[],
            None => return Err(format!("in which folder `{path}` lies is unknown")),
        };
        let root = [std::path::PathBuf::from("/")];
        let folders = if path.starts_with('/') { &root } else { folders };
        let found = folders.iter().map(|folder| self.context.machine.target(folder, path));
        found.collect::<Option<_>>().ok_or_else(|| format!("where `{path}` leads is unknown"))
    }

    fn command(
        &mut self,
        command: &Command,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            let draft = PartDraft::new(source.node_text(command));
            self.denials.extend(raw_tokens::find_denials(&draft.text, self.context));
            self.cannot_express("there are too many commands");
            let judged =
                CommandJudgement::unproven(Vec::new(), "there are too many commands".to_owned());
            self.push(draft, judged, &state);
            return (state.into(), CanonicalScript::no_op());
        }
        match command {
            Command::Simple(simple) => self.simple(simple, source, state),
            Command::Compound(compound, redirects) => {
                let redirections = self.redirects(redirects.as_ref(), &state);
                let (state, script) = self.compound(compound, source, state);
                (state.into(), script.with_redirections(redirections))
            }
            Command::Function(function) => {
                self.cannot_express("it defines a function");
                let state = self.function(function, source, state);
                (state.into(), CanonicalScript::no_op())
            }
            Command::ExtendedTest(test, redirects) => {
                let redirections = self.redirects(redirects.as_ref(), &state);
                let mut draft = PartDraft::new(source.node_text(test));
                let script = self.test(&test.expr, &mut draft, &state);
                self.push(
                    draft,
                    CommandJudgement::read_only(vec![CommandWord::from_literal("[[")]),
                    &state,
                );
                (state.into(), script.with_redirections(redirections))
            }
        }
    }
}
