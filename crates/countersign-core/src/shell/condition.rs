//! Conditions and arithmetic: `[[ ]]`, `(( ))`. What stands in them may run before it is compared.

use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate};

use super::Word;
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
        if !word::is_plain_arithmetic(expression, state) {
            draft.opaque("arithmetic with names may run what they hold");
        }
        self.push(draft, Judgement::read_only(vec![Word::plain("((")]), state);
    }

    pub(super) fn test(&mut self, test: &ExtendedTestExpr, draft: &mut Draft, state: &State) {
        match test {
            ExtendedTestExpr::And(one, two) | ExtendedTestExpr::Or(one, two) => {
                self.test(one, draft, state);
                self.test(two, draft, state);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, draft, state);
            }
            ExtendedTestExpr::UnaryTest(predicate, operand) => {
                let word = self.word(&operand.value, Mode::Pattern, draft, state);
                self.unary(predicate, &word, draft, state);
            }
            ExtendedTestExpr::BinaryTest(predicate, one, two) => {
                let one = self.word(&one.value, Mode::Pattern, draft, state);
                let two = self.word(&two.value, Mode::Pattern, draft, state);
                for word in [one, two] {
                    self.binary(predicate, &word, draft, state);
                }
            }
        }
    }

    fn unary(&mut self, predicate: &UnaryPredicate, word: &Word, draft: &mut Draft, state: &State) {
        match predicate {
            UnaryPredicate::StringHasZeroLength
            | UnaryPredicate::StringHasNonZeroLength
            | UnaryPredicate::FdIsOpenTerminal
            | UnaryPredicate::ShellOptionEnabled => {}
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
                let plain = word.literal().filter(|it| word::is_plain_arithmetic(it, state));
                let why = "a comparison of numbers may run what stands in them";
                draft.opaque_if(plain.is_none(), why);
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
