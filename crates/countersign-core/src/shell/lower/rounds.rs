//! Loops: their rounds, as far as they differ.

use brush_parser::ast::ForClauseCommand;

use super::super::judge::Judgement;
use super::super::state::State;
use super::super::syntax::Source;
use super::super::word::Mode;
use super::super::{Finding, Part, Value, variable};
use super::{Draft, Lowering, MAX_ROUNDS};
use crate::Effect;

impl Lowering<'_> {
    pub(super) fn for_each(
        &mut self,
        clause: &ForClauseCommand,
        source: &Source<'_>,
        state: State,
    ) -> State {
        let mut draft = Draft::new(format!("for {}", clause.variable_name));
        let raws = clause.values.iter().flatten();
        let mut values: Vec<_> =
            raws.map(|raw| self.word(&raw.value, Mode::Word, &mut draft, &state).value).collect();
        if !variable::may_be_set(&clause.variable_name, None) {
            draft.effects.push(Effect::Env { name: clause.variable_name.clone() });
        }
        if !draft.problems.is_empty() || !draft.effects.is_empty() {
            self.push(draft, Judgement::read_only(Vec::new()), &state);
        }
        if values.len() > MAX_ROUNDS || values.contains(&Value::Words) || clause.values.is_none() {
            values = vec![Value::Text];
        }
        let first = self.parts.len();
        let mut end = state;
        for value in values {
            let start = self.parts.len();
            let mut round = end.clone();
            round.variables.insert(clause.variable_name.clone(), value);
            end = end.or(self.list(&clause.body.list, source, round));
            self.merge_rounds(first, start);
        }
        end
    }

    /// Follows a loop once, and once more from anywhere it may have got to.
    pub(super) fn rounds(
        &mut self,
        state: &State,
        mut round: impl FnMut(&mut Self, State) -> State,
    ) -> State {
        let first = self.parts.len();
        let after = round(self, state.clone());
        let wide = state.clone().widened(after);
        if wide != *state {
            let second = self.parts.len();
            round(self, wide.clone());
            self.merge_rounds(first, second);
        }
        wide
    }

    /// The same command in a later round is the same part, with all that either does.
    fn merge_rounds(&mut self, first: usize, later: usize) {
        for part in self.parts.split_off(later) {
            let mut earlier = self.parts.iter_mut().skip(first);
            let same = |it: &&mut Part| it.text == part.text && it.wrappers == part.wrappers;
            let Some(earlier) = earlier.find(same) else {
                self.parts.push(part);
                continue;
            };
            let new: Vec<_> =
                part.effects.into_iter().filter(|it| !earlier.effects.contains(it)).collect();
            earlier.effects.extend(new);
            if matches!(part.finding, Finding::Unproven { .. })
                || earlier.finding == Finding::ReadOnly
            {
                earlier.finding = part.finding;
            }
        }
    }
}
