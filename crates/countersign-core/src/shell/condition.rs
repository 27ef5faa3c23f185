//! Conditions and arithmetic: `[[ ]]`, `(( ))`. What stands in them may run before it is compared.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use super::CommandWord;
use super::canonical::{CanonicalCommand, CanonicalScript, CanonicalWord};
use super::command_judgement::CommandJudgement;
use super::lower::{CommandLowerer, PartDraft};
use super::shell_state::ShellState;
use super::word::{self, ExpansionMode};
use crate::Effect;

impl CommandLowerer<'_> {
    pub(super) fn arithmetic(&mut self, expression: &str, state: &ShellState) {
        let mut draft = PartDraft::new(format!("(( {} ))", expression.trim()));
        for inner in word::substitutions(expression) {
            self.lower_text(&inner, state.clone());
        }
        draft.opaque("arithmetic may run what its names hold");
        self.push(draft, CommandJudgement::read_only(vec![CommandWord::from_literal("((")]), state);
    }

    /// `[[ … ]]` becomes calls of `test`, as far as `test` means the same.
    pub(super) fn test(
        &mut self,
        test: &ExtendedTestExpr,
        draft: &mut PartDraft,
        state: &ShellState,
    ) -> CanonicalScript {
        match test {
            ExtendedTestExpr::And(one, two) => {
                let one = self.test(one, draft, state);
                CanonicalScript::And(Box::new(one), Box::new(self.test(two, draft, state)))
            }
            ExtendedTestExpr::Or(one, two) => {
                let one = self.test(one, draft, state);
                CanonicalScript::Or(Box::new(one), Box::new(self.test(two, draft, state)))
            }
            ExtendedTestExpr::Not(inner) => {
                CanonicalScript::Not(Box::new(self.test(inner, draft, state)))
            }
            ExtendedTestExpr::Parenthesized(inner) => self.test(inner, draft, state),
            ExtendedTestExpr::UnaryTest(predicate, operand) => {
                let operand = self.single(&operand.value, ExpansionMode::Single, draft, state);
                self.unary(predicate, &operand.word, draft, state);
                as_command(&[CanonicalWord::literal(predicate.to_string()), operand.canonical])
            }
            ExtendedTestExpr::BinaryTest(predicate, one, two) => {
                self.check_comparison(predicate, &two.value);
                let one = self.single(&one.value, ExpansionMode::Single, draft, state);
                let two = self.single(&two.value, ExpansionMode::Single, draft, state);
                for operand in [&one, &two] {
                    self.binary(predicate, &operand.word, draft, state);
                }
                let operator = match predicate.to_string() {
                    operator if operator == "==" => "=".to_owned(),
                    operator => operator,
                };
                as_command(&[one.canonical, CanonicalWord::literal(operator), two.canonical])
            }
        }
    }

    /// Patterns, and what sorts before what, mean something else to `test`.
    fn check_comparison(&mut self, predicate: &BinaryPredicate, second: &str) {
        let pattern = matches!(
            predicate,
            BinaryPredicate::StringExactlyMatchesPattern
                | BinaryPredicate::StringDoesNotExactlyMatchPattern
        ) && second.contains(['*', '?', '[', '\\', '(', '$', '`']);
        let other = matches!(
            predicate,
            BinaryPredicate::StringMatchesRegex
                | BinaryPredicate::StringContainsSubstring
                | BinaryPredicate::LeftSortsBeforeRight
                | BinaryPredicate::LeftSortsAfterRight
        );
        if pattern || other {
            self.cannot_express("comparing with patterns is not run without asking");
        }
    }

    fn unary(
        &mut self,
        predicate: &UnaryPredicate,
        word: &CommandWord,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        match predicate {
            UnaryPredicate::StringHasZeroLength
            | UnaryPredicate::StringHasNonZeroLength
            | UnaryPredicate::FdIsOpenTerminal => {}
            UnaryPredicate::ShellOptionEnabled => {
                self.cannot_express("a shell's options are known only to that shell");
            }
            UnaryPredicate::ShellVariableIsSetAndAssigned
            | UnaryPredicate::ShellVariableIsSetAndNameRef => {
                draft.opaque("a test of a variable's name may run what stands in it");
            }
            _ => self.look_at(word, draft, state),
        }
    }

    fn binary(
        &mut self,
        predicate: &BinaryPredicate,
        word: &CommandWord,
        draft: &mut PartDraft,
        state: &ShellState,
    ) {
        match predicate {
            BinaryPredicate::FilesReferToSameDeviceAndInodeNumbers
            | BinaryPredicate::LeftFileIsNewerOrExistsWhenRightDoesNot
            | BinaryPredicate::LeftFileIsOlderOrDoesNotExistWhenRightDoes => {
                self.look_at(word, draft, state);
            }
            BinaryPredicate::ArithmeticEqualTo
            | BinaryPredicate::ArithmeticNotEqualTo
            | BinaryPredicate::ArithmeticLessThan
            | BinaryPredicate::ArithmeticLessThanOrEqualTo
            | BinaryPredicate::ArithmeticGreaterThan
            | BinaryPredicate::ArithmeticGreaterThanOrEqualTo => {
                let number = |text: &str| {
                    let digits = text.strip_prefix('-').unwrap_or(text);
                    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
                };
                let why = "a comparison of numbers may run what stands in them";
                draft.opaque_if(!word.literal().is_some_and(number), why);
            }
            _ => {}
        }
    }

    /// A test of a file reads where it lies, not what is in it.
    fn look_at(&mut self, word: &CommandWord, draft: &mut PartDraft, state: &ShellState) {
        let found = word.literal().ok_or_else(|| "which file it looks at is unknown".to_owned());
        match found.and_then(|path| self.targets(path, state)) {
            Ok(targets) => draft.effects.extend(targets.into_iter().map(Effect::Read)),
            Err(why) => draft.opaque(why),
        }
    }
}

fn as_command(operands: &[CanonicalWord]) -> CanonicalScript {
    let mut words = vec![CanonicalWord::literal("test")];
    words.extend_from_slice(operands);
    CanonicalScript::Command(CanonicalCommand { words, ..CanonicalCommand::default() })
}
