//! Loops: `for` is unrolled, others are followed until nothing new comes of another round.

use brush_parser::ast::{ForClauseCommand, WhileOrUntilClauseCommand};

use super::super::canonical::{
    CanonicalAssignment, CanonicalCommand, CanonicalScript, CanonicalWord,
};
use super::super::command_judgement::CommandJudgement;
use super::super::shell_state::ShellState;
use super::super::syntax::ParsedSource;
use super::super::word::ExpansionMode;
use super::super::{CommandPart, PartFinding, WordValue, variable};
use super::{CommandLowerer, MAX_ROUNDS, PartDraft};
use crate::Effect;

/// Rounds after which a loop that still changes what is known is given up.
const MAX_PASSES: usize = 8;

impl CommandLowerer<'_> {
    pub(super) fn for_each(
        &mut self,
        clause: &ForClauseCommand,
        source: &ParsedSource<'_>,
        state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        let mut draft = PartDraft::new(format!("for {}", clause.variable_name));
        let mut values = Vec::new();
        for raw in clause.values.iter().flatten() {
            let words = self.words(&raw.value, ExpansionMode::Word, &mut draft, &state);
            values.extend(words.into_iter().map(|word| word.word.value));
        }
        if !variable::may_be_set(&clause.variable_name, None) {
            draft.effects.push(Effect::Env { name: clause.variable_name.clone() });
        }
        let clear = draft.problems.is_empty();
        if !clear || !draft.effects.is_empty() {
            self.push(draft, CommandJudgement::read_only(Vec::new()), &state);
        }
        let known = values.iter().all(|value| matches!(value, WordValue::Literal(_)));
        if !clear || !known || clause.values.is_none() || values.len() > MAX_ROUNDS {
            self.cannot_express("how often its loop runs, and on what, is decided when it runs");
            let name = &clause.variable_name;
            let body = |it: &mut Self, mut state: ShellState| {
                state.variables.insert(name.clone(), WordValue::Text);
                it.list(&clause.body.list, source, state)
            };
            return (self.rounds(&state, body).0, CanonicalScript::no_op());
        }
        self.unrolled(clause, &values, source, state)
    }

    fn unrolled(
        &mut self,
        clause: &ForClauseCommand,
        values: &[WordValue],
        source: &ParsedSource<'_>,
        mut state: ShellState,
    ) -> (ShellState, CanonicalScript) {
        let first = self.parts.len();
        let mut scripts = Vec::new();
        for value in values {
            let start = self.parts.len();
            state.variables.insert(clause.variable_name.clone(), value.clone());
            if let WordValue::Literal(value) = value {
                let name = clause.variable_name.clone();
                let assignments =
                    vec![CanonicalAssignment { name, value: CanonicalWord::literal(value) }];
                let command = CanonicalCommand { assignments, ..CanonicalCommand::default() };
                scripts.push(CanonicalScript::Command(command));
            }
            let script;
            (state, script) = self.list(&clause.body.list, source, state);
            scripts.push(script);
            self.merge_rounds(first, start);
        }
        (state, CanonicalScript::in_sequence(scripts))
    }

    /// `while` and `until`.
    pub(super) fn repeated(
        &mut self,
        clause: &WhileOrUntilClauseCommand,
        until: bool,
        source: &ParsedSource<'_>,
        state: &ShellState,
    ) -> (ShellState, CanonicalScript) {
        let mut asked = CanonicalScript::no_op();
        let (state, body) = self.rounds(state, |it, before| {
            let (state, condition) = it.list(&clause.0, source, before);
            asked = condition;
            it.list(&clause.1.list, source, state)
        });
        let script =
            CanonicalScript::While { condition: Box::new(asked), until, body: Box::new(body) };
        (state, script)
    }

    /// Follows a loop until another round adds nothing to what may be known before it.
    pub(super) fn rounds(
        &mut self,
        state: &ShellState,
        mut round: impl FnMut(&mut Self, ShellState) -> (ShellState, CanonicalScript),
    ) -> (ShellState, CanonicalScript) {
        let first = self.parts.len();
        let mut before = state.clone();
        for _ in 0..MAX_PASSES {
            let start = self.parts.len();
            let (after, script) = round(self, before.clone());
            self.merge_rounds(first, start);
            let wide = before.clone().widen(after);
            if wide == before {
                return (before, script);
            }
            before = wide;
        }
        self.cannot_express("what its loop changes from round to round is not followed");
        before.taint("a loop");
        before.leave();
        (before, CanonicalScript::no_op())
    }

    /// The same command in a later round is the same part, with all that either does.
    fn merge_rounds(&mut self, first: usize, later: usize) {
        for part in self.parts.split_off(later) {
            let mut earlier = self.parts.iter_mut().skip(first);
            let alike = |it: &CommandPart| {
                let reads =
                    it.finding == PartFinding::ReadOnly && part.finding == PartFinding::ReadOnly;
                // Rules speak of the words: only what they need not speak of may differ.
                it.argv == part.argv || reads
            };
            let same = |it: &&mut CommandPart| {
                it.text == part.text && it.wrappers == part.wrappers && alike(it)
            };
            let Some(earlier) = earlier.find(same) else {
                self.parts.push(part);
                continue;
            };
            let new: Vec<_> =
                part.effects.into_iter().filter(|it| !earlier.effects.contains(it)).collect();
            earlier.effects.extend(new);
            if matches!(part.finding, PartFinding::Unproven { .. })
                || earlier.finding == PartFinding::ReadOnly
            {
                earlier.finding = part.finding;
            }
        }
    }
}
