//! How a text ends its lines: a change that no line of a diff shows.

use serde::{Deserialize, Serialize};

/// What ends the lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LineEnding {
    /// `\n`.
    Lf,
    /// `\r\n`.
    Crlf,
    /// `\r`.
    Cr,
    /// More than one of these.
    Mixed,
    /// Nothing: there is one line, without an end.
    None,
}

/// What happens to the line end at the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalNewline {
    /// There was none and there will be one.
    Added,
    /// There was one and there will be none.
    Removed,
}

/// How the line ends of a text change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineEndings {
    /// As they are.
    pub from: LineEnding,
    /// As they will be.
    pub to: LineEnding,
    /// Whether the last one comes or goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_newline: Option<FinalNewline>,
}

impl LineEndings {
    /// Returns how line ends change between two texts, if they do.
    ///
    /// A text that is empty, before or after, has no line ends that could change.
    pub fn compare(old: &str, new: &str) -> Option<Self> {
        if old.is_empty() || new.is_empty() {
            return None;
        }
        let (from, to) = (LineEnding::from_text(old), LineEnding::from_text(new));
        let ends = |text: &str| text.ends_with(['\n', '\r']);
        let final_newline = match (ends(old), ends(new)) {
            (false, true) => Some(FinalNewline::Added),
            (true, false) => Some(FinalNewline::Removed),
            (true, true) | (false, false) => None,
        };
        let none = LineEnding::None;
        let changes = from != to && from != none && to != none;
        (changes || final_newline.is_some()).then_some(Self { from, to, final_newline })
    }
}

impl LineEnding {
    fn from_text(text: &str) -> Self {
        let both = text.matches("\r\n").count();
        let lf = text.matches('\n').count() - both;
        let cr = text.matches('\r').count() - both;
        match (lf > 0, both > 0, cr > 0) {
            (false, false, false) => Self::None,
            (true, false, false) => Self::Lf,
            (false, true, false) => Self::Crlf,
            (false, false, true) => Self::Cr,
            _ => Self::Mixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_line_ends_is_told() {
        use LineEnding::{Cr, Crlf, Lf, Mixed, None as Nothing};
        let told =
            |old, new| LineEndings::compare(old, new).map(|it| (it.from, it.to, it.final_newline));
        assert_eq!(told("a\r\nb\r\n", "a\nb\n"), Some((Crlf, Lf, None)));
        assert_eq!(told("a\nb\n", "a\r\nb\n"), Some((Lf, Mixed, None)));
        assert_eq!(told("a\r", "a\n"), Some((Cr, Lf, None)));
        assert_eq!(told("a\n", "a\nb"), Some((Lf, Lf, Some(FinalNewline::Removed))));
        assert_eq!(told("a", "a\n"), Some((Nothing, Lf, Some(FinalNewline::Added))));
        assert_eq!(told("a\nb\n", "b\n"), None);
        assert_eq!(told("a", "b"), None);
        assert_eq!(told("", "b"), None);
    }
}
