//! Blocks: groups, subshells, branches, functions. Loops are in `loops`.

use brush_parser::ast::{
    CaseClauseCommand, CompoundCommand, CompoundList, FunctionDefinition, IfClauseCommand,
    RedirectList,
};

use super::super::canonical::{CanonicalRedirection, CanonicalScript};
use super::super::command_judgement::CommandJudgement;
use super::super::hard_denial;
use super::super::shell_state::ShellState;
use super::super::syntax::ParsedSource;
use super::super::word::ExpansionMode;
use super::{CommandLowerer, PartDraft};

impl CommandLowerer<'_> {
    /// The redirections of a whole block are a part of their own, if they do anything.
    pub(super) fn redirects(
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

    pub(crate) fn subshell(&mut self, list: &CompoundList, state: &ShellState) {
        let source = ParsedSource::new("");
        self.list(list, &source, state.clone());
    }

    pub(super) fn compound(
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
    pub(super) fn function(
        &mut self,
        function: &FunctionDefinition,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> ShellState {
        let name = &function.fname.value;
        let text = source.node_text(function);
        self.denials.extend(hard_denial::check_function(name, &text));
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
