//! Words: what the shell's expansions make of them, as far as the text alone can tell.
//!
//! A strict reading of our own: what is not clearly understood is opaque, never skipped.

mod ansi_quotes;
mod arithmetic;
mod dollar;
mod field;
mod nested;
mod parameter;

pub(super) use field::{ExpandedField, FieldPiece};
pub(super) use nested::substitutions;

use super::shell_state::ShellState;

/// How a piece of text is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpansionMode {
    /// A word of a command: it is split, and file names come of it.
    Word,
    /// A value or a word of `[[ ]]`: it stays one word.
    Single,
    /// The body of a here-document: quotes mean nothing.
    Document,
}

/// A word with all that came to light while it was read.
#[derive(Debug)]
pub(super) struct WordExpansion {
    /// What it becomes: any number of words in [`ExpansionMode::Word`], else one.
    pub(super) fields: Vec<ExpandedField>,
    /// The commands it runs: `$(..)` and backticks.
    pub(super) inner: Vec<String>,
    /// Why it is not understood, if it is not.
    pub(super) opaque: Option<String>,
}

/// Expands a word as it was written.
pub(super) fn expand(raw: &str, mode: ExpansionMode, state: &ShellState) -> WordExpansion {
    let mut scanner = WordScanner::new(raw, mode, state);
    match mode {
        ExpansionMode::Document => scanner.double_quoted(None),
        ExpansionMode::Word | ExpansionMode::Single => scanner.unquoted(),
    }
    scanner.finish()
}

struct WordScanner<'a> {
    rest: &'a str,
    mode: ExpansionMode,
    state: &'a ShellState,
    fields: Vec<ExpandedField>,
    /// The field that is being read, and the same as a pattern.
    current: Option<(ExpandedField, String)>,
    globs: bool,
    inner: Vec<String>,
    opaque: Option<String>,
}

impl<'a> WordScanner<'a> {
    fn new(rest: &'a str, mode: ExpansionMode, state: &'a ShellState) -> Self {
        Self {
            rest,
            mode,
            state,
            fields: Vec::new(),
            current: None,
            globs: false,
            inner: Vec::new(),
            opaque: None,
        }
    }

    fn finish(mut self) -> WordExpansion {
        if self.mode != ExpansionMode::Word {
            self.current.get_or_insert_default();
        }
        self.end_field();
        WordExpansion { fields: self.fields, inner: self.inner, opaque: self.opaque }
    }

    fn end_field(&mut self) {
        let Some((mut field, pattern)) = self.current.take() else { return };
        if std::mem::take(&mut self.globs) {
            if field.literal().is_none() && self.mode == ExpansionMode::Word {
                self.opaque("a pattern of file names holds what is decided only when it runs");
            }
            field.pattern = Some(pattern);
        }
        self.fields.push(field);
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
        self.mark_expanded();
        self.opaque.get_or_insert_with(|| why.into());
    }

    fn mark_expanded(&mut self) {
        self.current.get_or_insert_default().0.expanded = true;
    }

    fn literal(&mut self, text: &str) {
        let (field, pattern) = self.current.get_or_insert_default();
        // Empty quotes make a word, and add nothing to it.
        if !text.is_empty() {
            field.push(FieldPiece::Literal(text.to_owned()));
        }
        for c in text.chars() {
            if matches!(c, '*' | '?' | '[' | ']' | '\\') {
                pattern.push('\\');
            }
            pattern.push(c);
        }
    }

    fn literal_char(&mut self, c: char) {
        self.literal(c.encode_utf8(&mut [0; 4]));
    }

    fn wildcard(&mut self, c: char) {
        let (field, pattern) = self.current.get_or_insert_default();
        field.push(FieldPiece::Literal(c.to_string()));
        pattern.push(c);
        self.globs = true;
    }

    /// Adds a `]` that nothing quotes: it may end a set of characters.
    fn bracket(&mut self) {
        let (field, pattern) = self.current.get_or_insert_default();
        field.push(FieldPiece::Literal("]".to_owned()));
        pattern.push(']');
    }

    /// Adds what is decided only when it runs, and stays one word then.
    fn runtime(&mut self, piece: FieldPiece) {
        let (field, _) = self.current.get_or_insert_default();
        field.push(piece);
        field.expanded = true;
    }

    /// Adds what would be split, and matched with file names, only when it runs.
    fn runtime_words(&mut self, piece: FieldPiece, quoted: bool) {
        if !quoted && self.mode == ExpansionMode::Word {
            self.opaque("into how many words it is split is decided only when it runs");
        }
        self.runtime(piece);
    }

    fn unquoted(&mut self) {
        self.start();
        let mut last = ' ';
        while let Some(c) = self.take() {
            match c {
                '\'' => match self.take_until('\'') {
                    Some(text) => self.literal(text),
                    None => self.opaque("a quote is not closed"),
                },
                '"' => {
                    self.literal("");
                    self.double_quoted(Some('"'));
                }
                '\\' => self.escape(),
                '$' => self.dollar(false),
                '`' => self.backtick(false),
                '*' | '?' => self.wildcard(c),
                '[' if self.rest.contains(']') => self.wildcard(c),
                ']' => self.bracket(),
                '{' if makes_words(self.rest) => self.opaque("braces make several words of one"),
                '~' if matches!(last, '=' | ':') => {
                    self.opaque("whether `~` stands for a folder here differs between shells");
                }
                '(' | ')' | '<' | '>' | '|' | '&' | ';' => {
                    self.opaque(format!("`{c}` inside a word is not understood"));
                }
                c if c.is_whitespace() => self.opaque("a blank inside a word is not understood"),
                c => self.literal_char(c),
            }
            last = c;
        }
    }

    /// What has a meaning only at the start of a word: `~`, and `=` in some shells.
    fn start(&mut self) {
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
        if self.mode == ExpansionMode::Word && after.starts_with(|c: char| c.is_ascii_alphabetic())
        {
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
                    Some('"') if end.is_none() => self.literal_char('\\'),
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
            Some(body) if !body.contains('\\') => {
                self.inner.push(body.to_owned());
                self.runtime_words(FieldPiece::Inner(self.inner.len() - 1), quoted);
            }
            Some(body) => {
                self.inner.push(body.replace('\\', ""));
                self.opaque("backticks with escapes are not understood");
            }
            None => self.opaque("a backtick is not closed"),
        }
    }
}

/// Whether `{` begins a brace expansion, given what comes after it.
fn makes_words(rest: &str) -> bool {
    let body = rest.rsplit_once('}').map(|(body, _)| body);
    body.is_some_and(|body| body.contains(',') || body.contains(".."))
}

#[cfg(test)]
mod tests {
    use super::super::WordValue;
    use super::*;

    #[test]
    fn quoting_vanishes() {
        for raw in ["rm", r#"r""m"#, "r'm'", r"\rm", r"r\m", r"$'\x72m'", r"$'r\155'"] {
            assert_eq!(literals(raw), ["rm"], "{raw}");
        }
        assert_eq!(literals("'a b'\"c d\""), ["a bc d"]);
        assert_eq!(literals(r#""a\"b\$c\d""#), [r#"a"b$c\d"#]);
        assert_eq!(literals("HEAD@{1}"), ["HEAD@{1}"]);
        assert_eq!(literals("{}"), ["{}"]);
        assert_eq!(literals("["), ["["]);
        assert_eq!(literals("''"), [""]);
        assert_eq!(literals("$empty"), Vec::<String>::new());
        assert_eq!(literals("\"$empty\""), [""]);
    }

    #[test]
    fn what_is_known_is_put_in_and_what_is_not_stays_one_word() {
        assert_eq!(literals("~/x"), ["/home/me/x"]);
        assert_eq!(literals("\"$HOME\"/x"), ["/home/me/x"]);
        assert_eq!(literals("${HOME}/x"), ["/home/me/x"]);
        assert_eq!(literals("$two"), ["a", "b"]);
        assert_eq!(literals("x$two"), ["xa", "b"]);
        assert_eq!(literals("\"$two\""), ["a b"]);
        assert_eq!(literals("$((1 + 2))"), ["3"]);
        assert_eq!(literals("${file%.rs}"), ["main"]);
        let pieces = |raw| expand(raw, ExpansionMode::Word, &state()).fields[0].pieces.clone();
        let variable = |name: &str| FieldPiece::Variable(name.to_owned());
        assert_eq!(pieces("$USER"), [variable("USER")]);
        assert_eq!(pieces("\"$later\""), [variable("later")]);
        assert_eq!(pieces("x$?"), [FieldPiece::Literal("x".to_owned()), FieldPiece::Status]);
    }

    #[test]
    fn patterns_are_known_by_their_wildcards() {
        let pattern = |raw| expand(raw, ExpansionMode::Word, &state()).fields[0].pattern.clone();
        assert_eq!(pattern("src/*.rs").as_deref(), Some("src/*.rs"));
        assert_eq!(pattern("'a*'?").as_deref(), Some("a\\*?"));
        assert_eq!(pattern("$star").as_deref(), Some("*.rs"));
        assert_eq!(pattern("\"$star\""), None);
    }

    #[test]
    fn whatever_is_not_understood_is_opaque() {
        for raw in [
            "$TOKEN",
            "${TOKEN:-x}",
            "${x@P}",
            "${!x}",
            "${x:=1}",
            "$((a))",
            "${a[1]}",
            "$later",
            "$1",
            "$@",
            "$(ls)",
            "$poisoned",
            "\"$poisoned\"",
            "$'\\351'",
            "$'\\xe9'",
            "$'\\u00e9'",
            "\"$(ls;#)\ntouch x)\"",
            "$(echo $'\\'' x)",
            "{a,b}",
            "{1..3}",
            "~root",
            "~+",
            "a=~/x",
            "@(a|b)",
            "$[1]",
            "\"$\\\n(x)\"",
            "=ls",
            "'a",
            "$\"a\"",
            "$((1)>2 | (3))",
            "\"$later\"*",
        ] {
            assert!(expand(raw, ExpansionMode::Word, &state()).opaque.is_some(), "{raw}");
        }
    }

    #[test]
    fn substitutions_are_found_however_they_hide() {
        check("$(a b)", &["a b"]);
        check("\"x$(a \"$(b)\")y`c`\"", &["a \"$(b)\"", "c"]);
        check("${x:-$(touch pwned)}", &["touch pwned"]);
        check("$((a[$(touch pwned)]))", &["touch pwned"]);
        check("$(echo ')' a)", &["echo ')' a"]);
        assert!(expand("$(case x in x) a;; esac)", ExpansionMode::Word, &state()).opaque.is_some());
        assert!(expand("a $(b)\n'$c", ExpansionMode::Document, &state()).opaque.is_some());
        let document = expand("a 'b' \"c\" \\\"", ExpansionMode::Document, &state());
        assert_eq!(document.fields[0].literal(), Some("a 'b' \"c\" \\\""));
    }

    #[track_caller]
    fn check(raw: &str, inner: &[&str]) {
        assert_eq!(expand(raw, ExpansionMode::Word, &state()).inner, inner, "{raw}");
    }

    #[track_caller]
    fn literals(raw: &str) -> Vec<String> {
        let expansion = expand(raw, ExpansionMode::Word, &state());
        assert_eq!(expansion.opaque, None, "{raw}");
        expansion.fields.iter().map(|field| field.literal().unwrap().to_owned()).collect()
    }

    fn state() -> ShellState {
        let mut state = ShellState::empty();
        for (name, value) in [
            ("HOME", "/home/me"),
            ("two", "a b"),
            ("star", "*.rs"),
            ("empty", ""),
            ("file", "main.rs"),
        ] {
            state.variables.insert(name.to_owned(), WordValue::Literal(value.to_owned()));
        }
        state.variables.insert("later".to_owned(), WordValue::Text);
        state.variables.insert("poisoned".to_owned(), WordValue::Words);
        state
    }
}
