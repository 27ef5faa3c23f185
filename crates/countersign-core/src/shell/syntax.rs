//! Parsing, by brush-parser, behind checks that keep its stack, its time and its panics bounded.

use brush_parser::ast::{Program, SourceLocation};
use brush_parser::{ParserOptions, SourceSpan, Token, uncached_tokenize_str};

/// Nested `(` tokens on which the parser still answers at once: an unclosed run of them takes it
/// twice as long with each.
const MAX_PARENS: usize = 10;
/// The same for `case` and `coproc`, nested or not: their ends cannot be told by tokens alone.
const MAX_COSTLY: usize = 6;
/// The parser turns a number before a redirection into an `i32` without looking.
const MAX_DIGITS: usize = 6;
/// Nested blocks, counted on tokens, where quotes cannot mislead.
const MAX_BLOCKS: usize = 64;

/// Parses a text that the guard has admitted.
pub(super) fn parse(text: &str) -> Result<Program, String> {
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options())
        .map_err(|error| format!("it is not valid shell syntax: {error}"))?;
    check(&tokens)?;
    brush_parser::parse_tokens(&tokens, &options)
        .map_err(|error| format!("it is not valid shell syntax: {error}"))
}

fn check(tokens: &[Token]) -> Result<(), String> {
    let (mut parens, mut blocks, mut costly) = (0_usize, 0_usize, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Operator(operator, _) => match operator.as_str() {
                "(" => parens += 1,
                ")" => parens = parens.saturating_sub(1),
                _ => {}
            },
            Token::Word(word, _) => match word.as_str() {
                "case" | "coproc" => {
                    blocks += 1;
                    costly += 1;
                }
                "{" | "if" | "do" | "[[" => blocks += 1,
                "}" | "fi" | "done" | "esac" | "]]" => blocks = blocks.saturating_sub(1),
                number if is_long_number(number) && is_redirection(tokens.get(at + 1)) => {
                    return Err("it holds a number too long for a file descriptor".to_owned());
                }
                _ => {}
            },
        }
        if parens > MAX_PARENS || blocks > MAX_BLOCKS || costly > MAX_COSTLY {
            return Err("it is nested too deeply to be read".to_owned());
        }
    }
    Ok(())
}

fn is_long_number(word: &str) -> bool {
    word.len() > MAX_DIGITS && word.bytes().all(|b| b.is_ascii_digit())
}

fn is_redirection(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Operator(operator, _)) if operator.starts_with(['<', '>']))
}

/// A text with the tree parsed from it.
pub(super) struct ParsedSource<'a> {
    text: &'a str,
}

impl<'a> ParsedSource<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// Returns what was written for a node.
    pub(super) fn node_text(&self, node: &(impl SourceLocation + std::fmt::Display)) -> String {
        let written = node.location().and_then(|span| self.slice(&span));
        written.unwrap_or_else(|| node.to_string().trim().to_owned())
    }

    /// Positions are in characters, not in bytes.
    fn slice(&self, span: &SourceSpan) -> Option<String> {
        let length = span.end.index.checked_sub(span.start.index)?;
        let text: String = self.text.chars().skip(span.start.index).take(length).collect();
        let text = text.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_trouble_the_parser_does_not_reach_it() {
        assert!(parse("ls -la").is_ok());
        assert!(parse("( ( ls ) )").is_ok());
        assert!(parse(&"(".repeat(60)).is_err());
        assert!(parse("ls 99999999999>f").is_err());
        assert!(parse("ls 99999999999 >f").is_err());
        assert!(parse("git show 36962701 | head").is_ok());
        assert!(parse("git log &&& rm x").is_err());
    }
}
