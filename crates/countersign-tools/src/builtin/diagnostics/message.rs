//! What checkers said, put together.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use countersign_core::ToolOutput;

use crate::files::truncate::cap;

/// How many messages are shown.
const SHOWN: usize = 100;

/// How long one is.
const TEXT_LIMIT: usize = 1_000;

/// How bad it is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CheckerSeverity {
    Error,
    Warning,
}

impl CheckerSeverity {
    /// Reads the word of a checker; none for what only adds to another message.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "error" | "error: internal compiler error" => Some(Self::Error),
            "warning" => Some(Self::Warning),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing a checker said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckerMessage {
    /// As the checker names it.
    pub(super) file: Option<PathBuf>,
    /// Counted from 1.
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) level: CheckerSeverity,
    pub(super) code: Option<String>,
    pub(super) text: String,
}

/// Everything that was said of a file or folder.
pub(super) struct CheckerReport<'a> {
    cwd: &'a Path,
    about: &'a Path,
    found: Vec<CheckerMessage>,
    notes: Vec<String>,
    has_failed: bool,
}

impl<'a> CheckerReport<'a> {
    pub(super) fn new(cwd: &'a Path, about: &'a Path) -> Self {
        Self { cwd, about, found: Vec::new(), notes: Vec::new(), has_failed: false }
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Notes that a checker could not do its work.
    pub(super) fn note_failure(&mut self, line: &str, said: &str) {
        self.has_failed = true;
        self.note(format!("`{line}` failed:\n{}", said.trim()));
    }

    /// Takes in what a checker said that ran in a folder.
    pub(super) fn take(&mut self, folder: &Path, found: Vec<CheckerMessage>) {
        for mut message in found {
            message.file = message.file.map(|file| locate_file(folder, file));
            // What is about no file is about all of them.
            let is_wanted = message.file.as_ref().is_none_or(|it| it.starts_with(self.about));
            if is_wanted && !self.found.contains(&message) {
                self.found.push(message);
            }
        }
    }

    /// Tells all of it.
    pub(super) fn into_output(mut self) -> ToolOutput {
        self.found.sort_by(|a, b| (a.level, &a.file, a.line).cmp(&(b.level, &b.file, b.line)));
        let count = |level| self.found.iter().filter(|it| it.level == level).count();
        let mut out = match (count(CheckerSeverity::Error), count(CheckerSeverity::Warning)) {
            (0, 0) if self.has_failed => String::new(),
            (0, 0) => "No errors, no warnings.\n".to_owned(),
            (errors, warnings) => format!("Errors: {errors}, warnings: {warnings}\n"),
        };
        for message in self.found.iter().take(SHOWN) {
            let place = message.file.as_ref().map(|file| {
                let file = file.strip_prefix(self.cwd).unwrap_or(file).display();
                format!("{file}:{}:{}: ", message.line, message.column)
            });
            let code = message.code.as_ref().map(|code| format!("[{code}]"));
            let (place, code) = (place.unwrap_or_default(), code.unwrap_or_default());
            let text = cap(&message.text, TEXT_LIMIT);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{place}{}{code}: {text}", message.level.name());
        }
        if let Some(more @ 1..) = self.found.len().checked_sub(SHOWN) {
            let _ = writeln!(out, "[{more} more; give a narrower `path` to see them]");
        }
        for note in &self.notes {
            let _ = writeln!(out, "[{note}]");
        }
        ToolOutput { is_error: self.has_failed, ..ToolOutput::ok(out.trim_end()) }
    }
}

/// Returns where a file is that a checker names from its folder, or from one above it.
fn locate_file(folder: &Path, file: PathBuf) -> PathBuf {
    let found = folder.ancestors().map(|above| above.join(&file)).find(|path| path.exists());
    found.unwrap_or(file)
}
