//! What a search found, and how it is told.

use std::fmt::Write;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::SystemTime;

use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::files::truncate::start;

/// Above this many characters a line is cut.
const LINE_LIMIT: usize = 500;

/// Above this many lines no further one of a file is kept.
const LINES_PER_FILE: usize = 20_000;

/// Above this many bytes an answer ends.
const ANSWER_LIMIT: usize = 30_000;

/// What is to be kept of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchDetail {
    /// The lines themselves.
    pub(super) lines: bool,
    /// Nothing but whether there is a match.
    pub(super) only_whether: bool,
    /// The numbers of the lines.
    pub(super) numbers: bool,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub(super) struct FileMatches {
    path: String,
    changed: Option<SystemTime>,
    matches: u64,
    lines: Vec<String>,
    bytes: usize,
}

/// A file that is looked at: most of them hold nothing, and cost nothing here.
#[derive(Debug)]
pub(super) struct MatchCollector<'a> {
    path: &'a Path,
    cwd: &'a Path,
    wanted: MatchDetail,
    found: FileMatches,
    is_binary: bool,
}

impl FileMatches {
    /// Returns whether there may be more in the file than was kept.
    pub(super) fn is_cut(&self) -> bool {
        self.lines.len() >= LINES_PER_FILE
    }

    /// Returns how much memory the lines take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push(line);
    }
}

impl<'a> MatchCollector<'a> {
    /// Looks at a file, which is told by its path from `cwd`.
    pub(super) fn for_file(path: &'a Path, cwd: &'a Path, wanted: MatchDetail) -> Self {
        Self { path, cwd, wanted, found: FileMatches::default(), is_binary: false }
    }

    /// Returns what was found, if there is anything to tell.
    pub(super) fn found(
        mut self,
        changed: impl FnOnce() -> Option<SystemTime>,
    ) -> Option<FileMatches> {
        if self.found.matches == 0 || self.is_binary {
            return None;
        }
        self.name();
        Some(FileMatches { changed: changed(), ..self.found })
    }

    fn name(&mut self) {
        if self.found.path.is_empty() {
            let shown = self.path.strip_prefix(self.cwd).unwrap_or(self.path);
            self.found.path = shown.display().to_string();
        }
    }

    fn keep(&mut self, mark: char, number: Option<u64>, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\r', '\n']);
        self.name();
        let mut kept = format!("{}{mark}", self.found.path);
        if let Some(number) = number.filter(|_| self.wanted.numbers) {
            // Writing to a string cannot fail.
            let _ = write!(kept, "{number}{mark}");
        }
        let count = text.chars().count();
        if count > LINE_LIMIT {
            let _ = write!(
                kept,
                "{}… [{} characters cut]",
                start(text, LINE_LIMIT),
                count - LINE_LIMIT
            );
        } else {
            kept.push_str(text);
        }
        self.found.push(kept);
    }
}

impl Sink for &mut MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let first = found.line_number();
        for (index, line) in (0..).zip(found.lines()) {
            self.found.matches += 1;
            if self.wanted.lines {
                self.keep(':', first.map(|first| first + index), line);
            }
        }
        Ok(!self.wanted.only_whether && !self.found.is_cut())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.wanted.lines {
            self.keep('-', context.line_number(), context.bytes());
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.wanted.lines {
            self.found.push("--".to_owned());
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.is_binary = end.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Which part of the entries is told.
#[derive(Debug)]
pub(super) struct MatchPage {
    pub(super) offset: usize,
    /// None for as many as fit.
    pub(super) limit: Option<NonZeroUsize>,
    /// What else the model should know.
    pub(super) notes: Vec<String>,
}

/// Tells which files have a match, the most recently changed first.
pub(super) fn files(mut finds: Vec<FileMatches>, page: &MatchPage) -> String {
    finds.sort_by(|left, right| {
        right.changed.cmp(&left.changed).then_with(|| left.path.cmp(&right.path))
    });
    let count = finds.len();
    let head = format!("Found {count} {}", if count == 1 { "file" } else { "files" });
    page.tell(Some(head), "No files found", finds.into_iter().map(|found| found.path).collect())
}

/// Tells the matching lines, in the order of the paths.
pub(super) fn content(mut finds: Vec<FileMatches>, page: &MatchPage, has_context: bool) -> String {
    finds.sort_by(|left, right| left.path.cmp(&right.path));
    let mut lines = Vec::new();
    for found in finds {
        if has_context && !lines.is_empty() {
            lines.push("--".to_owned());
        }
        lines.extend(found.lines);
    }
    page.tell(None, "No matches found", lines)
}

/// Tells how many lines match in each file, in the order of the paths.
pub(super) fn counts(mut finds: Vec<FileMatches>, page: &MatchPage) -> String {
    finds.sort_by(|left, right| left.path.cmp(&right.path));
    let total: u64 = finds.iter().map(|found| found.matches).sum();
    let head = format!("Found {total} matching lines in {} files", finds.len());
    let counted = finds.into_iter().map(|found| format!("{}:{}", found.path, found.matches));
    page.tell(Some(head), "No matches found", counted.collect())
}

impl MatchPage {
    fn tell(&self, head: Option<String>, nothing: &str, entries: Vec<String>) -> String {
        let total = entries.len();
        let mut parts: Vec<String> = head.into_iter().collect();
        if total == 0 {
            parts = vec![nothing.to_owned()];
        } else if self.offset >= total {
            parts.push(format!("[There are {total} entries: none from offset={} on]", self.offset));
        }
        let limit = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut told = 0;
        let mut bytes = 0;
        for entry in entries.into_iter().skip(self.offset).take(limit) {
            bytes += entry.len() + 1;
            if bytes > ANSWER_LIMIT && told > 0 {
                break;
            }
            told += 1;
            parts.push(entry);
        }
        let next = self.offset + told;
        if told > 0 && next < total {
            parts.push(format!(
                "[{} more entries; go on with offset={next}, or narrow the search]",
                total - next
            ));
        }
        parts.extend(self.notes.iter().cloned());
        parts.join("\n")
    }
}
