//! Unified diffs: what changes between two texts, line by line.
//!
//! Most edits touch a few lines of a file, so equal lines at both ends and long equal runs between
//! small changes are passed by comparing bytes; only what is left goes to the diff algorithm.

use std::collections::VecDeque;

use imara_diff::{Algorithm, Diff, InternedInput};
use serde::{Deserialize, Serialize};

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

/// A unified diff without end-of-file markers, as people know it from `diff -u`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnifiedDiff {
    /// Header, hunk heads and lines, each without its line end.
    ///
    /// Of a diff that is too long, the first [`UnifiedDiff::HEAD`] and the last [`UnifiedDiff::TAIL`],
    /// with the head of a hunk between them where theirs is left out.
    pub lines: Vec<String>,
    /// How many lines are added.
    pub added: usize,
    /// How many lines are removed.
    pub removed: usize,
    /// How many lines were left out, between the head and the tail.
    pub omitted: usize,
}

/// A run of lines that is replaced: half-open ranges in the old and the new text.
#[derive(Clone, Copy, Debug)]
struct LineChange {
    old: (usize, usize),
    new: (usize, usize),
}

impl UnifiedDiff {
    /// A diff of more lines than this is shown by its two ends, and what is left out is counted.
    pub const LINE_LIMIT: usize = 2_000;
    /// How many lines are kept at the start of a diff that is too long.
    pub const HEAD: usize = 1_000;
    /// How many lines are kept at its end.
    pub const TAIL: usize = 200;

    /// Returns the diff that turns `old` into `new`, with `path` in its header.
    pub fn from_texts(path: &str, old: &str, new: &str) -> Self {
        Self::with_full_text(path, old, new).0
    }

    /// Returns the diff, and its whole text if it does not hold all of it.
    ///
    /// The whole text is that of `diff -u`: its lines with a `\n` between them.
    pub fn with_full_text(path: &str, old: &str, new: &str) -> (Self, Option<String>) {
        let old_lines: Vec<&str> = lines(old);
        let new_lines: Vec<&str> = lines(new);
        let changes = changes(&old_lines, &new_lines);
        let mut text = DiffLineBuffer::default();
        if !changes.is_empty() {
            text.push(format!("--- a/{path}"));
            text.push(format!("+++ b/{path}"));
        }
        for hunk in hunks(&changes) {
            text.push_hunk(hunk, &old_lines, &new_lines);
        }
        let (lines, omitted, whole) = text.finish();
        let added = changes.iter().map(|change| change.new.1 - change.new.0).sum();
        let removed = changes.iter().map(|change| change.old.1 - change.old.0).sum();
        (Self { lines, added, removed, omitted }, whole)
    }
}

/// The lines of a diff as they come: both ends are kept, and the whole as one text.
#[derive(Default)]
struct DiffLineBuffer {
    /// The first lines, up to the limit.
    first: Vec<NumberedDiffLine>,
    /// The last of those that came after them.
    last: VecDeque<NumberedDiffLine>,
    count: usize,
    whole: String,
    /// How many lines of the old and the new text are passed.
    at: (usize, usize),
}

/// A line of a diff and how many lines of either text come before it.
struct NumberedDiffLine {
    line: String,
    at: (usize, usize),
}

impl DiffLineBuffer {
    fn push_hunk(&mut self, hunk: &[LineChange], old: &[&str], new: &[&str]) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
        let before = first.old.0.min(CONTEXT);
        let after = (old.len() - last.old.1).min(CONTEXT);
        self.at = (first.old.0 - before, first.new.0 - before);
        self.push(head(self.at, (last.old.1 + after, last.new.1 + after)));
        let mut shown = first.old.0 - before;
        for change in hunk {
            self.push_lines(' ', old, shown, change.old.0);
            self.push_lines('-', old, change.old.0, change.old.1);
            self.push_lines('+', new, change.new.0, change.new.1);
            shown = change.old.1;
        }
        self.push_lines(' ', old, shown, shown + after);
    }

    fn push_lines(&mut self, mark: char, lines: &[&str], from: usize, to: usize) {
        for line in lines.get(from..to).unwrap_or_default() {
            let text = line.strip_suffix('\n').unwrap_or(line);
            let mut shown = String::with_capacity(text.len() + 1);
            shown.push(mark);
            shown.push_str(text);
            self.push(shown);
            self.at = passed(self.at, mark);
        }
    }

    fn push(&mut self, line: String) {
        if self.count > 0 {
            self.whole.push('\n');
        }
        self.whole.push_str(&line);
        self.count += 1;
        let placed = NumberedDiffLine { line, at: self.at };
        if self.first.len() < UnifiedDiff::LINE_LIMIT {
            self.first.push(placed);
        } else {
            self.last.push_back(placed);
            if self.last.len() > UnifiedDiff::TAIL {
                self.last.pop_front();
            }
        }
    }

    /// Returns the lines that are kept, how many are not, and the whole text if some are not.
    fn finish(mut self) -> (Vec<String>, usize, Option<String>) {
        let lines = |placed: Vec<NumberedDiffLine>| {
            placed.into_iter().map(|it| it.line).collect::<Vec<_>>()
        };
        if self.count <= UnifiedDiff::LINE_LIMIT {
            return (lines(self.first), 0, None);
        }
        let mut tail = self.first.split_off(UnifiedDiff::HEAD);
        tail.extend(self.last);
        let tail = tail.split_off(tail.len() - UnifiedDiff::TAIL);
        let omitted = self.count - UnifiedDiff::HEAD - UnifiedDiff::TAIL;
        let mut kept = lines(self.first);
        kept.extend(missing_head(&tail));
        kept.extend(lines(tail));
        (kept, omitted, Some(self.whole))
    }
}

/// Returns the head of a hunk for lines whose own one is left out: who numbers lines goes by it.
fn missing_head(tail: &[NumberedDiffLine]) -> Option<String> {
    let first = tail.first().filter(|first| !first.line.starts_with('@'))?;
    let marks = tail.iter().map_while(|it| it.line.chars().next().filter(|mark| *mark != '@'));
    Some(head(first.at, marks.fold(first.at, passed)))
}

/// Returns how many lines of either text are passed after a line of a diff.
fn passed((old, new): (usize, usize), mark: char) -> (usize, usize) {
    (old + usize::from(mark != '+'), new + usize::from(mark != '-'))
}

/// Writes the head of a hunk: from which line to which, in the old text and the new.
fn head(from: (usize, usize), to: (usize, usize)) -> String {
    format!("@@ -{} +{} @@", range(from.0, to.0), range(from.1, to.1))
}

/// Splits a text into lines that keep their `\n`.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns what differs. The diff algorithm sees only what lies between long equal runs.
fn changes(old: &[&str], new: &[&str]) -> Vec<LineChange> {
    let equal =
        |old: &[&str], new: &[&str]| old.iter().zip(new).take_while(|(o, n)| o == n).count();
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    // The equal ends must not overlap, as they would where something is only repeated.
    let back = back.min(old.len().min(new.len()) - equal(old, new));
    let (mut old_rest, mut new_rest) =
        (old.split_at(old.len() - back).0, new.split_at(new.len() - back).0);
    let (mut old_at, mut new_at) = (0, 0);
    let mut changes = Vec::new();
    loop {
        let same = equal(old_rest, new_rest);
        (old_at, new_at) = (old_at + same, new_at + same);
        (old_rest, new_rest) = (old_rest.split_at(same).1, new_rest.split_at(same).1);
        if old_rest.is_empty() && new_rest.is_empty() {
            return changes;
        }
        let near = next_equal_run(old_rest, new_rest);
        let (gone, come) = near.unwrap_or((old_rest.len(), new_rest.len()));
        let ((old_now, old_next), (new_now, new_next)) =
            (old_rest.split_at(gone), new_rest.split_at(come));
        changes.extend(computed(old_now, new_now).map(|change| change.moved(old_at, new_at)));
        (old_at, new_at) = (old_at + gone, new_at + come);
        (old_rest, new_rest) = (old_next, new_next);
    }
}

/// Returns how many lines to pass on either side to come to an equal run again, if that is near.
///
/// The run must be long enough that it is hardly equal by chance.
fn next_equal_run(old: &[&str], new: &[&str]) -> Option<(usize, usize)> {
    const RUN: usize = 32;
    const NEAR: usize = 8;
    (1..=NEAR).flat_map(|passed| (0..=passed).map(move |gone| (gone, passed - gone))).find(
        |&(gone, come)| match (old.get(gone..gone + RUN), new.get(come..come + RUN)) {
            (Some(old), Some(new)) => old == new,
            _ => false,
        },
    )
}

/// Returns what differs, by the histogram algorithm.
fn computed(old: &[&str], new: &[&str]) -> impl Iterator<Item = LineChange> {
    let input = interned(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<_> = diff.hunks().collect();
    hunks.into_iter().map(|hunk| LineChange {
        old: (hunk.before.start as usize, hunk.before.end as usize),
        new: (hunk.after.start as usize, hunk.after.end as usize),
    })
}

impl LineChange {
    fn moved(self, old: usize, new: usize) -> Self {
        Self {
            old: (self.old.0 + old, self.old.1 + old),
            new: (self.new.0 + new, self.new.1 + new),
        }
    }
}

fn interned<'a>(old: &[&'a str], new: &[&'a str]) -> InternedInput<&'a str> {
    let mut input = InternedInput::default();
    input.reserve(
        u32::try_from(old.len()).unwrap_or(u32::MAX),
        u32::try_from(new.len()).unwrap_or(u32::MAX),
    );
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    input
}

/// Groups changes whose context would touch.
fn hunks(changes: &[LineChange]) -> impl Iterator<Item = &[LineChange]> {
    changes.chunk_by(|left, right| right.old.0 - left.old.1 <= 2 * CONTEXT)
}

/// Writes a range as `diff` does: one line is its number, none is the line before.
fn range(from: usize, to: usize) -> String {
    match to - from {
        0 => format!("{from},0"),
        1 => format!("{}", from + 1),
        length => format!("{},{length}", from + 1),
    }
}

#[cfg(test)]
mod tests;
