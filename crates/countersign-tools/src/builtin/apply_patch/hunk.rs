//! Hunks: lines that are kept, removed and added at one place of a text.

use std::borrow::Cow;

/// One place of a text, as it is and as it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatchHunk {
    pub(super) place: HunkPosition,
    pub(super) lines: Vec<HunkLine>,
}

/// Where a hunk belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HunkPosition {
    /// At a line, counted from 1; for lines that are only added, behind it. Or as near as it fits.
    Line(usize),
    /// At the first fit behind these lines, which follow one another; or only at the end.
    Behind { anchors: Vec<String>, at_end: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) mark: HunkLineKind,
    /// With its `\n`, unless the text ends here without one.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HunkLineKind {
    Keep,
    Remove,
    Add,
}

impl PatchHunk {
    /// Returns the lines that must be there.
    fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter(|line| line.mark != HunkLineKind::Add);
        old.map(|line| bare(&line.text)).collect()
    }

    /// Returns the hunk without up to so many of the kept lines at either end; none if no line would
    /// be left to find its place by.
    fn loosen(&self, fuzz: usize) -> Option<Self> {
        let keeps = |line: &&HunkLine| line.mark == HunkLineKind::Keep;
        let front = self.lines.iter().take(fuzz).take_while(keeps).count();
        let rest = self.lines.get(front..)?;
        let back = rest.iter().rev().take(fuzz).take_while(keeps).count();
        let lines = rest.get(..rest.len() - back)?.to_vec();
        let place = match &self.place {
            HunkPosition::Line(number) => HunkPosition::Line(number + front),
            behind @ HunkPosition::Behind { .. } => behind.clone(),
        };
        let loose = Self { place, lines };
        (!loose.old().is_empty()).then_some(loose)
    }
}

/// Returns a text with every hunk applied in order, or the number of the first that does not fit.
///
/// Lines fit to the letter, except that a file whose line ends are all `\r\n` keeps them, and that so
/// many kept lines at either end of a hunk may differ as `fuzz` says.
pub(super) fn apply(hunks: &[PatchHunk], content: &str, fuzz: usize) -> Result<String, usize> {
    let written = |hunk: &PatchHunk| hunk.lines.iter().any(|line| line.text.contains('\r'));
    let ends = content.matches('\n').count();
    let returns = ends > 0
        && content.matches("\r\n").count() == ends
        && content.matches('\r').count() == ends
        && !hunks.iter().any(written);
    if !returns {
        return apply_to(hunks, content, fuzz);
    }
    let unified = content.replace("\r\n", "\n");
    apply_to(hunks, &unified, fuzz).map(|text| text.replace('\n', "\r\n"))
}

fn apply_to(hunks: &[PatchHunk], content: &str, fuzz: usize) -> Result<String, usize> {
    let file: Vec<&str> = content.split_inclusive('\n').collect();
    let mut made = PatchedText::default();
    let mut at = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let strict = position(hunk, &file, at).map(|start| (Cow::Borrowed(hunk), start));
        let looser = |fuzz| {
            let loose = hunk.loosen(fuzz)?;
            position(&loose, &file, at).map(|start| (Cow::Owned(loose), start))
        };
        let found = strict.or_else(|| (1..=fuzz).find_map(looser));
        let (hunk, start) = found.ok_or(index + 1)?;
        made.push_all(file.get(at..start).unwrap_or_default());
        at = start;
        for line in &hunk.lines {
            match line.mark {
                HunkLineKind::Add => made.push(&line.text),
                HunkLineKind::Remove => at += 1,
                HunkLineKind::Keep => {
                    made.push(file.get(at).copied().unwrap_or_default());
                    at += 1;
                }
            }
        }
    }
    made.push_all(file.get(at..).unwrap_or_default());
    Ok(made.0)
}

/// A text as it grows: a line without an end gets one when another follows.
#[derive(Default)]
struct PatchedText(String);

impl PatchedText {
    fn push(&mut self, line: &str) {
        if !self.0.is_empty() && !self.0.ends_with('\n') {
            self.0.push('\n');
        }
        self.0.push_str(line);
    }

    fn push_all(&mut self, lines: &[&str]) {
        for line in lines {
            self.push(line);
        }
    }
}

/// Returns the line of the file, from `from` on, at which a hunk fits.
fn position(hunk: &PatchHunk, file: &[&str], from: usize) -> Option<usize> {
    let old = hunk.old();
    let last = file.len().checked_sub(old.len())?;
    let fits = |at: &usize| {
        let there = file.get(*at..*at + old.len()).unwrap_or_default();
        there.iter().zip(&old).all(|(there, old)| bare(there) == *old)
    };
    match &hunk.place {
        HunkPosition::Line(number) if old.is_empty() => {
            (from..=file.len()).contains(number).then_some(*number)
        }
        HunkPosition::Line(number) => {
            let wanted = number.saturating_sub(1);
            let there = Some(wanted).filter(|at| (from..=last).contains(at)).filter(fits);
            there.or_else(|| (from..=last).filter(fits).min_by_key(|at| at.abs_diff(wanted)))
        }
        HunkPosition::Behind { anchors, at_end } => {
            let mut here = from;
            for anchor in anchors {
                let rest = file.get(here..)?;
                here += rest.iter().position(|line| bare(line) == anchor)? + 1;
            }
            match old.is_empty() {
                true if anchors.is_empty() || *at_end => Some(file.len()),
                true => Some(here),
                false if *at_end => Some(last).filter(|at| *at >= here).filter(fits),
                false => (here..=last).find(fits),
            }
        }
    }
}

/// Returns a line without its end.
fn bare(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_goes_where_its_lines_are() {
        let text = "a\nb\nc\nb\nd\n";
        check(text, HunkPosition::Line(2), "-b\n+x\n", Ok("a\nx\nc\nb\nd\n"));
        check(text, HunkPosition::Line(5), "-b\n+x\n", Ok("a\nb\nc\nx\nd\n"));
        check(text, HunkPosition::Line(9), " c\n-b\n", Ok("a\nb\nc\nd\n"));
        check(text, HunkPosition::Line(1), "-z\n", Err(1));
        check(text, HunkPosition::Line(2), "+new\n", Ok("a\nb\nnew\nc\nb\nd\n"));
        check(text, behind(&["c"], false), "-b\n+x\n", Ok("a\nb\nc\nx\nd\n"));
        check(text, behind(&["z"], false), "-b\n", Err(1));
        check(text, behind(&[], true), "-b\n", Err(1));
        check(text, behind(&[], true), "-d\n", Ok("a\nb\nc\nb\n"));
        check(text, behind(&[], false), "+e\n", Ok("a\nb\nc\nb\nd\ne\n"));
    }

    #[test]
    fn line_ends_stay() {
        check("a\r\nb\r\n", HunkPosition::Line(1), "-a\n+x\n", Ok("x\r\nb\r\n"));
        check("a\nb", HunkPosition::Line(2), " b\n+c\n", Ok("a\nb\nc\n"));
        check("a\nb", HunkPosition::Line(1), "-a\n", Ok("b"));
        check("", HunkPosition::Line(0), "+a\n", Ok("a\n"));
    }

    #[track_caller]
    fn check(text: &str, place: HunkPosition, lines: &str, made: Result<&str, usize>) {
        let line = |line: &str| {
            let (mark, text) = line.split_at(1);
            let mark = match mark {
                "+" => HunkLineKind::Add,
                "-" => HunkLineKind::Remove,
                _ => HunkLineKind::Keep,
            };
            HunkLine { mark, text: text.to_owned() }
        };
        let lines = lines.split_inclusive('\n').map(line).collect();
        assert_eq!(apply(&[PatchHunk { place, lines }], text, 0), made.map(str::to_owned));
    }

    fn behind(anchors: &[&str], at_end: bool) -> HunkPosition {
        HunkPosition::Behind { anchors: anchors.iter().map(ToString::to_string).collect(), at_end }
    }
}
