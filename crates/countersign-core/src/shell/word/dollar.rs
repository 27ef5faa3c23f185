//! What begins with `$`: variables, substitutions, arithmetic, `${…}`.

use super::super::{WordValue, variable};
use super::arithmetic::{self, evaluate};
use super::nested::{closing, substitutions};
use super::parameter::{apply_operator, leading_name, split_parameter};
use super::{ExpansionMode, FieldPiece, WordScanner};

impl WordScanner<'_> {
    pub(super) fn dollar(&mut self, quoted: bool) {
        if self.skip("((") {
            self.arithmetic(quoted);
        } else if self.skip("(") {
            self.substitution(quoted);
        } else if self.skip("{") {
            self.braces(quoted);
        } else if !quoted && self.skip("'") {
            self.ansi_c();
        } else if !quoted && self.skip("\"") {
            self.opaque("what `$\"` becomes depends on the language that is set");
        } else if self.rest.starts_with(['[', '\\']) {
            self.opaque("`$` before this character is not understood");
        } else {
            self.bare_variable(quoted);
        }
    }

    fn bare_variable(&mut self, quoted: bool) {
        let name = leading_name(self.rest);
        if !name.is_empty() {
            self.skip(name);
            self.variable(name, quoted);
        } else if self.skip("?") {
            self.runtime(FieldPiece::Status);
        } else if self.rest.starts_with(|c: char| c.is_ascii_digit() || "$#!-@*".contains(c)) {
            self.take();
            self.opaque("what a parameter of the shell holds is known only when it runs");
        } else {
            self.literal_char('$');
        }
    }

    fn substitution(&mut self, quoted: bool) {
        if let Some(end) = closing(self.rest) {
            let (body, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
            self.inner.push(body.to_owned());
            self.rest = rest.strip_prefix(')').unwrap_or(rest);
            match self.state.variables.get("PWD") {
                // Where the shell is, is known.
                Some(WordValue::Literal(folder))
                    if body.trim() == "pwd" && (quoted || is_one_word(folder)) =>
                {
                    self.literal(folder);
                    self.mark_expanded();
                }
                _ => self.runtime_words(FieldPiece::Inner(self.inner.len() - 1), quoted),
            }
        } else {
            self.inner.extend(substitutions(&format!("$({}", self.rest)));
            self.opaque("a substitution is too intricate to be read");
            self.rest = "";
        }
    }

    /// Arithmetic over numbers and over variables that hold numbers is done here; a name may hold code.
    fn arithmetic(&mut self, _quoted: bool) {
        let value = arithmetic::split_body(self.rest)
            .and_then(|(body, rest)| evaluate(body, self.state).map(|value| (value, rest)));
        let Some((value, rest)) = value else {
            self.inner.extend(substitutions(self.rest));
            self.rest = "";
            return self.opaque("arithmetic with names may run what they hold");
        };
        self.rest = rest;
        self.literal(&value.to_string());
        self.mark_expanded();
    }

    fn braces(&mut self, quoted: bool) {
        let body = self.rest.split_once('}').map(|(body, _)| body);
        let Some((name, operator)) = body.and_then(split_parameter) else {
            self.inner.extend(substitutions(self.rest));
            self.rest = "";
            return self.opaque("this form of `${…}` may assign or run something");
        };
        self.take_until('}');
        if operator.is_empty() {
            return self.variable(name, quoted);
        }
        let value = match self.state.variables.get(name) {
            Some(WordValue::Literal(value)) => apply_operator(value, operator),
            _ => None,
        };
        match value {
            Some(value) => self.value(&value, quoted),
            None => self.opaque("what this form of `${…}` makes of its variable is not followed"),
        }
    }

    pub(super) fn variable(&mut self, name: &str, quoted: bool) {
        match self.state.variables.get(name) {
            Some(WordValue::Literal(value)) => self.value(&value.clone(), quoted),
            Some(WordValue::Text) => {
                self.runtime_words(FieldPiece::Variable(name.to_owned()), quoted);
            }
            Some(WordValue::Glob(_) | WordValue::Words) => {
                self.opaque(format!("`${name}` may still come from the environment"));
            }
            // Names and folders: one word on any ordinary machine.
            None if variable::may_be_shown(name) => {
                self.runtime(FieldPiece::Variable(name.to_owned()));
            }
            None => {
                self.opaque(format!("`${name}` comes from the environment and may hold a secret"));
            }
        }
    }

    /// A value that is known: outside quotes it is split, and matched with file names.
    fn value(&mut self, value: &str, quoted: bool) {
        if quoted || self.mode != ExpansionMode::Word {
            self.literal(value);
            self.mark_expanded();
            return;
        }
        for c in value.chars() {
            match c {
                ' ' | '\t' | '\n' => self.end_field(),
                '*' | '?' | '[' => self.wildcard(c),
                ']' => self.bracket(),
                '\\' => self.opaque("a backslash in a value means something else in a pattern"),
                c => self.literal_char(c),
            }
            if self.current.is_some() {
                self.mark_expanded();
            }
        }
    }
}

/// Whether an unquoted value stays one word: no blanks to split at, nothing to match, not empty.
fn is_one_word(value: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    !value.is_empty() && value.chars().all(safe)
}
