//! The walk over the syntax tree: every simple command, wherever it stands, becomes a [`CommandPart`].

mod loops;
mod xargs_names;

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast::{
    AndOr, AndOrList, CaseClauseCommand, Command, CompoundCommand, CompoundList,
    FunctionDefinition, IfClauseCommand, Pipeline, PipelineTimed, RedirectList, SeparatorOperator,
};

use self::xargs_names::PipelineStage;
use super::canonical::{CanonicalRedirection, CanonicalScript};
use super::judgement::CommandJudgement;
use super::shell_state::ShellState;
use super::syntax::{self, ParsedSource};
use super::text_guard::{self, StackDemand};
use super::word::ExpansionMode;
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
    floors: &mut Vec<HardDenial>,
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
        floors.extend(raw_tokens::find_denials(command, context));
        return LoweredCommand::opaque("it could not be read".to_owned());
    };
    floors.extend(lowered.floors);
    if lowered.texts > MAX_TEXTS {
        floors.extend(raw_tokens::find_denials(command, context));
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

/// What is known after a command, by how it ended.
pub(super) struct ExitStates {
    pub(super) ok: ShellState,
    pub(super) failed: ShellState,
}

impl ExitStates {
    fn either(self) -> ShellState {
        self.ok.merge(self.failed)
    }
}

impl From<ShellState> for ExitStates {
    fn from(state: ShellState) -> Self {
        Self { ok: state.clone(), failed: state }
    }
}

/// A part in the making.
pub(super) struct PartDraft {
    text: String,
    pub(super) effects: Vec<Effect>,
    /// Why it cannot be proven, whatever the program is.
    problems: Vec<String>,
    /// What it gets on its standard input, if the text says so.
    pub(super) input: Option<String>,
    /// Where its streams lead, in the canonical form.
    pub(super) redirections: Vec<CanonicalRedirection>,
}

impl PartDraft {
    pub(super) fn new(text: String) -> Self {
        Self {
            text,
            effects: Vec::new(),
            problems: Vec::new(),
            input: None,
            redirections: Vec::new(),
        }
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

    fn into_part(mut self, judged: CommandJudgement, tainted: Option<&str>) -> CommandPart {
        let mut finding = judged.finding;
        self.effects.extend(judged.effects);
        if finding == PartFinding::ReadOnly && !self.effects.iter().all(Effect::is_read_only) {
            finding = PartFinding::Changes;
        }
        if let (Some(what), PartFinding::ReadOnly | PartFinding::Changes) = (tainted, &finding) {
            self.problems.push(format!("{what} comes before it and may change what it means"));
        }
        self.effects.extend(self.problems.iter().map(opaque));
        if let Some(why) = self.problems.into_iter().next() {
            finding = PartFinding::Unproven { why };
        }
        CommandPart {
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
pub(super) struct CommandLowerer<'a> {
    pub(super) context: &'a ShellContext<'a>,
    pub(super) parts: Vec<CommandPart>,
    pub(super) floors: Vec<HardDenial>,
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
        let (parts, floors) = (Vec::new(), Vec::new());
        let inexpressible = None;
        Self {
            context,
            parts,
            floors,
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

    /// Keeps a text that was not understood as a part, and looks for floors in its tokens.
    fn lower_unparsed(
        &mut self,
        text: &str,
        why: String,
        mut state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        self.floors.extend(raw_tokens::find_denials(text, self.context));
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
        self.floors.extend(hard_denial::check_effects(&part.effects, &part.argv, self.context));
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

    fn list(
        &mut self,
        list: &CompoundList,
        source: &ParsedSource<'_>,
        mut state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        let mut scripts = Vec::new();
        for item in &list.0 {
            let first = self.parts.len();
            let (after, script) = self.and_or(&item.0, source, state.clone());
            if matches!(item.1, SeparatorOperator::Async) {
                self.cannot_express("it keeps running in the background");
                self.in_background(first);
            } else {
                state = after.either();
            }
            scripts.push(script);
        }
        (state, CanonicalScript::in_sequence(scripts))
    }

    fn in_background(&mut self, first: usize) {
        for part in self.parts.iter_mut().skip(first) {
            part.effects.push(Effect::RunsLater { what: part.text.clone() });
            if part.finding == PartFinding::ReadOnly {
                let why = "it keeps running in the background".to_owned();
                part.finding = PartFinding::Unproven { why };
            }
        }
    }

    fn and_or(
        &mut self,
        list: &AndOrList,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        let (mut after, mut script) = self.pipeline(&list.first, source, state);
        for next in &list.additional {
            match next {
                AndOr::And(next) => {
                    let (then, second) = self.pipeline(next, source, after.ok);
                    after = ExitStates { ok: then.ok, failed: after.failed.merge(then.failed) };
                    script = CanonicalScript::And(Box::new(script), Box::new(second));
                }
                AndOr::Or(next) => {
                    let (then, second) = self.pipeline(next, source, after.failed);
                    after = ExitStates { ok: after.ok.merge(then.ok), failed: then.failed };
                    script = CanonicalScript::Or(Box::new(script), Box::new(second));
                }
            }
        }
        (after, script)
    }

    /// The commands of a pipeline run in shells of their own, unless there is but one.
    fn pipeline(
        &mut self,
        pipeline: &Pipeline,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        let outer = std::mem::replace(&mut self.runs_text, false);
        let (first, before) = (self.parts.len(), state.clone());
        let (after, script) = match pipeline.seq.as_slice() {
            [only] => {
                let (ExitStates { ok, failed }, script) = self.command(only, source, state);
                if pipeline.bang {
                    (ExitStates { ok: failed, failed: ok }, script)
                } else {
                    (ExitStates { ok, failed }, script)
                }
            }
            several => {
                let script = self.stages(several, source, &state);
                // What a stage changed on disk is changed for those that follow.
                let mut state = state;
                state.changed = self.find_changing_part(first).or(state.changed);
                (state.into(), script)
            }
        };
        let script = if pipeline.bang { CanonicalScript::Not(Box::new(script)) } else { script };
        let script = match &pipeline.timed {
            None => script,
            Some(PipelineTimed::Timed(_)) => CanonicalScript::Timed(Box::new(script)),
            Some(_) => {
                self.cannot_express("this form of `time` is not run without asking");
                script
            }
        };
        self.floors.extend(self.fed_by_pipe(first, &before));
        if self.runs_text {
            let written: Vec<_> =
                pipeline.seq.iter().map(|command| source.node_text(command)).collect();
            self.floors.extend(raw_tokens::find_denials(&written.join(" | "), self.context));
        }
        self.runs_text = outer;
        (after, script)
    }

    /// Each of several commands that run at once has the output of the one before as its input.
    fn stages(
        &mut self,
        commands: &[Command],
        source: &ParsedSource<'_>,
        state: &ShellState,
    ) -> CanonicalScript {
        let mut stages = Vec::new();
        for command in commands {
            let first = self.parts.len();
            let (_, script) = self.command(command, source, state.clone());
            stages.push(PipelineStage { script, parts: first..self.parts.len() });
        }
        self.hand_over_names(&mut stages, state);
        CanonicalScript::Pipeline(stages.into_iter().map(|stage| stage.script).collect())
    }

    /// Returns which of the parts from this one on changes files, if one does.
    pub(super) fn find_changing_part(&self, first: usize) -> Option<String> {
        let changes = |part: &&CommandPart| {
            let writes = |effect: &Effect| !effect.changed_targets().is_empty();
            part.finding != PartFinding::ReadOnly || part.effects.iter().any(writes)
        };
        let found = self.parts.get(first..).unwrap_or_default().iter().find(changes);
        found.map(|part| format!("`{}`", part.text))
    }

    /// `echo / | xargs rm -rf`: what is written on one side is removed on the other.
    fn fed_by_pipe(&self, first: usize, state: &ShellState) -> Option<HardDenial> {
        let parts = self.parts.get(first..).unwrap_or_default();
        let told = parts.iter().flat_map(|part| match part.argv.split_first() {
            Some((head, args)) if matches!(head.effective_text(), "echo" | "printf" | "ls") => args,
            Some((head, args))
                if head.effective_text() == "find" && !hard_denial::narrows(args) =>
            {
                args
            }
            _ => &[],
        });
        let told: Vec<_> = told.cloned().collect();
        let takes = |part: &&CommandPart| part.wrappers.iter().any(|wrapper| wrapper == "xargs");
        parts.iter().filter(takes).find_map(|part| self.check_fed_command(&part.argv, &told, state))
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
            self.floors.extend(raw_tokens::find_denials(&draft.text, self.context));
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

    /// The redirections of a whole block are a part of their own, if they do anything.
    fn redirects(
        &mut self,
        redirects: Option<&RedirectList>,
        state: &ShellState,
    ) -> Vec<CanonicalRedirection> {
        let Some(redirects) = redirects else { return Vec::new() };
        let mut draft = PartDraft::new(redirects.to_string().trim().to_owned());
        for redirect in &redirects.0 {
            self.redirect(redirect, &mut draft, state);
        }
        let redirections = std::mem::take(&mut draft.redirections);
        if !draft.effects.is_empty() || !draft.problems.is_empty() {
            self.push(draft, CommandJudgement::read_only(Vec::new()), state);
        }
        redirections
    }

    pub(super) fn subshell(&mut self, list: &CompoundList, state: &ShellState) {
        let source = ParsedSource::new("");
        self.list(list, &source, state.clone());
    }

    fn compound(
        &mut self,
        compound: &CompoundCommand,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list, source, state),
            CompoundCommand::Subshell(shell) => {
                let (after, script) = self.list(&shell.list, source, state.clone());
                let state = ShellState { changed: after.changed, ..state };
                (state, CanonicalScript::Subshell(Box::new(script)))
            }
            CompoundCommand::IfClause(clause) => self.branches(clause, source, state),
            CompoundCommand::CaseClause(case) => {
                self.cannot_express("`case` is not part of what is run without asking");
                (self.case(case, source, state), CanonicalScript::no_op())
            }
            CompoundCommand::ForClause(clause) => self.for_each(clause, source, state),
            CompoundCommand::WhileClause(clause) => self.repeated(clause, false, source, &state),
            CompoundCommand::UntilClause(clause) => self.repeated(clause, true, source, &state),
            CompoundCommand::Arithmetic(arithmetic) => {
                self.cannot_express("arithmetic commands are not run without asking");
                self.arithmetic(&arithmetic.expr.value, &state);
                (state, CanonicalScript::no_op())
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.cannot_express("arithmetic commands are not run without asking");
                let expressions = [&clause.initializer, &clause.condition, &clause.updater];
                for expression in expressions.into_iter().flatten() {
                    self.arithmetic(&expression.value, &state);
                }
                let body = |it: &mut Self, state| it.list(&clause.body.list, source, state);
                (self.rounds(&state, body).0, CanonicalScript::no_op())
            }
            CompoundCommand::Coprocess(coprocess) => {
                let why = "it keeps running beside what follows".to_owned();
                self.cannot_express(why.clone());
                let draft = PartDraft::new(source.node_text(coprocess));
                self.push(draft, CommandJudgement::unproven(Vec::new(), why), &state);
                self.command(&coprocess.body, source, state.clone());
                (state, CanonicalScript::no_op())
            }
        }
    }

    fn branches(
        &mut self,
        clause: &IfClauseCommand,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        let (asked, condition) = self.list(&clause.condition, source, state);
        let (mut end, then) = self.list(&clause.then, source, asked.clone());
        let mut before = asked;
        let mut branches = vec![(condition, then)];
        let mut otherwise = CanonicalScript::no_op();
        let mut closed = false;
        for other in clause.elses.iter().flatten() {
            let condition = match &other.condition {
                Some(condition) => {
                    let script;
                    (before, script) = self.list(condition, source, before);
                    Some(script)
                }
                None => None,
            };
            let (after, body) = self.list(&other.body, source, before.clone());
            end = end.merge(after);
            if let Some(condition) = condition {
                branches.push((condition, body));
            } else {
                otherwise = body;
                closed = true;
            }
        }
        for (condition, then) in branches.into_iter().rev() {
            otherwise = CanonicalScript::If {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
        }
        (if closed { end } else { end.merge(before) }, otherwise)
    }

    fn case(
        &mut self,
        case: &CaseClauseCommand,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> ShellState {
        let mut draft = PartDraft::new(format!("case {}", case.value.value));
        self.words(&case.value.value, ExpansionMode::Single, &mut draft, &state);
        for pattern in case.cases.iter().flat_map(|item| &item.patterns) {
            self.words(&pattern.value, ExpansionMode::Single, &mut draft, &state);
        }
        if !draft.problems.is_empty() {
            self.push(draft, CommandJudgement::read_only(Vec::new()), &state);
        }
        let bodies = case.cases.iter().filter_map(|item| item.cmd.as_ref());
        // An arm may run after another one (`;&`), so each starts from all that went before.
        bodies.fold(state, |before, body| before.clone().merge(self.list(body, source, before).0))
    }

    /// The body is judged where it is defined; whoever calls it is not followed.
    fn function(
        &mut self,
        function: &FunctionDefinition,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> ShellState {
        let name = &function.fname.value;
        let text = source.node_text(function);
        self.floors.extend(hard_denial::check_function(name, &text));
        let why = format!("it defines the function `{name}`");
        self.push(PartDraft::new(text), CommandJudgement::unproven(Vec::new(), why), &state);
        let mut after = state;
        after.taint(&format!("the function `{name}`"));
        self.redirects(function.body.1.as_ref(), &after);
        self.compound(&function.body.0, source, after.clone());
        after.leave();
        after
    }
}
