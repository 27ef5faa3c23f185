//! What people and scripts read: results on stdout, everything else on stderr.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use countersign_gate::{Clock, SystemClock};
use serde_json::json;

use crate::hint::HintedError;
use crate::log_format::LogFormat;

/// Writes a line to stdout. A reader that went away is not an error of ours.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Returns stdout as it is, for whoever draws there.
pub(crate) fn raw_stdout() -> impl Write + Send {
    std::io::stdout()
}

/// Writes a line to stdout that somebody goes by: whole, or it is an error.
pub(crate) fn write_line(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    out.write_all(format!("{text}\n").as_bytes())?;
    out.flush()
}

/// Returns stdout for many lines; to be flushed at the end.
pub(crate) fn stream() -> impl Write {
    std::io::BufWriter::new(std::io::stdout().lock())
}

/// Returns whether results are read by a person who likes colours.
pub(crate) fn is_coloured() -> bool {
    !crate::environment::no_color() && std::io::stdout().is_terminal()
}

/// Returns whether the log is read by a person who likes colours.
pub(crate) fn is_log_coloured() -> bool {
    !crate::environment::no_color() && std::io::stderr().is_terminal()
}

/// How notes are written once a server has said how its log is.
static NOTE_FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Writes notes like the lines of the log from now on: who reads one reads the other.
pub(crate) fn set_note_format(format: LogFormat) {
    let _ = NOTE_FORMAT.set(format);
}

/// Writes a line to the person at the terminal.
pub(crate) fn note(text: &str) {
    let line = match NOTE_FORMAT.get() {
        Some(LogFormat::Json) => json_note(text),
        Some(LogFormat::Text) | None => text.to_owned(),
    };
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn json_note(text: &str) -> String {
    let now = SystemClock.now().to_string();
    json!({"timestamp": now, "level": "INFO", "message": text, "target": "note"}).to_string()
}

/// Says what went wrong, why, and what can be done.
pub(crate) fn error(error: &anyhow::Error) {
    let mut why: Vec<_> = error.chain().map(ToString::to_string).collect();
    // Some say what they come from, too.
    why.dedup_by(|cause, error| cause.ends_with(error.as_str()));
    note(&format!("{}: {}", red("error"), why.join(": ")));
    if let Some(hinted) = error.downcast_ref::<HintedError>() {
        note(&format!("hint: {}", hinted.hint));
    }
}

fn red(text: &str) -> String {
    let plain = crate::environment::no_color() || !std::io::stderr().is_terminal();
    if plain { text.to_owned() } else { format!("\u{1b}[1;31m{text}\u{1b}[0m") }
}
