//! What is printed: lines, cards, and a prompt that stays below them.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::TerminalColors;
use super::client_event::ClientEvent;

/// Goes back to the start of the line and takes away what stands there.
const CLEAR: &str = "\r\u{1b}[K";

/// Where the client prints.
pub(crate) struct TerminalScreen {
    json: bool,
    pub(crate) paint: TerminalColors,
    drawn: Mutex<ScreenState>,
}

struct ScreenState {
    out: Box<dyn Write + Send>,
    /// The line that is being typed at, if there is one.
    prompt: Option<String>,
}

impl TerminalScreen {
    /// Returns a screen that prints for people, or JSON.
    pub(crate) fn new(out: impl Write + Send + 'static, json: bool, coloured: bool) -> Self {
        let drawn = Mutex::new(ScreenState { out: Box::new(out), prompt: None });
        Self { json, paint: TerminalColors(coloured && !json), drawn }
    }

    /// Prints what happened, above the prompt if there is one.
    pub(crate) fn print_event(&self, told: &ClientEvent) {
        if self.json {
            self.print(&told.json().to_string());
        } else {
            self.print(&told.line(self.paint));
        }
    }

    /// Prints lines as they are.
    pub(crate) fn print(&self, lines: &str) {
        let mut drawn = self.lock();
        let clear = if drawn.prompt.is_some() { CLEAR } else { "" };
        let prompt = drawn.prompt.clone().unwrap_or_default();
        drawn.write(&format!("{clear}{lines}\n{prompt}"));
    }

    /// Shows the line that is being typed at.
    pub(crate) fn prompt(&self, question: &str, typed: &str) {
        let room = width().saturating_sub(question.chars().count() + 1).max(8);
        let count = typed.chars().count();
        let shown = if count > room {
            let end: String = typed.chars().skip(count + 1 - room).collect();
            format!("…{end}")
        } else {
            typed.to_owned()
        };
        let prompt = format!("{}{shown}", self.paint.bold(question));
        let mut drawn = self.lock();
        drawn.write(&format!("{CLEAR}{prompt}"));
        drawn.prompt = Some(prompt);
    }

    /// Ends the prompt; what was typed stays to be read, or goes.
    pub(crate) fn end_prompt(&self, keep: bool) {
        let mut drawn = self.lock();
        if drawn.prompt.take().is_some() {
            drawn.write(if keep { "\n" } else { CLEAR });
        }
    }

    fn lock(&self) -> MutexGuard<'_, ScreenState> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScreenState {
    fn write(&mut self, text: &str) {
        // A reader that went away is not an error of ours.
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    size.map_or(80, |size| usize::from(size.ws_col)).max(40)
}
