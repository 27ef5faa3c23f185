//! The part of a file that is shown, picked from a stream of text.

use crate::files::text::push_numbered;
use crate::files::truncate::start;

/// Above this many characters a line is cut.
const LINE_LIMIT: usize = 2000;

/// Above this many bytes of answer no further line is shown.
const ANSWER_LIMIT: usize = 200_000;

/// Above this many bytes behind the window the remaining lines are not counted.
const COUNT_LIMIT: usize = 64 * 1024 * 1024;

/// Picks lines from a text that comes in pieces.
#[derive(Debug)]
pub(super) struct LineWindow {
    from: usize,
    /// The first line that is not shown any more.
    until: usize,
    /// The line that is being read, counted from 1.
    line: usize,
    /// What has come of it, cut.
    current: String,
    current_count: usize,
    /// Whether anything of it has come.
    started: bool,
    answer: String,
    counted_behind: usize,
}

impl LineWindow {
    pub(super) fn new(from: usize, limit: usize) -> Self {
        Self {
            from,
            until: from.saturating_add(limit),
            line: 1,
            current: String::new(),
            current_count: 0,
            started: false,
            answer: String::new(),
            counted_behind: 0,
        }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let ended = piece.ends_with('\n');
            if self.line >= self.until {
                self.counted_behind += piece.len();
            } else if self.line >= self.from {
                self.take(piece.strip_suffix('\n').unwrap_or(piece));
            }
            self.started = !ended;
            if ended {
                self.end_line();
            }
        }
    }

    /// Returns whether going on would be of no use to the reader.
    pub(super) fn has_enough(&self) -> bool {
        self.counted_behind > COUNT_LIMIT
    }

    fn take(&mut self, piece: &str) {
        let room = (LINE_LIMIT + 1).saturating_sub(self.current.chars().count());
        self.current.push_str(start(piece, room));
        self.current_count += piece.chars().count();
    }

    fn end_line(&mut self) {
        if self.line >= self.from && self.line < self.until {
            let line = self.current.strip_suffix('\r').unwrap_or(&self.current);
            if self.current_count > LINE_LIMIT + 1 || line.chars().count() > LINE_LIMIT {
                let shown = start(line, LINE_LIMIT);
                let cut = self.current_count - LINE_LIMIT;
                let note = format!("{shown}… [{cut} characters cut]");
                push_numbered(&mut self.answer, self.line, &note);
            } else {
                push_numbered(&mut self.answer, self.line, line);
            }
            if self.answer.len() > ANSWER_LIMIT {
                self.until = self.line + 1;
            }
            self.current.clear();
            self.current_count = 0;
        }
        self.line += 1;
    }

    /// Returns the answer, or why there is none.
    pub(super) fn into_answer(mut self, path: &str, had_faults: bool) -> Result<String, String> {
        if self.started {
            self.end_line();
        }
        let total = self.line - 1;
        if total == 0 {
            return Ok(format!("(`{path}` exists but is empty)"));
        }
        if self.from > total {
            let lines = if total == 1 { "1 line".to_owned() } else { format!("{total} lines") };
            return Err(format!(
                "`{path}` has {lines}: there is nothing from line {} on; use a smaller offset",
                self.from
            ));
        }
        let mut answer = std::mem::take(&mut self.answer);
        if total >= self.until {
            let more = if self.has_enough() { "more than " } else { "" };
            let (from, last, next) = (self.from, self.until - 1, self.until);
            let note =
                format!("[Lines {from} to {last} of {more}{total}. Go on with offset={next}]");
            answer.extend(["\n", &note, "\n"]);
        }
        if had_faults {
            answer.push_str(
                "\n[Not all of it is valid text: `�` stands for what could not be read]\n",
            );
        }
        Ok(answer)
    }
}
