//! Simple commands: their words, their redirections, and the variables they set or are given.

use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, SimpleCommand,
};

use super::canonical::{self, CanonicalCommand, CanonicalScript, CanonicalWord, WordPiece};
use super::command_judgement::CommandJudgement;
use super::expanded_word::ExpandedWord;
use super::lower::{CommandLowerer, ExitStates, PartDraft};
use super::shell_state::ShellState;
use super::syntax::ParsedSource;
use super::word::{self, ExpansionMode};
use super::{CommandWord, WordValue, builtin, variable};
use crate::Effect;

/// A variable with what it is set to, as it is judged and as it is executed.
struct AssignedVariable {
    name: String,
    value: WordValue,
    canonical: CanonicalWord,
}

impl CommandLowerer<'_> {
    pub(super) fn simple(
        &mut self,
        command: &SimpleCommand,
        source: &ParsedSource<'_>,
        mut state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        let mut draft = PartDraft::new(written(command, source));
        let mut words = Vec::new();
        let mut assigned = Vec::new();
        // Each assignment sees those before it; the words of the command see none of them.
        let mut scope = state.clone();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                    let variable = self.assigned(assignment, &mut draft, &scope);
                    scope.variables.insert(variable.name.clone(), variable.value.clone());
                    assigned.push(variable);
                }
                other => self.item(other, &mut words, &mut draft, &state),
            }
        }
        if let Some(name) = &command.word_or_name {
            words.extend(self.words(&name.value, ExpansionMode::Word, &mut draft, &state));
        }
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut words, &mut draft, &state);
        }
        if words.is_empty() {
            return self.assignments_alone(assigned, draft, state);
        }
        let literals: Vec<_> = words.iter().map(|it| it.word.literal()).collect();
        let reads = literals.get(builtin::count_prefix_words(&literals)) == Some(&Some("read"));
        // `IFS` for `read` alone only says where it splits.
        let given = assigned.iter().filter(|it| !(reads && it.name == "IFS"));
        give(given, &mut draft);
        let failed = state.clone();
        let argv: Vec<_> = words.iter().map(|it| it.word.clone()).collect();
        self.look_for_denials(&words, draft.input.as_deref(), &state);
        let first = self.parts.len();
        let mut judged = self.judge(argv, draft.input.as_deref(), &mut state);
        let redirections = std::mem::take(&mut draft.redirections);
        let script = self.executed(&words, &assigned, &mut judged, redirections);
        // What the command itself taints is for those that follow.
        self.push(draft, judged, &failed);
        state.changed = state.changed.or_else(|| self.find_changing_part(first));
        // `read` sets its variables even at the end of what it reads.
        let failed = if state.tainted == failed.tainted && !reads {
            ShellState { changed: state.changed.clone(), ..failed }
        } else {
            state.clone()
        };
        (ExitStates { ok: state, failed }, script)
    }

    fn assignments_alone(
        &mut self,
        assigned: Vec<AssignedVariable>,
        mut draft: PartDraft,
        mut state: ShellState,
    ) -> (ExitStates, CanonicalScript) {
        if !draft.redirections.is_empty() {
            self.cannot_express("it redirects the streams of no command");
        }
        let assignments = assigned.iter().map(AssignedVariable::to_canonical).collect();
        let command = CanonicalCommand { assignments, ..CanonicalCommand::default() };
        set(&mut state, assigned, &mut draft);
        self.push(draft, CommandJudgement::read_only(Vec::new()), &state);
        (state.into(), CanonicalScript::Command(command))
    }

    /// Returns a command as it is executed, once it was judged.
    fn executed(
        &mut self,
        words: &[ExpandedWord],
        assigned: &[AssignedVariable],
        judged: &mut CommandJudgement,
        redirections: Vec<canonical::CanonicalRedirection>,
    ) -> CanonicalScript {
        let assignments: Vec<_> = assigned.iter().map(AssignedVariable::to_canonical).collect();
        if let Some(script) = judged.script.take() {
            if !assignments.is_empty() {
                self.cannot_express("it gives variables to a shell");
            }
            return script.with_redirections(redirections);
        }
        let literals: Vec<_> = words.iter().map(|it| it.word.literal()).collect();
        let prefixes = builtin::count_prefix_words(&literals);
        let literals = literals.get(prefixes..).unwrap_or_default();
        if let Some(why) = builtin::explain_inexpressible(literals, !assignments.is_empty()) {
            self.cannot_express(why);
        }
        let wraps = judged.wrappers.len() > prefixes;
        let program = match literals.first().copied().flatten() {
            Some(name) if wraps => self.context.machine.trusted_program(name),
            _ => judged.program.clone(),
        };
        let words = words.iter().skip(prefixes).map(|it| it.canonical.clone()).collect();
        CanonicalScript::Command(CanonicalCommand { assignments, words, program, redirections })
    }

    /// What must never run is looked for in the patterns themselves, not only in what they match now.
    fn look_for_denials(
        &mut self,
        words: &[ExpandedWord],
        input: Option<&str>,
        state: &ShellState,
    ) {
        if words.iter().all(|word| word.pattern.is_none()) {
            return;
        }
        let written = words.iter().map(|it| it.pattern.clone().unwrap_or_else(|| it.word.clone()));
        let (parts, kept) = (self.parts.len(), self.inexpressible.clone());
        let _ = self.judge(written.collect(), input, &mut state.clone());
        self.parts.truncate(parts);
        self.inexpressible = kept;
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: &mut Vec<ExpandedWord>,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect, draft, state);
            }
            CommandPrefixOrSuffixItem::Word(word)
            | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                words.extend(self.words(&word.value, ExpansionMode::Word, draft, state));
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, shell) => {
                self.process(kind, &shell.list, draft, state);
                // For the program it is a stream like its standard input.
                let value = WordValue::Literal("-".to_owned());
                let word = CommandWord { text: format!("{kind}(…)"), value, expanded: true };
                let canonical = CanonicalWord::default();
                words.push(ExpandedWord { word, canonical, pattern: None });
            }
        }
    }

    fn assigned(
        &mut self,
        assignment: &Assignment,
        draft: &mut PartDraft,
        state: &ShellState,
    ) -> AssignedVariable {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.clone(),
            AssignmentName::ArrayElementName(name, index) => {
                for inner in word::substitutions(index) {
                    self.lower_text(&inner, state.clone());
                }
                self.cannot_express("arrays are not run without asking");
                draft.opaque("an index is arithmetic and may run what stands in it");
                name.clone()
            }
        };
        let mut assigned = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let ExpandedWord { word, canonical, .. } =
                    self.single(&word.value, ExpansionMode::Single, draft, state);
                let value = match word.value {
                    WordValue::Literal(text) => WordValue::Literal(text),
                    WordValue::Glob(_) | WordValue::Text | WordValue::Words => WordValue::Text,
                };
                AssignedVariable { name, value, canonical }
            }
            AssignmentValue::Array(items) => {
                self.cannot_express("arrays are not run without asking");
                for (index, item) in items {
                    if index.is_some() {
                        draft.opaque("an index is arithmetic and may run what stands in it");
                    }
                    self.words(&item.value, ExpansionMode::Word, draft, state);
                }
                AssignedVariable {
                    name,
                    value: WordValue::Text,
                    canonical: CanonicalWord::default(),
                }
            }
        };
        if assignment.append {
            assigned.append_to(state);
        }
        assigned
    }
}

impl AssignedVariable {
    fn to_canonical(&self) -> canonical::CanonicalAssignment {
        canonical::CanonicalAssignment { name: self.name.clone(), value: self.canonical.clone() }
    }

    /// `name+=value`: what it held comes first.
    fn append_to(&mut self, state: &ShellState) {
        // What the environment gave it comes first, whatever that is; and a number would be added to.
        let known = state.variables.contains_key(&self.name);
        self.value = if known { WordValue::Text } else { WordValue::Words };
        let mut whole = CanonicalWord::default();
        whole.push(WordPiece::Variable(self.name.clone()));
        for piece in std::mem::take(&mut self.canonical).0 {
            whole.push(piece);
        }
        self.canonical = whole;
    }
}

/// The parser keeps no position for redirections: with one, the command is written out anew.
fn written(command: &SimpleCommand, source: &ParsedSource<'_>) -> String {
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
        source.node_text(command)
    } else {
        command.to_string().trim().to_owned()
    }
}

/// Sets variables of the shell itself.
fn set(state: &mut ShellState, assigned: Vec<AssignedVariable>, draft: &mut PartDraft) {
    for AssignedVariable { name, value, .. } in assigned {
        if !variable::may_be_set(&name, literal(&value)) {
            draft.effects.push(Effect::Env { name: name.clone() });
            draft.opaque(format!("`{name}` may steer what later programs do"));
            state.taint(&format!("the change of `{name}`"));
        }
        state.variables.insert(name, value);
    }
}

/// Gives variables to one program.
fn give<'a>(assigned: impl Iterator<Item = &'a AssignedVariable>, draft: &mut PartDraft) {
    for AssignedVariable { name, value, .. } in assigned {
        if !variable::may_be_given(name, literal(value)) {
            draft.effects.push(Effect::Env { name: name.clone() });
            draft.opaque(format!("`{name}` may steer what the program does"));
        }
    }
}

fn literal(value: &WordValue) -> Option<&str> {
    match value {
        WordValue::Literal(text) => Some(text),
        WordValue::Glob(_) | WordValue::Text | WordValue::Words => None,
    }
}
