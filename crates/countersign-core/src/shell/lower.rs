//! The walk over the syntax tree: every simple command, wherever it stands, becomes a [`Part`].

mod rounds;

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::{
    AndOr, AndOrList, CaseClauseCommand, Command, CompoundCommand, CompoundList,
    FunctionDefinition, IfClauseCommand, Pipeline, RedirectList, SeparatorOperator,
};

use super::guard::{self, Size};
use super::judge::Judgement;
use super::state::State;
use super::syntax::{self, Source};
use super::word::{self, Mode};
use super::{Context, Finding, Floor, Part, Word, floor, raw};
use crate::{Effect, Target};

/// Texts inside texts: substitutions, `sh -c`.
const MAX_DEPTH: usize = 8;
/// All such texts together.
const MAX_TEXTS: usize = 100;
/// Simple commands looked at, rounds of loops included.
const MAX_STEPS: usize = 1_000;
/// Rounds of a `for` loop that are followed one by one.
const MAX_ROUNDS: usize = 16;
/// The parser needs up to 5 kB of stack per level, and the guard admits 512 of them.
const STACK: usize = 16 * 1024 * 1024;

/// Reads an admitted text; any failure is an opaque effect.
pub(super) fn run(
    command: &str,
    size: Size,
    context: &Context<'_>,
    floors: &mut Vec<Floor>,
) -> (Vec<Part>, Vec<Effect>) {
    let read = || {
        let mut lowering = Lowering::new(context);
        lowering.text(command, State::at_start(context));
        lowering
    };
    let lowered = match size {
        Size::Small => catch_unwind(AssertUnwindSafe(read)).ok(),
        Size::Large => on_own_thread(read),
    };
    let Some(lowered) = lowered else {
        floors.extend(raw::floors(command, context));
        return (Vec::new(), vec![opaque("it could not be read")]);
    };
    floors.extend(lowered.floors);
    if lowered.texts > MAX_TEXTS {
        floors.extend(raw::floors(command, context));
    }
    let effects = lowered.parts.iter().flat_map(|part| part.effects.clone()).collect();
    (lowered.parts, effects)
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

/// What is known after a command, by how it ended.
pub(super) struct After {
    pub(super) ok: State,
    pub(super) failed: State,
}

impl After {
    fn either(self) -> State {
        self.ok.or(self.failed)
    }
}

impl From<State> for After {
    fn from(state: State) -> Self {
        Self { ok: state.clone(), failed: state }
    }
}

/// A part in the making.
pub(super) struct Draft {
    text: String,
    pub(super) effects: Vec<Effect>,
    /// Why it cannot be proven, whatever the program is.
    problems: Vec<String>,
    /// What it gets on its standard input, if the text says so.
    pub(super) input: Option<String>,
}

impl Draft {
    pub(super) fn new(text: String) -> Self {
        Self { text, effects: Vec::new(), problems: Vec::new(), input: None }
    }

    pub(super) fn opaque(&mut self, why: impl Into<String>) {
        self.problems.push(why.into());
    }

    /// The same, on a condition.
    pub(super) fn opaque_if(&mut self, is: bool, why: &str) {
        if is {
            self.opaque(why);
        }
    }

    fn into_part(mut self, judged: Judgement, tainted: Option<&str>) -> Part {
        let mut finding = judged.finding;
        self.effects.extend(judged.effects);
        if finding == Finding::ReadOnly && !self.effects.iter().all(Effect::is_read_only) {
            finding = Finding::Changes;
        }
        if let (Some(what), Finding::ReadOnly | Finding::Changes) = (tainted, &finding) {
            self.problems.push(format!("{what} comes before it and may change what it means"));
        }
        self.effects.extend(self.problems.iter().map(opaque));
        if let Some(why) = self.problems.into_iter().next() {
            finding = Finding::Unproven { why };
        }
        Part {
            text: self.text,
            wrappers: judged.wrappers,
            argv: judged.argv,
            program: judged.program,
            effects: self.effects,
            finding,
        }
    }
}

/// The walk: what it has found so far.
pub(super) struct Lowering<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) parts: Vec<Part>,
    pub(super) floors: Vec<Floor>,
    /// Whether the command that was just judged runs text that it is given.
    pub(super) runs_text: bool,
    depth: usize,
    texts: usize,
    steps: usize,
}

impl<'a> Lowering<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        let (parts, floors) = (Vec::new(), Vec::new());
        Self { context, parts, floors, runs_text: false, depth: 0, texts: 0, steps: 0 }
    }

    /// Reads a whole text: the command line, a substitution, the argument of `sh -c`.
    pub(super) fn text(&mut self, text: &str, state: State) -> State {
        self.texts += 1;
        if self.texts > MAX_TEXTS + 1 {
            // Said once, by the part of the text before.
            return state;
        }
        if self.depth >= MAX_DEPTH || self.texts > MAX_TEXTS {
            return self.unread(text, "it is nested too deeply to be read".to_owned(), state);
        }
        let parsed = guard::admit(text).and_then(|_| syntax::parse(text));
        match parsed {
            Err(why) => self.unread(text, why, state),
            Ok(program) => {
                self.depth += 1;
                let source = Source::new(text);
                let lists = program.complete_commands.iter();
                let state = lists.fold(state, |state, list| self.list(list, &source, state));
                self.depth -= 1;
                state
            }
        }
    }

    /// Keeps a text that was not understood as a part, and looks for floors in its tokens.
    fn unread(&mut self, text: &str, why: String, mut state: State) -> State {
        self.floors.extend(raw::floors(text, self.context));
        self.push(Draft::new(text.trim().to_owned()), Judgement::unproven(Vec::new(), why), &state);
        state.taint("something that could not be read");
        state.leave();
        state
    }

    pub(super) fn push(&mut self, mut draft: Draft, judged: Judgement, state: &State) {
        if let Finding::Unproven { why } = &judged.finding
            && judged.effects.is_empty()
        {
            draft.effects.push(opaque(why));
        }
        let part = draft.into_part(judged, state.tainted.as_deref());
        self.floors.extend(floor::of_effects(&part.effects, &part.argv, self.context));
        self.parts.push(part);
    }

    /// Expands a word, judges the commands in it, and notes why it is not understood.
    pub(super) fn word(&mut self, raw: &str, mode: Mode, draft: &mut Draft, state: &State) -> Word {
        let expansion = word::expand(raw, mode, state);
        for inner in &expansion.inner {
            self.text(inner, state.clone());
        }
        if let Some(why) = expansion.opaque {
            self.floors.extend(floor::of_variable(raw));
            draft.opaque(why);
        }
        expansion.word
    }

    /// Returns where a path leads from every folder the shell may be in.
    pub(super) fn targets(&self, path: &str, state: &State) -> Result<Vec<Target>, String> {
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

    fn list(&mut self, list: &CompoundList, source: &Source<'_>, state: State) -> State {
        list.0.iter().fold(state, |state, item| {
            let first = self.parts.len();
            let after = self.and_or(&item.0, source, state.clone()).either();
            if matches!(item.1, SeparatorOperator::Async) {
                self.in_background(first);
                return state;
            }
            after
        })
    }

    fn in_background(&mut self, first: usize) {
        for part in self.parts.iter_mut().skip(first) {
            part.effects.push(Effect::RunsLater { what: part.text.clone() });
            if part.finding == Finding::ReadOnly {
                let why = "it keeps running in the background".to_owned();
                part.finding = Finding::Unproven { why };
            }
        }
    }

    fn and_or(&mut self, list: &AndOrList, source: &Source<'_>, state: State) -> After {
        let mut after = self.pipeline(&list.first, source, state);
        for next in &list.additional {
            match next {
                AndOr::And(next) => {
                    let then = self.pipeline(next, source, after.ok);
                    after = After { ok: then.ok, failed: after.failed.or(then.failed) };
                }
                AndOr::Or(next) => {
                    let then = self.pipeline(next, source, after.failed);
                    after = After { ok: after.ok.or(then.ok), failed: then.failed };
                }
            }
        }
        after
    }

    /// The commands of a pipeline run in shells of their own, unless there is but one.
    fn pipeline(&mut self, pipeline: &Pipeline, source: &Source<'_>, state: State) -> After {
        let outer = std::mem::replace(&mut self.runs_text, false);
        let (first, before) = (self.parts.len(), state.clone());
        let after = match pipeline.seq.as_slice() {
            [only] => {
                let After { ok, failed } = self.command(only, source, state);
                if pipeline.bang { After { ok: failed, failed: ok } } else { After { ok, failed } }
            }
            several => {
                for command in several {
                    self.command(command, source, state.clone());
                }
                state.into()
            }
        };
        self.floors.extend(self.fed_by_pipe(first, &before));
        if self.runs_text {
            let written: Vec<_> = pipeline.seq.iter().map(|command| source.of(command)).collect();
            self.floors.extend(raw::floors(&written.join(" | "), self.context));
        }
        self.runs_text = outer;
        after
    }

    /// `echo / | xargs rm -rf`: what is written on one side is removed on the other.
    fn fed_by_pipe(&self, first: usize, state: &State) -> Option<Floor> {
        let parts = self.parts.get(first..).unwrap_or_default();
        let told = parts.iter().flat_map(|part| match part.argv.split_first() {
            Some((head, args)) if matches!(head.shown(), "echo" | "printf" | "ls") => args,
            Some((head, args)) if head.shown() == "find" && !floor::narrows(args) => args,
            _ => &[],
        });
        let told: Vec<_> = told.cloned().collect();
        let takes = |part: &&Part| part.wrappers.iter().any(|wrapper| wrapper == "xargs");
        parts.iter().filter(takes).find_map(|part| self.fed(&part.argv, &told, state))
    }

    fn command(&mut self, command: &Command, source: &Source<'_>, state: State) -> After {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            let draft = Draft::new(source.of(command));
            self.floors.extend(raw::floors(&draft.text, self.context));
            let judged = Judgement::unproven(Vec::new(), "there are too many commands".to_owned());
            self.push(draft, judged, &state);
            return state.into();
        }
        match command {
            Command::Simple(simple) => self.simple(simple, source, state),
            Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref(), &state);
                self.compound(compound, source, state).into()
            }
            Command::Function(function) => self.function(function, source, state).into(),
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref(), &state);
                let mut draft = Draft::new(source.of(test));
                self.test(&test.expr, &mut draft, &state);
                self.push(draft, Judgement::read_only(vec![Word::plain("[[")]), &state);
                state.into()
            }
        }
    }

    /// The redirections of a whole block are a part of their own, if they do anything.
    fn redirects(&mut self, redirects: Option<&RedirectList>, state: &State) {
        let Some(redirects) = redirects else { return };
        let mut draft = Draft::new(redirects.to_string().trim().to_owned());
        for redirect in &redirects.0 {
            self.redirect(redirect, &mut draft, state);
        }
        if !draft.effects.is_empty() || !draft.problems.is_empty() {
            self.push(draft, Judgement::read_only(Vec::new()), state);
        }
    }

    pub(super) fn subshell(&mut self, list: &CompoundList, state: &State) {
        let source = Source::new("");
        self.list(list, &source, state.clone());
    }

    fn compound(&mut self, compound: &CompoundCommand, source: &Source<'_>, state: State) -> State {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, source, state),
            CompoundCommand::Subshell(shell) => {
                self.list(&shell.list, source, state.clone());
                state
            }
            CompoundCommand::IfClause(clause) => self.branches(clause, source, state),
            CompoundCommand::CaseClause(case) => self.case(case, source, state),
            CompoundCommand::ForClause(clause) => self.for_each(clause, source, state),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => self
                .rounds(&state, |it, state| {
                    let state = it.list(&clause.0, source, state);
                    it.list(&clause.1.list, source, state)
                }),
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value, &state);
                state
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let expressions = [&clause.initializer, &clause.condition, &clause.updater];
                for expression in expressions.into_iter().flatten() {
                    self.arithmetic(&expression.value, &state);
                }
                self.rounds(&state, |it, state| it.list(&clause.body.list, source, state))
            }
            CompoundCommand::Coprocess(coprocess) => {
                let why = "it keeps running beside what follows".to_owned();
                let draft = Draft::new(source.of(coprocess));
                self.push(draft, Judgement::unproven(Vec::new(), why), &state);
                self.command(&coprocess.body, source, state.clone());
                state
            }
        }
    }

    fn branches(&mut self, clause: &IfClauseCommand, source: &Source<'_>, state: State) -> State {
        let asked = self.list(&clause.condition, source, state);
        let mut end = self.list(&clause.then, source, asked.clone());
        let mut before = asked;
        for other in clause.elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                before = self.list(condition, source, before);
            }
            end = end.or(self.list(&other.body, source, before.clone()));
        }
        end.or(before)
    }

    fn case(&mut self, case: &CaseClauseCommand, source: &Source<'_>, state: State) -> State {
        let mut draft = Draft::new(format!("case {}", case.value.value));
        self.word(&case.value.value, Mode::Pattern, &mut draft, &state);
        for pattern in case.cases.iter().flat_map(|item| &item.patterns) {
            self.word(&pattern.value, Mode::Pattern, &mut draft, &state);
        }
        if !draft.problems.is_empty() {
            self.push(draft, Judgement::read_only(Vec::new()), &state);
        }
        let bodies = case.cases.iter().filter_map(|item| item.cmd.as_ref());
        // An arm may run after another one (`;&`), so each starts from all that went before.
        bodies.fold(state, |before, body| before.clone().or(self.list(body, source, before)))
    }

    /// The body is judged where it is defined; whoever calls it is not followed.
    fn function(
        &mut self,
        function: &FunctionDefinition,
        source: &Source<'_>,
        state: State,
    ) -> State {
        let name = &function.fname.value;
        let text = source.of(function);
        self.floors.extend(floor::of_function(name, &text));
        let why = format!("it defines the function `{name}`");
        self.push(Draft::new(text), Judgement::unproven(Vec::new(), why), &state);
        let mut after = state;
        after.taint(&format!("the function `{name}`"));
        self.redirects(function.body.1.as_ref(), &after);
        self.compound(&function.body.0, source, after.clone());
        after.leave();
        after
    }
}
