//! Arithmetic: expressions of numbers, done here so that no shell has to.

use std::iter::Peekable;
use std::str::Chars;

use super::super::WordValue;
use super::super::shell_state::ShellState;
use super::parameter::leading_name;

/// Parentheses in parentheses.
const MAX_DEPTH: usize = 16;

/// Splits what follows `$((` into the expression and the rest behind its `))`.
///
/// None if the parentheses do not balance before it: then a shell takes it for a substitution.
pub(super) fn split_body(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => {
                let rest = text.get(at..)?.strip_prefix("))")?;
                return Some((text.get(..at)?, rest));
            }
            _ => {}
        }
    }
    None
}

/// Returns the value of an expression of numbers and of variables that hold numbers.
pub(super) fn evaluate(text: &str, state: &ShellState) -> Option<i64> {
    let mut parser = ArithmeticExpression { chars: text.chars().peekable(), state, depth: 0 };
    let value = parser.compared()?;
    parser.skip_blanks();
    parser.chars.peek().is_none().then_some(value)
}

struct ArithmeticExpression<'a> {
    chars: Peekable<Chars<'a>>,
    state: &'a ShellState,
    depth: usize,
}

impl ArithmeticExpression<'_> {
    fn skip_blanks(&mut self) {
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    }

    fn next_is(&mut self, c: char) -> bool {
        self.skip_blanks();
        self.chars.next_if_eq(&c).is_some()
    }

    /// `a < b` and its like, once: the result is 0 or 1; or `a << b`.
    fn compared(&mut self) -> Option<i64> {
        let left = self.sum()?;
        self.skip_blanks();
        let Some(operator) = self.chars.next_if(|c| "<>=!".contains(*c)) else {
            return Some(left);
        };
        if "<>".contains(operator) && self.chars.next_if_eq(&operator).is_some() {
            let by = u32::try_from(self.sum()?).ok().filter(|by| *by < 32)?;
            return if operator == '<' { left.checked_mul(1 << by) } else { Some(left >> by) };
        }
        let or_equal = self.chars.next_if_eq(&'=').is_some();
        let right = self.sum()?;
        let holds = match (operator, or_equal) {
            ('<', true) => left <= right,
            ('<', false) => left < right,
            ('>', true) => left >= right,
            ('>', false) => left > right,
            ('=', true) => left == right,
            ('!', true) => left != right,
            _ => return None,
        };
        Some(i64::from(holds))
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.next_is('+') {
                value = value.checked_add(self.product()?)?;
            } else if self.next_is('-') {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.single()?;
        loop {
            if self.next_is('*') {
                value = value.checked_mul(self.single()?)?;
            } else if self.next_is('/') {
                value = value.checked_div(self.single()?)?;
            } else if self.next_is('%') {
                value = value.checked_rem(self.single()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn single(&mut self) -> Option<i64> {
        if self.next_is('(') {
            self.depth += 1;
            let value = (self.depth <= MAX_DEPTH).then(|| self.compared()).flatten()?;
            self.depth -= 1;
            return self.next_is(')').then_some(value);
        }
        // `--x` changes a variable; a sign before a number does not.
        if self.next_is('-') {
            return self
                .chars
                .peek()
                .filter(|c| c.is_ascii_digit())
                .copied()
                .and_then(|_| self.number()?.checked_neg());
        }
        match self.chars.peek()? {
            c if c.is_ascii_digit() => self.number(),
            _ => self.variable(),
        }
    }

    /// A number; one with a leading zero is no decimal one.
    fn number(&mut self) -> Option<i64> {
        let mut digits = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_alphanumeric) {
            digits.push(c);
        }
        decimal(&digits)
    }

    /// `name`, `$name` or `${name}`.
    fn variable(&mut self) -> Option<i64> {
        let braces = self.chars.next_if_eq(&'$').is_some() && self.chars.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if braces && self.chars.next_if_eq(&'}').is_none() {
            return None;
        }
        match self.state.variables.get(leading_name(&name)) {
            Some(WordValue::Literal(value)) if leading_name(&name) == name => decimal(value),
            _ => None,
        }
    }
}

fn decimal(digits: &str) -> Option<i64> {
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let octal = digits.len() > 1 && digits.starts_with('0');
    digits.parse().ok().filter(|_| plain && !octal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_calculated() {
        for (text, value) in [
            ("1 + 2 * 3", 7),
            ("(1+2)*3", 9),
            ("7 % 4 - 1", 2),
            ("-3 + 5", 2),
            ("2 <= 1", 0),
            ("n + $n + ${n}", 12),
            ("3 != 4", 1),
            ("1 << 4", 16),
        ] {
            assert_eq!(evaluate(text, &state()), Some(value), "{text}");
        }
    }

    #[test]
    fn whatever_is_no_number_is_not_calculated() {
        for text in [
            "",
            "a",
            "x",
            "n++",
            "--n",
            "n=1",
            "010",
            "0x10",
            "1/0",
            "a[$(ls)]",
            "1 2",
            "1;2",
            "9223372036854775807 + 1",
            "1 << 99",
            "1, 2",
            "$(ls)",
            "`ls`",
            "1 ? 2 : 3",
        ] {
            assert_eq!(evaluate(text, &state()), None, "{text}");
        }
    }

    #[test]
    fn an_expression_ends_where_its_parentheses_do() {
        assert_eq!(split_body("1+2))x"), Some(("1+2", "x")));
        assert_eq!(split_body("(1)))"), Some(("(1)", "")));
        assert_eq!(split_body("1)>2 | (3))"), None);
        assert_eq!(split_body("touch pwned) | (1))"), None);
        assert_eq!(split_body("1)"), None);
    }

    fn state() -> ShellState {
        let mut state = ShellState::empty();
        state.variables.insert("n".to_owned(), WordValue::Literal("4".to_owned()));
        state.variables.insert("x".to_owned(), WordValue::Text);
        state
    }
}
