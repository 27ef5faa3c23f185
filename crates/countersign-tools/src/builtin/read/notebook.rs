//! Jupyter notebooks, shown by their cells.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::ToolOutput;
use serde_json::Value;

use super::media::MediaKind;
use crate::files::text::DecodedText;
use crate::files::truncate::cap;

/// Above this many bytes a notebook is shown as the text it is.
const LIMIT: u64 = 32 * 1024 * 1024;

/// How many characters of one output are shown, and how many bytes of all.
const OUTPUT_LIMIT: usize = 10_000;
const ANSWER_LIMIT: usize = 200_000;

/// How many pictures are shown.
const PICTURES: usize = 20;

/// Returns whether a file is called like a notebook.
pub(super) fn is_one(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}

/// Shows a notebook whose first bytes were read already; none if it is none.
pub(super) fn show(start: &[u8], rest: &mut File) -> io::Result<Option<ToolOutput>> {
    let mut bytes = start.to_vec();
    rest.take(LIMIT).read_to_end(&mut bytes)?;
    let text = DecodedText::decode(&bytes).ok().map(|text| text.content);
    let notebook: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    let cells = notebook.as_ref().and_then(|it| it.get("cells")).and_then(Value::as_array);
    Ok(cells.map(|cells| show_cells(cells)))
}

fn show_cells(cells: &[Value]) -> ToolOutput {
    let mut answer = ToolOutput::ok("");
    if cells.is_empty() {
        answer.content.push_str("(the notebook has no cells)");
    }
    for (index, cell) in cells.iter().enumerate() {
        if answer.content.len() > ANSWER_LIMIT {
            let left = cells.len() - index;
            // Writing to a string cannot fail.
            let _ = write!(answer.content, "[{left} more cells: use offset and limit to see them]");
            break;
        }
        show_cell(index, cell, &mut answer);
    }
    answer
}

fn show_cell(index: usize, cell: &Value, answer: &mut ToolOutput) {
    let word = |key: &str| cell.get(key).and_then(Value::as_str);
    let id = word("id").map_or_else(|| format!("cell-{index}"), str::to_owned);
    let kind = word("cell_type").unwrap_or("unknown");
    let source = join_lines(cell.get("source"));
    let _ = writeln!(answer.content, "<cell id=\"{id}\" type=\"{kind}\">\n{source}\n</cell>");
    let outputs = cell.get("outputs").and_then(Value::as_array);
    for output in outputs.into_iter().flatten() {
        let text = text_of(output);
        if !text.trim().is_empty() {
            let text = cap(&plain(&text), OUTPUT_LIMIT);
            let _ = writeln!(answer.content, "<output>\n{}\n</output>", text.trim_end());
        }
        show_picture(&id, output, answer);
    }
}

fn show_picture(id: &str, output: &Value, answer: &mut ToolOutput) {
    let data = |kind: &str| output.get("data").and_then(|data| data.get(kind));
    let Some(data) = data("image/png").or_else(|| data("image/jpeg")) else { return };
    let packed: String = join_lines(Some(data)).split_ascii_whitespace().collect();
    let shown = STANDARD.decode(packed).ok().and_then(|bytes| {
        let fits = answer.attachments.len() < PICTURES;
        let media = MediaKind::from_first_bytes(&bytes).filter(|_| fits)?;
        media.attach("output", &bytes, bytes.len() as u64).ok()
    });
    match shown {
        Some(shown) => {
            let number = answer.attachments.len() + 1;
            let _ = writeln!(answer.content, "<output>picture {number}, of {id}</output>");
            answer.attachments.extend(shown.attachments);
        }
        None => {
            let _ = writeln!(answer.content, "<output>a picture that cannot be shown</output>");
        }
    }
}

/// Returns what an output says in words.
fn text_of(output: &Value) -> String {
    match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => join_lines(output.get("text")),
        Some("error") => match output.get("traceback").and_then(Value::as_array) {
            Some(lines) => lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
            None => join_lines(output.get("evalue")),
        },
        _ => join_lines(output.get("data").and_then(|data| data.get("text/plain"))),
    }
}

/// Returns a text that notebooks write as one or as a list of lines.
fn join_lines(text: Option<&Value>) -> String {
    match text {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// Leaves out what only colours a terminal.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic()).map_or(after.len(), |at| at + 1);
        rest = after.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
