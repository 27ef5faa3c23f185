//! Words: what the shell's expansions make of them, as far as the text alone can tell.
//!
//! A strict reading of our own: what is not clearly understood is opaque, never skipped.

mod nested;
mod parameter;

pub(super) use nested::substitutions;

use nested::closing;
use parameter::{Parameter, leading_name, parameter};

use super::state::State;
use super::{Value, Word, variable};

/// How a piece of text is quoted as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A word of a command.
    Word,
    /// The body of a here-document: quotes mean nothing.
    Document,
    /// A pattern of `case` or a word of `[[ ]]`: no file names come of it.
    Pattern,
}

/// A word with all that came to light while it was read.
#[derive(Debug)]
pub(super) struct Expansion {
    pub(super) word: Word,
    /// The commands it runs: `$(..)` and backticks.
    pub(super) inner: Vec<String>,
    /// Why it is not understood, if it is not.
    pub(super) opaque: Option<String>,
}

/// Expands a word as it was written.
pub(super) fn expand(raw: &str, mode: Mode, state: &State) -> Expansion {
    let mut scanner = Scanner::new(raw, mode, state);
    match mode {
        Mode::Document => scanner.double_quoted(None),
        Mode::Word | Mode::Pattern => scanner.unquoted(),
    }
    scanner.finish(raw)
}

/// Why a word stands for several, or for a text that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unknown {
    No,
    Text,
    Words,
}

struct Scanner<'a> {
    rest: &'a str,
    mode: Mode,
    state: &'a State,
    /// What is known of the result, and the same as a pattern.
    text: String,
    pattern: String,
    globs: bool,
    unknown: Unknown,
    /// The pattern of a variable that is the whole word.
    loop_pattern: Option<String>,
    pieces: usize,
    expanded: bool,
    inner: Vec<String>,
    opaque: Option<String>,
}

impl<'a> Scanner<'a> {
    fn new(rest: &'a str, mode: Mode, state: &'a State) -> Self {
        Self {
            rest,
            mode,
            state,
            text: String::new(),
            pattern: String::new(),
            globs: false,
            unknown: Unknown::No,
            loop_pattern: None,
            pieces: 0,
            expanded: false,
            inner: Vec::new(),
            opaque: None,
        }
    }

    fn finish(self, raw: &str) -> Expansion {
        let unknown = if self.opaque.is_some() { Unknown::Words } else { self.unknown };
        let value = match (unknown, self.loop_pattern) {
            (_, Some(pattern)) if self.pieces == 1 && self.opaque.is_none() => Value::Glob(pattern),
            (Unknown::Words, _) => Value::Words,
            (Unknown::Text, _) => Value::Text,
            (Unknown::No, _) if self.globs => Value::Glob(self.pattern),
            (Unknown::No, _) => Value::Literal(self.text),
        };
        let word = Word { text: raw.to_owned(), value, expanded: self.expanded };
        Expansion { word, inner: self.inner, opaque: self.opaque }
    }

    fn take(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    /// Takes everything up to the `end`, which is dropped.
    fn take_until(&mut self, end: char) -> Option<&'a str> {
        let (taken, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(taken)
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn opaque(&mut self, why: impl Into<String>) {
        self.expanded = true;
        self.opaque.get_or_insert_with(|| why.into());
    }

    fn literal(&mut self, text: &str) {
        self.pieces += 1;
        self.text.push_str(text);
        for c in text.chars() {
            if matches!(c, '*' | '?' | '[' | ']' | '\\') {
                self.pattern.push('\\');
            }
            self.pattern.push(c);
        }
    }

    fn literal_char(&mut self, c: char) {
        self.literal(c.encode_utf8(&mut [0; 4]));
    }

    fn glob(&mut self, c: char) {
        self.pieces += 1;
        self.globs = true;
        self.text.push(c);
        self.pattern.push(c);
    }

    fn unknown(&mut self, quoted: bool) {
        self.pieces += 1;
        self.expanded = true;
        self.unknown = self.unknown.max(if quoted { Unknown::Text } else { Unknown::Words });
    }

    fn unquoted(&mut self) {
        self.start();
        while let Some(c) = self.take() {
            match c {
                '\'' => match self.take_until('\'') {
                    Some(text) => self.literal(text),
                    None => self.opaque("a quote is not closed"),
                },
                '"' => self.double_quoted(Some('"')),
                '\\' => self.escape(),
                '$' => self.dollar(false),
                '`' => self.backtick(false),
                _ if self.mode == Mode::Pattern => self.literal_char(c),
                '*' | '?' => self.glob(c),
                '[' if self.rest.contains(']') => self.glob(c),
                '{' if makes_words(self.rest) => self.opaque("braces make several words of one"),
                '(' | ')' | '<' | '>' | '|' | '&' | ';' => {
                    self.opaque(format!("`{c}` inside a word is not understood"));
                }
                c if c.is_whitespace() => self.opaque("a blank inside a word is not understood"),
                c => self.literal_char(c),
            }
        }
    }

    /// What has a meaning only at the start of a word: `~`, and `=` in some shells.
    fn start(&mut self) {
        if self.mode != Mode::Word {
            return;
        }
        let after = self.rest.strip_prefix('~');
        if let Some(after) = after {
            if after.is_empty() || after.starts_with('/') {
                self.rest = after;
                self.variable("HOME", true);
            } else {
                self.opaque("`~` with a name is not understood");
            }
        }
        let after = self.rest.strip_prefix('=').unwrap_or_default();
        if after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.opaque("a word that starts with `=` names a program in some shells");
        }
    }

    fn escape(&mut self) {
        match self.take() {
            Some('\n') => self.opaque("a line is continued inside a word"),
            Some(c) => self.literal_char(c),
            None => self.literal_char('\\'),
        }
    }

    fn double_quoted(&mut self, end: Option<char>) {
        while let Some(c) = self.take() {
            match c {
                c if Some(c) == end => return,
                '$' => self.dollar(true),
                '`' => self.backtick(true),
                '\\' => match self.rest.chars().next() {
                    Some('\n') => self.opaque("a line is continued inside a word"),
                    Some(c @ ('$' | '`' | '"' | '\\')) => {
                        self.take();
                        self.literal_char(c);
                    }
                    _ => self.literal_char('\\'),
                },
                c => self.literal_char(c),
            }
        }
        if end.is_some() {
            self.opaque("a quote is not closed");
        }
    }

    fn backtick(&mut self, quoted: bool) {
        match self.take_until('`') {
            Some(body) if !body.contains('\\') => self.inner.push(body.to_owned()),
            Some(body) => {
                self.inner.push(body.replace('\\', ""));
                self.opaque("backticks with escapes are not understood");
            }
            None => self.opaque("a backtick is not closed"),
        }
        self.unknown(quoted);
    }

    fn dollar(&mut self, quoted: bool) {
        if self.skip("((") {
            self.arithmetic(quoted);
        } else if self.skip("(") {
            self.substitution(quoted);
        } else if self.skip("{") {
            self.braces(quoted);
        } else if !quoted && self.skip("'") {
            self.ansi_c();
        } else if !quoted && self.skip("\"") {
            self.double_quoted(Some('"'));
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
        } else if self.rest.starts_with(['?', '$', '#', '!', '-', '0']) {
            self.take();
            self.unknown(quoted);
        } else if self.rest.starts_with(['@', '*', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
            self.take();
            self.unknown(false);
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
                // Where the shell is, is known. What was moved by name is then judged by its folders.
                Some(Value::Literal(folder))
                    if body.trim() == "pwd" && (quoted || is_one_word(folder)) =>
                {
                    self.expanded = true;
                    self.literal(folder);
                }
                _ => self.unknown(quoted),
            }
        } else {
            self.inner.extend(substitutions(&format!("$({}", self.rest)));
            self.opaque("a substitution is too intricate to be read");
            self.rest = "";
        }
    }

    /// Arithmetic over numbers and over variables that hold numbers; a name may hold code.
    fn arithmetic(&mut self, quoted: bool) {
        let Some((body, rest)) = self.rest.split_once("))") else {
            self.inner.extend(substitutions(self.rest));
            self.rest = "";
            return self.opaque("an arithmetic expression is not closed");
        };
        if is_plain_arithmetic(body, self.state) {
            self.rest = rest;
            self.unknown(quoted);
        } else {
            self.inner.extend(substitutions(self.rest));
            self.rest = "";
            self.opaque("arithmetic with names may run what they hold");
        }
    }

    fn braces(&mut self, quoted: bool) {
        let simple = |c: char| c.is_ascii_alphanumeric() || "_#%/:.,^*?+- ~".contains(c);
        let body = self.rest.split_once('}').map(|(body, _)| body);
        let understood = body.filter(|body| body.chars().all(simple)).and_then(parameter);
        let Some(parameter) = understood else {
            self.inner.extend(substitutions(self.rest));
            self.rest = "";
            return self.opaque("this form of `${…}` may assign or run something");
        };
        self.take_until('}');
        match parameter {
            Parameter::Plain(name) => self.variable(name, quoted),
            Parameter::Changed(name) => {
                self.check_shown(name);
                self.unknown(quoted);
            }
        }
    }

    fn check_shown(&mut self, name: &str) {
        if !self.state.variables.contains_key(name) && !variable::may_be_shown(name) {
            self.opaque(format!("`${name}` comes from the environment and may hold a secret"));
        }
    }

    fn variable(&mut self, name: &str, quoted: bool) {
        self.expanded = true;
        let quoted = quoted || self.mode == Mode::Pattern;
        match self.state.variables.get(name) {
            Some(Value::Literal(value)) if quoted || is_one_word(value) => self.literal(value),
            Some(Value::Literal(value)) if value.contains(['*', '?', '[']) => {
                self.opaque(format!("`${name}` may turn into names of files"));
            }
            Some(Value::Glob(pattern)) if quoted => {
                self.loop_pattern = Some(pattern.clone());
                self.unknown(true);
            }
            Some(_) => self.unknown(quoted),
            None => {
                self.check_shown(name);
                self.unknown(quoted);
            }
        }
    }

    fn ansi_c(&mut self) {
        let mut body = String::new();
        loop {
            match self.take() {
                Some('\'') => break,
                Some('\\') => match self.ansi_escape() {
                    Some(c) => body.push(c),
                    None => return self.opaque("an escape in `$'…'` is not understood"),
                },
                Some(c) => body.push(c),
                None => return self.opaque("a quote is not closed"),
            }
        }
        self.literal(&body);
    }

    fn ansi_escape(&mut self) -> Option<char> {
        match self.take()? {
            'n' => Some('\n'),
            't' => Some('\t'),
            c @ ('\\' | '\'' | '"' | '?') => Some(c),
            'x' => self.code(16, 2),
            'u' => self.code(16, 4),
            'U' => self.code(16, 8),
            c @ '0'..='7' => {
                let first = c.to_digit(8)?;
                let more = self.digits(8, 2);
                let rest = u32::from_str_radix(more, 8).unwrap_or(0);
                char::from_u32(first * 8_u32.pow(u32::try_from(more.len()).ok()?) + rest)
            }
            _ => None,
        }
        // Beyond ASCII the byte and the character are not the same thing, nor in every locale.
        .filter(|c| *c != '\0' && c.is_ascii())
    }

    fn code(&mut self, radix: u32, most: usize) -> Option<char> {
        let digits = self.digits(radix, most);
        char::from_u32(u32::from_str_radix(digits, radix).ok()?)
    }

    fn digits(&mut self, radix: u32, most: usize) -> &'a str {
        let length = self.rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at_checked(length).unwrap_or(("", self.rest));
        self.rest = rest;
        digits
    }
}

/// Whether an unquoted value stays one word: no blanks to split at, nothing to match, not empty.
fn is_one_word(value: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c);
    !value.is_empty() && value.chars().all(safe)
}

/// Whether `{` begins a brace expansion, given what comes after it.
fn makes_words(rest: &str) -> bool {
    let body = rest.rsplit_once('}').map(|(body, _)| body);
    body.is_some_and(|body| body.contains(',') || body.contains(".."))
}

/// Returns whether an arithmetic expression is made of numbers and known numbers only.
pub(super) fn is_plain_arithmetic(body: &str, state: &State) -> bool {
    let operators = "+-*/%()<>=!&|^~?:, \t\n";
    let words = body.split(|c: char| operators.contains(c)).filter(|word| !word.is_empty());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let assigns = body.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
    !assigns.contains('=')
        && !body.contains("++")
        && !body.contains("--")
        && words.into_iter().all(|word| match state.variables.get(word) {
            Some(Value::Literal(value)) => is_number(value),
            _ => is_number(word),
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn quoting_vanishes() {
        for raw in ["rm", r#"r""m"#, "r'm'", r"\rm", r"r\m", r"$'\x72m'", r"$'r\155'", r#"$"rm""#] {
            assert_eq!(expand(raw, Mode::Word, &state()).word.literal(), Some("rm"), "{raw}");
        }
        assert_eq!(literal("'a b'\"c d\""), "a bc d");
        assert_eq!(literal(r#""a\"b\$c\d""#), r#"a"b$c\d"#);
        assert_eq!(literal("HEAD@{1}"), "HEAD@{1}");
        assert_eq!(literal("{}"), "{}");
        assert_eq!(literal("["), "[");
    }

    #[test]
    fn variables_are_known_shown_or_opaque() {
        assert_eq!(literal("~/x"), "/home/me/x");
        assert_eq!(literal("\"$HOME\"/x"), "/home/me/x");
        assert_eq!(literal("${HOME}/x"), "/home/me/x");
        assert_eq!(value("$USER"), Value::Words);
        assert_eq!(value("\"$USER\""), Value::Text);
        assert_eq!(value("\"$f\""), Value::Glob("src/*.rs".to_owned()));
        assert_eq!(value("$f"), Value::Words);
        assert_eq!(value("$((1 + 2))"), Value::Words);
        for raw in ["$TOKEN", "${TOKEN:-x}", "${x@P}", "${!x}", "${x:=1}", "$((a))", "${a[1]}"] {
            assert!(expand(raw, Mode::Word, &state()).opaque.is_some(), "{raw}");
        }
    }

    #[test]
    fn what_makes_other_words_is_opaque_or_a_pattern() {
        for raw in
            ["$'\\351'", "$'\\xe9'", "$'\\u00e9'", "\"$(ls;#)\ntouch x)\"", "$(echo $'\\'' x)"]
        {
            assert!(expand(raw, Mode::Word, &state()).opaque.is_some(), "{raw}");
        }
        for raw in ["{a,b}", "{1..3}", "~root", "@(a|b)", "$[1]", "\"$\\\n(x)\"", "=ls", "'a"] {
            assert!(expand(raw, Mode::Word, &state()).opaque.is_some(), "{raw}");
        }
        assert_eq!(value("src/*.rs"), Value::Glob("src/*.rs".to_owned()));
        assert_eq!(value("'a*'?"), Value::Glob("a\\*?".to_owned()));
    }

    #[test]
    fn substitutions_are_found_however_they_hide() {
        check("$(a b)", &["a b"]);
        check("\"x$(a \"$(b)\")y`c`\"", &["a \"$(b)\"", "c"]);
        check("${x:-$(touch pwned)}", &["touch pwned"]);
        check("$((a[$(touch pwned)]))", &["touch pwned"]);
        check("$(echo ')' a)", &["echo ')' a"]);
        assert!(expand("$(case x in x) a;; esac)", Mode::Word, &state()).opaque.is_some());
        assert!(expand("a $(b)\n'$c", Mode::Document, &state()).opaque.is_some());
        assert_eq!(
            expand("a 'b' \"c\"", Mode::Document, &state()).word.literal(),
            Some("a 'b' \"c\"")
        );
    }

    #[track_caller]
    fn check(raw: &str, inner: &[&str]) {
        assert_eq!(expand(raw, Mode::Word, &state()).inner, inner, "{raw}");
    }

    fn literal(raw: &str) -> String {
        expand(raw, Mode::Word, &state()).word.literal().unwrap().to_owned()
    }

    fn value(raw: &str) -> Value {
        let expansion = expand(raw, Mode::Word, &state());
        assert_eq!(expansion.opaque, None);
        expansion.word.value
    }

    fn state() -> State {
        let home = ("HOME".to_owned(), Value::Literal("/home/me".to_owned()));
        let file = ("f".to_owned(), Value::Glob("src/*.rs".to_owned()));
        State {
            folders: None,
            variables: BTreeMap::from([home, file]),
            linked: false,
            tainted: None,
        }
    }
}
