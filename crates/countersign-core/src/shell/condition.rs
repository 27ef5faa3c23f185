//! Conditions and arithmetic: `[[ ]]`, `(( ))`. What stands in them may run before it is compared.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use super::Word;
use super::canonical::{CanonicalCommand, CanonicalScript, CanonicalWord};
use super::judge::Judgement;
use super::lower::{Draft, Lowering};
use super::state::State;
use super::word::{self, Mode};
use crate::Effect;

impl Lowering<'_> {
    pub(super) fn arithmetic(&mut self, expression: &str, state: &State) {
        let mut draft = Draft::new(format!("(( {} ))", expression.trim()));
        for inner in word::substitutions(expression) {
            self.text(&inner, state.clone());
        }
        draft.opaque("arithmetic may run what its names hold");
        self.push(draft, Judgement::read_only(vec![Word::plain("((")]), state);
    }

    /// `[[ … ]]` becomes calls of `test`, as far as `test` means the same.
    pub(super) fn test(
        &mut self,
        test: &ExtendedTestExpr,
        draft: &mut Draft,
        state: &State,
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
                let operand = self.single(&operand.value, Mode::Single, draft, state);
                self.unary(predicate, &operand.word, draft, state);
                as_command(&[CanonicalWord::literal(predicate.to_string()), operand.canonical])
            }
            ExtendedTestExpr::BinaryTest(predicate, one, two) => {
                self.check_comparison(predicate, &two.value);
                let one = self.single(&one.value, Mode::Single, draft, state);
                let two = self.single(&two.value, Mode::Single, draft, state);
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

    fn unary(&mut self, predicate: &UnaryPredicate, word: &Word, draft: &mut Draft, state: &State) {
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
        word: &Word,
        draft: &mut Draft,
        state: &State,
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
    fn look_at(&mut self, word: &Word, draft: &mut Draft, state: &State) {
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
