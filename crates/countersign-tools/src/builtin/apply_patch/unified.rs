//! Unified diffs, plain and with git's headers.

use std::iter::Peekable;

use countersign_core::InvalidCall;

use super::file_patch::{FilePatch, FilePatchKind, GitFileMode};
use super::hunk::{HunkLine, HunkLineKind, HunkPosition, PatchHunk};
use super::{at_line, checked_path};

const GIT: &str = "diff --git ";

type UnifiedLine<'a> = (usize, &'a str);

/// What stands between `diff --git` and the hunks.
#[derive(Default)]
struct GitDiffHeader {
    old_mode: Option<GitFileMode>,
    new_mode: Option<GitFileMode>,
    is_new: bool,
    is_deleted: bool,
    from: Option<String>,
    to: Option<String>,
}

/// The names in front of the hunks; none is `/dev/null`.
struct DiffFileNames {
    old: Option<String>,
    new: Option<String>,
}

/// Reads such a patch.
pub(super) fn read(patch: &str) -> Result<Vec<FilePatch>, InvalidCall> {
    let numbered = patch.split('\n').enumerate().map(|(index, line)| (index + 1, line));
    let mut lines = numbered.peekable();
    let mut changes = Vec::new();
    while let Some(&(number, line)) = lines.peek() {
        if let Some(names) = line.strip_prefix(GIT) {
            lines.next();
            changes.push(git(number, names.trim_end(), &mut lines)?);
        } else if line.starts_with("--- ") {
            changes.push(plain(&mut lines)?);
        } else if line.trim().is_empty() {
            lines.next();
        } else {
            return Err(at_line(
                number,
                "this is not part of a unified diff; leave out everything else",
            ));
        }
    }
    Ok(changes)
}

/// Reads the changes to a file behind `--- ` and `+++ ` alone.
fn plain<'a>(
    lines: &mut Peekable<impl Iterator<Item = UnifiedLine<'a>>>,
) -> Result<FilePatch, InvalidCall> {
    let number = lines.peek().map_or(0, |(number, _)| *number);
    let DiffFileNames { old, new } = names(lines)?;
    // Both or neither: `a/x` can also be the name of a file.
    let is_marked = |name: &Option<String>, mark| {
        name.as_ref().is_none_or(|name: &String| name.starts_with(mark))
    };
    let marked = is_marked(&old, "a/") && is_marked(&new, "b/");
    let unmarked = |name: Option<String>| match name {
        Some(name) if marked => name.get(2..).map(str::to_owned),
        other => other,
    };
    let hunks = hunks(lines)?;
    let (path, kind) = match (unmarked(old), unmarked(new)) {
        (Some(old), Some(new)) if old == new => (old, FilePatchKind::Update),
        (Some(_), Some(_)) => return Err(at_line(number, "the two names differ")),
        (None, Some(new)) => (new, FilePatchKind::Add),
        (Some(old), None) => (old, FilePatchKind::Delete),
        (None, None) => return Err(at_line(number, "both names are `/dev/null`")),
    };
    if hunks.is_empty() {
        return Err(at_line(number, "no `@@` follows the names"));
    }
    Ok(FilePatch { hunks, ..FilePatch::new(checked_path(number, &path)?, kind) })
}

/// Reads the changes to a file behind `diff --git`. Every place that names it must agree.
fn git<'a>(
    number: usize,
    title: &str,
    lines: &mut Peekable<impl Iterator<Item = UnifiedLine<'a>>>,
) -> Result<FilePatch, InvalidCall> {
    let header = header(lines)?;
    let has_names = lines.peek().is_some_and(|(_, line)| line.starts_with("--- "));
    let (names, hunks) = if has_names {
        let names = names(lines)?;
        (Some(names), hunks(lines)?)
    } else {
        (None, Vec::new())
    };
    let (path, kind) = match (&header.from, &header.to) {
        (Some(from), Some(to)) => (from.clone(), FilePatchKind::Move { to: to.clone() }),
        (None, None) => {
            let path = same_name(title).ok_or_else(|| {
                at_line(number, "expected `diff --git a/<path> b/<path>`, twice the same path")
            })?;
            let kind = match (header.is_new, header.is_deleted) {
                (true, false) => FilePatchKind::Add,
                (false, true) => FilePatchKind::Delete,
                (false, false) => FilePatchKind::Update,
                (true, true) => return Err(at_line(number, "the file is new and deleted")),
            };
            (path.to_owned(), kind)
        }
        _ => return Err(at_line(number, "`rename from` and `rename to` belong together")),
    };
    let new_path = match &kind {
        FilePatchKind::Move { to } => to,
        FilePatchKind::Add | FilePatchKind::Update | FilePatchKind::Delete => &path,
    };
    let with_mark = |mark: &str, path: &str| Some(format!("{mark}/{path}"));
    let expected_old = if kind == FilePatchKind::Add { None } else { with_mark("a", &path) };
    let expected_new = if kind == FilePatchKind::Delete { None } else { with_mark("b", new_path) };
    let agree = names.is_none_or(|it| it.old == expected_old && it.new == expected_new);
    if !agree || title != format!("a/{path} b/{new_path}") {
        return Err(at_line(number, "the names in the header and before the hunks differ"));
    }
    let touched = !hunks.is_empty() || header.new_mode.is_some() || kind != FilePatchKind::Update;
    if !touched || (has_names && hunks.is_empty()) {
        return Err(at_line(number, "nothing is changed in this file"));
    }
    checked_path(number, new_path)?;
    let path = checked_path(number, &path)?;
    Ok(FilePatch { path, kind, old_mode: header.old_mode, new_mode: header.new_mode, hunks })
}

/// Returns the path of `a/<path> b/<path>`.
fn same_name(title: &str) -> Option<&str> {
    let length = title.len().checked_sub("a/ b/".len())? / 2;
    let path = title.get(2..2 + length)?;
    (title == format!("a/{path} b/{path}")).then_some(path)
}

fn header<'a>(
    lines: &mut Peekable<impl Iterator<Item = UnifiedLine<'a>>>,
) -> Result<GitDiffHeader, InvalidCall> {
    let mut header = GitDiffHeader::default();
    let is_over =
        |line: &str| line.starts_with("--- ") || line.starts_with(GIT) || line.trim().is_empty();
    while let Some((number, line)) = lines.next_if(|(_, line)| !is_over(line)) {
        let line = line.trim_end();
        let mode = |text: &str| {
            GitFileMode::read(text)
                .map(Some)
                .ok_or_else(|| at_line(number, "the mode is none of `100644`, `100755`, `120000`"))
        };
        if let Some(text) = line.strip_prefix("old mode ") {
            header.old_mode = mode(text)?;
        } else if let Some(text) = line.strip_prefix("new mode ") {
            header.new_mode = mode(text)?;
        } else if let Some(text) = line.strip_prefix("new file mode ") {
            (header.is_new, header.new_mode) = (true, mode(text)?);
        } else if let Some(text) = line.strip_prefix("deleted file mode ") {
            (header.is_deleted, header.old_mode) = (true, mode(text)?);
        } else if let Some(path) = line.strip_prefix("rename from ") {
            header.from = Some(checked_path(number, path)?);
        } else if let Some(path) = line.strip_prefix("rename to ") {
            header.to = Some(checked_path(number, path)?);
        } else if let Some(text) = line.strip_prefix("index ") {
            // The mode of a file that keeps it: a link's content is where it leads.
            if text.ends_with(" 120000") {
                header.old_mode = Some(GitFileMode::Link);
            }
        } else if !line.starts_with("similarity index ")
            && !line.starts_with("dissimilarity index ")
        {
            return Err(at_line(
                number,
                "this header is not known (copies and binary patches are not read)",
            ));
        }
    }
    Ok(header)
}

/// Reads `--- ` and `+++ `.
fn names<'a>(
    lines: &mut Peekable<impl Iterator<Item = UnifiedLine<'a>>>,
) -> Result<DiffFileNames, InvalidCall> {
    let mut name = |mark: &str| {
        let (number, line) = lines.next().unwrap_or_default();
        let name = line
            .strip_prefix(mark)
            .ok_or_else(|| at_line(number, &format!("expected `{mark}`")))?;
        // A tab ends the name; behind it comes a time.
        let name = name.split('\t').next().unwrap_or(name).trim_end_matches('\r');
        if name == "/dev/null" {
            return Ok(None);
        }
        checked_path(number, name).map(Some)
    };
    Ok(DiffFileNames { old: name("--- ")?, new: name("+++ ")? })
}

fn hunks<'a>(
    lines: &mut Peekable<impl Iterator<Item = UnifiedLine<'a>>>,
) -> Result<Vec<PatchHunk>, InvalidCall> {
    let mut hunks = Vec::new();
    while let Some((number, line)) = lines.next_if(|(_, line)| line.starts_with("@@")) {
        let (start, old, new) = range(line)
            .ok_or_else(|| at_line(number, "expected `@@ -<line>,<count> +<line>,<count> @@`"))?;
        hunks.push(PatchHunk {
            place: HunkPosition::Line(start),
            lines: body(number, old, new, lines)?,
        });
    }
    Ok(hunks)
}

/// Reads where a hunk starts, and how many lines it has before and after.
fn range(line: &str) -> Option<(usize, usize, usize)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let parts = |range: &str| -> Option<(usize, usize)> {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((start, old), (_, new)) = (parts(old)?, parts(new)?);
    Some((start, old, new))
}

/// Reads as many lines as the head of the hunk announced, no fewer and no more.
fn body<'a>(
    head: usize,
    mut old: usize,
    mut new: usize,
    lines: &mut Peekable<impl Iterator<Item = UnifiedLine<'a>>>,
) -> Result<Vec<HunkLine>, InvalidCall> {
    let mut found: Vec<HunkLine> = Vec::new();
    loop {
        if lines.next_if(|(_, line)| line.starts_with("\\ ")).is_some() {
            let last = found.last_mut();
            let last = last.ok_or_else(|| at_line(head, "no line before `\\ No newline`"))?;
            last.text.truncate(last.text.trim_end_matches('\n').len());
            continue;
        }
        if old == 0 && new == 0 {
            return Ok(found);
        }
        let Some((number, line)) = lines.next() else {
            return Err(at_line(head, "the hunk has fewer lines than it says"));
        };
        let (mark, counts) = match line.chars().next() {
            // An empty line lost its mark on the way.
            None | Some(' ') => (HunkLineKind::Keep, (1, 1)),
            Some('-') => (HunkLineKind::Remove, (1, 0)),
            Some('+') => (HunkLineKind::Add, (0, 1)),
            Some(_) => return Err(at_line(number, "it starts with neither ` `, `-` nor `+`")),
        };
        let left = (old.checked_sub(counts.0), new.checked_sub(counts.1));
        let (Some(old_left), Some(new_left)) = left else {
            return Err(at_line(number, "the hunk has other lines than its head says"));
        };
        (old, new) = (old_left, new_left);
        found.push(HunkLine { mark, text: format!("{}\n", line.get(1..).unwrap_or_default()) });
    }
}

#[cfg(test)]
mod tests;
