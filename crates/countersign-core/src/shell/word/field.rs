//! A field: one word that comes of an expansion.

use super::super::canonical::{CanonicalScript, CanonicalWord, WordPiece};

/// One word that came out of an expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpandedField {
    /// What it is made of.
    pub(crate) pieces: Vec<FieldPiece>,
    /// The same as a pattern, if it holds wildcards that nothing quotes.
    pub(crate) pattern: Option<String>,
    /// Whether a variable or a substitution had a hand in it.
    pub(crate) expanded: bool,
}

/// A piece of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldPiece {
    Literal(String),
    Variable(String),
    Status,
    /// What the inner command of this number prints.
    Inner(usize),
}

impl ExpandedField {
    /// Returns its text, if nothing in it is decided only when it runs.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [FieldPiece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns it as a word of the canonical form, given the scripts of the commands in it.
    pub(crate) fn to_canonical(&self, inner: &[CanonicalScript]) -> Option<CanonicalWord> {
        let mut word = CanonicalWord::default();
        for piece in &self.pieces {
            word.push(match piece {
                FieldPiece::Literal(text) => WordPiece::Literal(text.clone()),
                FieldPiece::Variable(name) => WordPiece::Variable(name.clone()),
                FieldPiece::Status => WordPiece::Status,
                FieldPiece::Inner(number) => {
                    WordPiece::Output(Box::new(inner.get(*number)?.clone()))
                }
            });
        }
        Some(word)
    }

    pub(super) fn push(&mut self, piece: FieldPiece) {
        match (self.pieces.last_mut(), piece) {
            (Some(FieldPiece::Literal(text)), FieldPiece::Literal(more)) => text.push_str(&more),
            (_, piece) => self.pieces.push(piece),
        }
    }
}
