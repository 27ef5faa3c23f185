//! One text in the place of another, by the bytes of the file; line ends are those of the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::files::text::push_numbered;
use crate::files::truncate::cap;

/// How many unchanged lines the snippet shows on either side.
const CONTEXT: usize = 4;

/// Above this many lines the snippet is cut.
const SNIPPET_LIMIT: usize = 60;

/// How many places an error names.
const PLACES: usize = 10;

/// A text after the change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextReplacement {
    pub(crate) content: String,
    /// How many occurrences were replaced.
    pub(super) count: usize,
    /// Where the first of them is now.
    first: Range<usize>,
}

/// Why nothing was replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplacementError {
    NotFound,
    NotUnique {
        /// The lines of the first few.
        lines: Vec<usize>,
        more: usize,
    },
}

impl TextReplacement {
    /// Returns the content of a file that is made.
    pub(super) fn new_file(content: &str) -> Self {
        Self { content: content.to_owned(), count: 1, first: 0..content.len() }
    }

    /// Replaces `old` by `new`.
    ///
    /// A `\n` in `old` stands for the line end of the file, whichever it is, and one in `new` becomes
    /// that. An `old` that spells out `\r` is taken to the letter, and `new` with it.
    pub(super) fn replace_text(
        content: &str,
        old: &str,
        new: &str,
        all: bool,
    ) -> Result<Self, ReplacementError> {
        if old.contains('\r') || !content.contains("\r\n") {
            let found = occurrences(content, old, all)?;
            return Ok(Self::splice(content, &found, |_| Cow::Borrowed(new)));
        }
        let unified = NormalizedText::from_content(content);
        let found: Vec<_> = occurrences(&unified.text, old, all)?
            .into_iter()
            .map(|range| unified.original(range.start)..unified.original(range.end))
            .collect();
        let bare = new.replace("\r\n", "\n");
        let usual = unified.mostly_returns();
        Ok(Self::splice(content, &found, |replaced| {
            let (returns, ends) =
                (replaced.matches("\r\n").count(), replaced.matches('\n').count());
            let wants_returns = match returns {
                _ if ends == 0 => usual,
                0 => false,
                all if all == ends => true,
                _ => usual,
            };
            if wants_returns { bare.replace('\n', "\r\n").into() } else { Cow::Borrowed(&bare) }
        }))
    }

    fn splice<'n>(
        content: &str,
        found: &[Range<usize>],
        new: impl Fn(&str) -> Cow<'n, str>,
    ) -> Self {
        let mut result = String::with_capacity(content.len());
        let mut copied = 0;
        let mut first = None;
        for range in found {
            result.push_str(content.get(copied..range.start).unwrap_or_default());
            let start = result.len();
            result.push_str(&new(content.get(range.clone()).unwrap_or_default()));
            first.get_or_insert(start..result.len());
            copied = range.end;
        }
        result.push_str(content.get(copied..).unwrap_or_default());
        Self { content: result, count: found.len(), first: first.unwrap_or_default() }
    }

    /// Returns the lines around the first change, numbered.
    pub(super) fn snippet(&self) -> String {
        let line_of = |at: usize| self.content.get(..at).unwrap_or_default().matches('\n').count();
        let start = line_of(self.first.start).saturating_sub(CONTEXT);
        let end = line_of(self.first.end) + CONTEXT + 1;
        let shown_end = end.min(start + SNIPPET_LIMIT);
        let mut out = String::new();
        for (index, line) in self.content.lines().enumerate().take(shown_end).skip(start) {
            push_numbered(&mut out, index + 1, &cap(line, 500));
        }
        if shown_end < end {
            out.push_str("[… the change goes on]\n");
        }
        out
    }
}

/// Returns where `old` is: everywhere, or the one place there is.
fn occurrences(text: &str, old: &str, all: bool) -> Result<Vec<Range<usize>>, ReplacementError> {
    let found: Vec<Range<usize>> =
        text.match_indices(old).map(|(start, _)| start..start + old.len()).collect();
    let Some(first) = found.first() else { return Err(ReplacementError::NotFound) };
    // Two that overlap are two: which one is meant cannot be told.
    let behind_first = first.start + old.chars().next().map_or(1, char::len_utf8);
    let second = text.get(behind_first..).and_then(|rest| rest.find(old));
    match second {
        Some(at) if !all => {
            let mut starts: Vec<usize> = found.iter().map(|range| range.start).collect();
            if starts.len() == 1 {
                starts.push(behind_first + at);
            }
            let more = starts.len().saturating_sub(PLACES);
            starts.truncate(PLACES);
            let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            Err(ReplacementError::NotUnique { lines: starts.into_iter().map(line).collect(), more })
        }
        _ => Ok(found),
    }
}

/// A text with every `\r\n` as `\n`, and the way back.
struct NormalizedText {
    text: String,
    /// Where the line ends that were `\r\n` are now, in order.
    returns: Vec<usize>,
}

impl NormalizedText {
    fn from_content(content: &str) -> Self {
        let mut text = String::with_capacity(content.len());
        let mut returns = Vec::new();
        for piece in content.split_inclusive("\r\n") {
            match piece.strip_suffix("\r\n") {
                Some(line) => {
                    text.push_str(line);
                    returns.push(text.len());
                    text.push('\n');
                }
                None => text.push_str(piece),
            }
        }
        Self { text, returns }
    }

    /// Returns where a place of the unified text is in the original.
    fn original(&self, at: usize) -> usize {
        at + self.returns.partition_point(|place| *place < at)
    }

    fn mostly_returns(&self) -> bool {
        self.returns.len() * 2 >= self.text.matches('\n').count()
    }
}

#[cfg(test)]
mod tests;
