//! Tokens: a command cut into pieces that can be dropped or moved; put together again it is the same.

/// Cuts a text at blanks, operators and quotes.
pub(super) fn split_tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = TokenKind::Blank;
    for character in text.chars() {
        let kind = TokenKind::from_char(character);
        let joins = kind == last && !matches!(kind, TokenKind::Single);
        match tokens.last_mut() {
            Some(token) if joins => token.push(character),
            _ => tokens.push(character.to_string()),
        }
        last = kind;
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Blank,
    Word,
    Operator,
    Single,
}

impl TokenKind {
    fn from_char(character: char) -> Self {
        match character {
            ' ' | '\t' => Self::Blank,
            '|' | '&' | '>' | '<' => Self::Operator,
            '(' | ')' | '\'' | '"' | '`' | ';' | '\n' | '{' | '}' | '\\' => Self::Single,
            _ => Self::Word,
        }
    }
}
