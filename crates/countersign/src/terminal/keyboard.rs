//! The keyboard: letters as they are typed, so that lines can be printed above what is being typed.

use std::io::Read;

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use rustix::termios::{tcgetattr, tcsetattr};
use tokio::sync::mpsc::UnboundedSender;

use super::client_message::ClientMessage;

/// Above this many letters nothing is added to a line.
const LONGEST: usize = 4_000;

/// The terminal in the mode that gives letters at once; as it was when dropped.
pub(crate) struct RawTerminal {
    before: Termios,
    during: Termios,
}

impl RawTerminal {
    /// Takes the terminal over; letters come as [`ClientMessage::Typed`].
    pub(crate) fn open(news: UnboundedSender<ClientMessage>) -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut during = before.clone();
        // Signals stay with the terminal: Ctrl-C and Ctrl-Z do what they always do.
        during.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        during.special_codes[SpecialCodeIndex::VMIN] = 1;
        during.special_codes[SpecialCodeIndex::VTIME] = 0;
        let keyboard = Self { before, during };
        keyboard.take();
        // It may be blocked in a read for good: the process does not wait for it.
        std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || listen(&news))?;
        Ok(keyboard)
    }

    /// Sets our mode, again after the process was put to the background and came back.
    pub(crate) fn take(&self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.during);
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.before);
    }
}

fn listen(news: &UnboundedSender<ClientMessage>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 256];
    while let Ok(length @ 1..) = std::io::stdin().lock().read(&mut buffer) {
        bytes.extend_from_slice(buffer.get(..length).unwrap_or_default());
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text.to_owned(),
            // A letter may come in pieces; what is none is left out.
            Err(error) if error.error_len().is_none() && bytes.len() < 4 => continue,
            Err(_) => String::from_utf8_lossy(&bytes).replace('\u{fffd}', ""),
        };
        bytes.clear();
        if news.send(ClientMessage::Typed(text)).is_err() {
            return;
        }
    }
    let _ = news.send(ClientMessage::NoKeyboard);
}

/// A line that is being typed.
#[derive(Debug, Default)]
pub(crate) struct LineEditor {
    line: String,
    /// Whether the letters of an arrow key or the like are coming in.
    escape: EscapeState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    None,
    Begun,
    Sequence,
}

impl LineEditor {
    /// Takes one letter; returns the line once it is whole.
    pub(crate) fn take(&mut self, letter: char) -> Option<String> {
        match (self.escape, letter) {
            (_, '\u{1b}') => self.escape = EscapeState::Begun,
            (EscapeState::Begun, '[' | 'O') => self.escape = EscapeState::Sequence,
            (EscapeState::Begun, _) | (EscapeState::Sequence, '\u{40}'..='\u{7e}') => {
                self.escape = EscapeState::None;
            }
            (EscapeState::Sequence, _) => {}
            (EscapeState::None, '\n' | '\r') => return Some(std::mem::take(&mut self.line)),
            (EscapeState::None, '\u{7f}' | '\u{8}') => drop(self.line.pop()),
            (EscapeState::None, '\u{15}') => self.line.clear(),
            (EscapeState::None, '\u{17}') => {
                let end = self.line.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.line.truncate(end);
            }
            (EscapeState::None, letter) if letter.is_control() || self.line.len() >= LONGEST => {}
            (EscapeState::None, letter) => self.line.push(letter),
        }
        None
    }

    /// Returns what is typed so far.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Forgets what is typed.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_and_mended() {
        check("a\r", Some("a"));
        check("r use pnpn\u{7f}m\n", Some("r use pnpm"));
        check("é試\u{7f}\n", Some("é"));
        check("one two \u{17}x\n", Some("one x"));
        check("gone\u{15}a\n", Some("a"));
        check("a\u{1b}[A\u{1b}[3~\u{1b}OPb\n", Some("ab"));
        check("\u{4}\t\n", Some(""));
        check("half", None);
    }

    fn check(typed: &str, line: Option<&str>) {
        let mut editor = LineEditor::default();
        let lines: Vec<_> = typed.chars().filter_map(|letter| editor.take(letter)).collect();
        assert_eq!(lines.first().map(String::as_str), line, "{typed:?}");
    }
}
