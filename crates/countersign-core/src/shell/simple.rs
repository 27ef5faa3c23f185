//! Simple commands: their words, their redirections, and the variables they set or are given.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand,
};

use super::judge::Judgement;
use super::lower::{After, Draft, Lowering};
use super::state::State;
use super::syntax::Source;
use super::word::{self, Mode};
use super::{Value, Word, variable};
use crate::Effect;

impl Lowering<'_> {
    pub(super) fn simple(
        &mut self,
        command: &SimpleCommand,
        source: &Source<'_>,
        mut state: State,
    ) -> After {
        let mut draft = Draft::new(written(command, source));
        let mut argv = Vec::new();
        let mut assigned = Vec::new();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    assigned.push(self.assigned(assignment, &mut draft, &state));
                }
                other => self.item(other, &mut argv, &mut draft, &state),
            }
        }
        if let Some(name) = &command.word_or_name {
            argv.push(self.word(&name.value, Mode::Word, &mut draft, &state));
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut argv, &mut draft, &state);
        }
        if argv.is_empty() {
            set(&mut state, assigned, &mut draft);
            self.push(draft, Judgement::read_only(Vec::new()), &state);
            return state.into();
        }
        let reads = argv.first().and_then(Word::literal) == Some("read");
        // `IFS` for `read` alone only says where it splits.
        assigned.retain(|(name, _)| !(reads && name == "IFS"));
        give(&assigned, &mut draft);
        let failed = state.clone();
        let judged = self.judge(argv, draft.input.as_deref(), &mut state);
        // What the command itself taints is for those that follow.
        self.push(draft, judged, &failed);
        let failed = if state.tainted == failed.tainted { failed } else { state.clone() };
        After { ok: state, failed }
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        argv: &mut Vec<Word>,
        draft: &mut Draft,
        state: &State,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect, draft, state);
            }
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                argv.push(self.word(&word.value, Mode::Word, draft, state));
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                self.process(kind, &shell.list, draft, state);
                // For the program it is a stream like its standard input.
                let value = Value::Literal("-".to_owned());
                argv.push(Word { text: format!("{kind}(…)"), value, expanded: true });
            }
        }
    }

    fn assigned(
        &mut self,
        assignment: &Assignment,
        draft: &mut Draft,
        state: &State,
    ) -> (String, Value) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                for inner in word::substitutions(index) {
                    self.text(&inner, state.clone());
                }
                draft.opaque("an index is arithmetic and may run what stands in it");
                name.clone()
            }
        };
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.assigned_word(&word.value, draft, state),
            AssignmentValue::Array(items) => {
                for (index, item) in items {
                    if index.is_some() {
                        draft.opaque("an index is arithmetic and may run what stands in it");
                    }
                    self.word(&item.value, Mode::Word, draft, state);
                }
                Value::Text
            }
        };
        (name, if assignment.append { Value::Text } else { value })
    }

    /// What is assigned is neither split nor matched.
    fn assigned_word(&mut self, raw: &str, draft: &mut Draft, state: &State) -> Value {
        match self.word(raw, Mode::Word, draft, state).value {
            Value::Literal(text) => Value::Literal(text),
            Value::Glob(_) | Value::Text | Value::Words => Value::Text,
        }
    }
}

/// The parser keeps no position for redirections: with one, the command is written out anew.
fn written(command: &SimpleCommand, source: &Source<'_>) -> String {
    let items = command
        .prefix
        .iter()
        .flat_map(|it| &it.0)
        .chain(command.suffix.iter().flat_map(|it| &it.0));
    let placed = |item: &CommandPrefixOrSuffixItem| {
        matches!(
            item,
            CommandPrefixOrSuffixItem::Word(_) | CommandPrefixOrSuffixItem::AssignmentWord(..)
        )
    };
    if items.into_iter().all(placed) {
        source.of(command)
    } else {
        command.to_string().trim().to_owned()
    }
}

/// Sets variables of the shell itself.
fn set(state: &mut State, assigned: Vec<(String, Value)>, draft: &mut Draft) {
    for (name, value) in assigned {
        if !variable::may_be_set(&name, literal(&value)) {
            draft.effects.push(Effect::Env { name: name.clone() });
            draft.opaque(format!("`{name}` may steer what later programs do"));
            state.taint(&format!("the change of `{name}`"));
        }
        state.variables.insert(name, value);
    }
}

/// Gives variables to one program.
fn give(assigned: &[(String, Value)], draft: &mut Draft) {
    for (name, value) in assigned {
        if !variable::may_be_given(name, literal(value)) {
            draft.effects.push(Effect::Env { name: name.clone() });
            draft.opaque(format!("`{name}` may steer what the program does"));
        }
    }
}

fn literal(value: &Value) -> Option<&str> {
    match value {
        Value::Literal(text) => Some(text),
        Value::Glob(_) | Value::Text | Value::Words => None,
    }
}
