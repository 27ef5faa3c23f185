//! Patches between `*** Begin Patch` and `*** End Patch`: hunks are found by their lines alone.

use std::iter::Peekable;

use countersign_core::InvalidCall;

use super::file_patch::{FilePatch, FilePatchKind};
use super::hunk::{HunkLine, HunkLineKind, HunkPosition, PatchHunk};
use super::{at_line, checked_path};

pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

type EnvelopeLine<'a> = (usize, &'a str);

/// Reads such a patch.
pub(super) fn read(patch: &str) -> Result<Vec<FilePatch>, InvalidCall> {
    let numbered = patch.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut lines = numbered.skip_while(|(_, line)| line.trim().is_empty()).skip(1).peekable();
    let mut changes = Vec::new();
    loop {
        let Some((number, line)) = lines.next() else {
            return Err(InvalidCall(format!("the patch is cut off: `{END}` is missing")));
        };
        let named = |name: &str| checked_path(number, name.trim_end());
        if line.trim_end() == END {
            break;
        } else if let Some(name) = line.strip_prefix(ADD) {
            let hunks = read_added_file(&mut lines).into_iter().collect();
            changes.push(FilePatch { hunks, ..FilePatch::new(named(name)?, FilePatchKind::Add) });
        } else if let Some(name) = line.strip_prefix(DELETE) {
            changes.push(FilePatch::new(named(name)?, FilePatchKind::Delete));
        } else if let Some(name) = line.strip_prefix(UPDATE) {
            let file = named(name)?;
            let kind = match lines.next_if(|(_, line)| line.starts_with(MOVE)) {
                Some((number, line)) => {
                    let to = line.strip_prefix(MOVE).unwrap_or_default();
                    FilePatchKind::Move { to: checked_path(number, to.trim_end())? }
                }
                None => FilePatchKind::Update,
            };
            let hunks = read_updated_file(&mut lines)?;
            if hunks.is_empty() && kind == FilePatchKind::Update {
                return Err(at_line(number, "nothing is changed in this file"));
            }
            changes.push(FilePatch { hunks, ..FilePatch::new(file, kind) });
        } else {
            return Err(at_line(
                number,
                "expected `*** Add File: `, `*** Update File: ` or the like",
            ));
        }
    }
    match lines.find(|(_, line)| !line.trim().is_empty()) {
        Some((number, _)) => Err(at_line(number, "something follows the end of the patch")),
        None => Ok(changes),
    }
}

/// Reads the lines of a new file.
fn read_added_file<'a>(
    lines: &mut Peekable<impl Iterator<Item = EnvelopeLine<'a>>>,
) -> Option<PatchHunk> {
    let mut found = Vec::new();
    while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with('+')) {
        found.push(HunkLine {
            mark: HunkLineKind::Add,
            text: format!("{}\n", line.get(1..).unwrap_or_default()),
        });
    }
    (!found.is_empty()).then_some(PatchHunk { place: HunkPosition::Line(0), lines: found })
}

/// Reads the hunks of a file that is changed, up to the next file.
fn read_updated_file<'a>(
    lines: &mut Peekable<impl Iterator<Item = EnvelopeLine<'a>>>,
) -> Result<Vec<PatchHunk>, InvalidCall> {
    let mut hunks = Vec::new();
    loop {
        let mut anchors = Vec::new();
        let mut last = None;
        while let Some((number, line)) = lines.next_if(|(_, line)| line.starts_with("@@")) {
            last = Some(number);
            let anchor = line.trim_start_matches('@').strip_prefix(' ').unwrap_or_default();
            if !anchor.is_empty() {
                anchors.push(anchor.to_owned());
            }
        }
        let found = read_marked_lines(lines)?;
        let ended = lines.next_if(|(_, line)| line.trim_end() == END_OF_FILE).is_some();
        match (found.iter().any(|line| line.mark != HunkLineKind::Keep), last) {
            (true, _) => {
                let place = HunkPosition::Behind { anchors, at_end: ended };
                hunks.push(PatchHunk { place, lines: found });
            }
            (false, Some(number)) => return Err(at_line(number, "nothing is changed here")),
            (false, None) if ended || !found.is_empty() => {
                let number = lines.peek().map_or(0, |(number, _)| *number);
                return Err(at_line(number, "lines before this change nothing"));
            }
            (false, None) => return Ok(hunks),
        }
    }
}

/// Reads lines with their marks.
fn read_marked_lines<'a>(
    lines: &mut Peekable<impl Iterator<Item = EnvelopeLine<'a>>>,
) -> Result<Vec<HunkLine>, InvalidCall> {
    let is_head = |line: &str| line.starts_with("***") || line.starts_with("@@");
    let mut found = Vec::new();
    while let Some((number, line)) = lines.next_if(|(_, line)| !is_head(line)) {
        let mark = match line.chars().next() {
            // An empty line lost its mark on the way.
            None | Some(' ') => HunkLineKind::Keep,
            Some('-') => HunkLineKind::Remove,
            Some('+') => HunkLineKind::Add,
            Some(_) => return Err(at_line(number, "it starts with neither ` `, `-` nor `+`")),
        };
        found.push(HunkLine { mark, text: format!("{}\n", line.get(1..).unwrap_or_default()) });
    }
    Ok(found)
}
