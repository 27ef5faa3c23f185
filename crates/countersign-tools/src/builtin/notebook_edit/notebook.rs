//! A Jupyter notebook as its text: one cell is changed in place, every other byte stays as it was.

use std::borrow::Cow;
use std::ops::Range;

use countersign_core::{Digest, InvalidCall};
use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, PrettyFormatter};
use serde_json::value::RawValue;
use serde_json::{Map, Serializer, Value, json};

use super::CellType;

/// A notebook and where its parts are in its text.
pub(super) struct JupyterNotebook<'a> {
    content: &'a str,
    /// Where the list of cells is.
    list: Range<usize>,
    cells: Vec<NotebookCell<'a>>,
    /// Whether cells have ids.
    has_ids: bool,
    /// What one level is indented by; none where all is on one line.
    indent: Option<&'a str>,
}

struct NotebookCell<'a> {
    at: Range<usize>,
    parts: CellParts<'a>,
}

#[derive(Deserialize)]
struct NotebookRoot<'a> {
    #[serde(borrow)]
    cells: &'a RawValue,
    #[serde(default)]
    nbformat: Value,
    #[serde(default)]
    nbformat_minor: Value,
}

/// The parts of a cell that are looked at, as they are written; what is `null` is not there.
#[derive(Deserialize)]
struct CellParts<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    cell_type: Value,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    execution_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    outputs: Option<&'a RawValue>,
}

impl CellType {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

fn invalid(why: impl Into<String>) -> InvalidCall {
    InvalidCall(why.into())
}

impl<'a> JupyterNotebook<'a> {
    pub(super) fn read(content: &'a str) -> Result<Self, InvalidCall> {
        let root: NotebookRoot<'a> = serde_json::from_str(content).map_err(|error| {
            invalid(format!("this is not a version 4 notebook with a list `cells`: {error}"))
        })?;
        let no_cells = |error| invalid(format!("`cells` is not a list of cells: {error}"));
        let raw: Vec<&RawValue> = serde_json::from_str(root.cells.get()).map_err(no_cells)?;
        let cell = |raw: &&'a RawValue| {
            let parts = serde_json::from_str(raw.get()).map_err(no_cells)?;
            Ok(NotebookCell { at: span(content, raw.get()), parts })
        };
        let cells = raw.iter().map(cell).collect::<Result<_, _>>()?;
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        // Cells have ids since version 4.5 of the format.
        let has_ids = (number(&root.nbformat), number(&root.nbformat_minor)) >= (4, 5);
        let second = content.trim_start().strip_prefix('{').and_then(|rest| rest.split_once('\n'));
        let indent = second.filter(|(first, _)| first.trim().is_empty());
        let indent = indent.map(|(_, rest)| blanks(rest));
        let list = span(content, root.cells.get());
        Ok(Self { content, list, cells, has_ids, indent })
    }

    /// Puts a source in the place of another; what a code cell had put out goes with it.
    pub(super) fn replace(
        &self,
        cell: Option<&str>,
        kind: Option<CellType>,
        source: &str,
    ) -> Result<String, InvalidCall> {
        let NotebookCell { at, parts } = self.cell(cell)?;
        if kind.is_some_and(|kind| parts.cell_type != kind.name()) || parts.source.is_none() {
            return self.rebuild(at.clone(), kind, source);
        }
        let mut changes = Vec::new();
        if let Some(old) = parts.source {
            let place = span(self.content, old.get());
            let value = source_of(source, !old.get().starts_with('"'));
            let spread = old.get().contains('\n') || old.get() == "[]";
            let margin = self.margin(place.start);
            changes.push((place, self.write_value(&value, spread, margin)?));
        }
        if parts.cell_type == "code" {
            let put_out = [(parts.execution_count, "null"), (parts.outputs, "[]")];
            changes.extend(put_out.into_iter().filter_map(|(old, new)| {
                old.map(|old| (span(self.content, old.get()), new.to_owned()))
            }));
        }
        Ok(self.splice(changes))
    }

    /// Writes a cell anew: for what becomes another kind of cell.
    fn rebuild(
        &self,
        at: Range<usize>,
        kind: Option<CellType>,
        source: &str,
    ) -> Result<String, InvalidCall> {
        let old = self.content.get(at.clone()).unwrap_or_default();
        let mut cell: Map<String, Value> = serde_json::from_str(old)
            .map_err(|error| invalid(format!("the cell is not an object: {error}")))?;
        let as_list = !matches!(cell.get("source"), Some(Value::String(_)));
        cell.insert("source".to_owned(), source_of(source, as_list));
        if let Some(kind) = kind {
            cell.insert("cell_type".to_owned(), kind.name().into());
        }
        if cell.get("cell_type").is_some_and(|kind| kind == "code") {
            cell.insert("execution_count".to_owned(), Value::Null);
            cell.insert("outputs".to_owned(), json!([]));
        } else {
            cell.shift_remove("execution_count");
            cell.shift_remove("outputs");
        }
        let margin = self.margin(at.start);
        let new = self.write_value(&Value::Object(cell), old.contains('\n'), margin)?;
        Ok(self.splice(vec![(at, new)]))
    }

    /// Inserts a cell behind another, or at the start.
    pub(super) fn insert(
        &self,
        after: Option<&str>,
        kind: CellType,
        source: &str,
    ) -> Result<String, InvalidCall> {
        let at = match after {
            Some(cell) => self.position(Some(cell))? + 1,
            None => 0,
        };
        let cell = Value::Object(self.new_cell(at, kind, source));
        let outer = self.margin(self.list.start);
        let Some(first) = self.cells.first() else {
            let margin = format!("{outer}{}", self.indent.unwrap_or_default());
            let cell = self.write_value(&cell, true, &margin)?;
            let list = match self.indent {
                Some(_) => format!("[{0}{margin}{cell}{0}{outer}]", self.line_end()),
                None => format!("[{cell}]"),
            };
            return Ok(self.splice(vec![(self.list.clone(), list)]));
        };
        let margin = self.margin(first.at.start);
        let cell = self.write_value(&cell, true, margin)?;
        let between = match (self.cells.get(1), self.indent) {
            (Some(second), _) => self.content.get(first.at.end..second.at.start).unwrap_or(","),
            (None, Some(_)) => &format!(",{}{margin}", self.line_end()),
            (None, None) => ",",
        };
        let (place, text) = match at.checked_sub(1).and_then(|before| self.cells.get(before)) {
            Some(before) => (before.at.end, format!("{between}{cell}")),
            None => (first.at.start, format!("{cell}{between}")),
        };
        Ok(self.splice(vec![(place..place, text)]))
    }

    fn new_cell(&self, at: usize, kind: CellType, source: &str) -> Map<String, Value> {
        let mut cell = Map::new();
        cell.insert("cell_type".to_owned(), kind.name().into());
        if kind == CellType::Code {
            cell.insert("execution_count".to_owned(), Value::Null);
        }
        if self.has_ids {
            cell.insert("id".to_owned(), self.new_id(at, source).into());
        }
        cell.insert("metadata".to_owned(), json!({}));
        if kind == CellType::Code {
            cell.insert("outputs".to_owned(), json!([]));
        }
        cell.insert("source".to_owned(), source_of(source, true));
        cell
    }

    pub(super) fn delete(&self, cell: Option<&str>) -> Result<String, InvalidCall> {
        // The first cell is a fair guess for a text, not for a loss.
        let cell = cell.ok_or_else(|| invalid("`cell_id` is missing: say which cell to delete"))?;
        let at = self.position(Some(cell))?;
        let range = |at: usize| self.cells.get(at).map(|cell| cell.at.clone()).unwrap_or_default();
        let this = range(at);
        let (place, left) = if at + 1 < self.cells.len() {
            (this.start..range(at + 1).start, "")
        } else if at > 0 {
            (range(at - 1).end..this.end, "")
        } else {
            (self.list.clone(), "[]")
        };
        Ok(self.splice(vec![(place, left.to_owned())]))
    }

    fn cell(&self, cell: Option<&str>) -> Result<&NotebookCell<'a>, InvalidCall> {
        let at = self.position(cell)?;
        self.cells.get(at).ok_or_else(|| invalid(format!("there is no cell {at}")))
    }

    /// Returns where a cell is: by its id, else by its number as in `cell-0`, else the first.
    fn position(&self, cell: Option<&str>) -> Result<usize, InvalidCall> {
        let Some(id) = cell else {
            return if self.cells.is_empty() {
                Err(invalid("the notebook has no cell yet: insert one"))
            } else {
                Ok(0)
            };
        };
        let by_id = self.cells.iter().position(|cell| cell.parts.id.as_deref() == Some(id));
        let by_number = || {
            let number = id.strip_prefix("cell-").unwrap_or(id).parse::<usize>().ok()?;
            (number < self.cells.len()).then_some(number)
        };
        by_id.or_else(by_number).ok_or_else(|| {
            let count = self.cells.len();
            invalid(format!("no cell has the id `{id}`; there are {count}, from `cell-0` on"))
        })
    }

    /// Returns an id that is the same in the preview and in the run.
    fn new_id(&self, at: usize, source: &str) -> String {
        let parts = [at.to_string(), self.cells.len().to_string(), source.to_owned()];
        let digest = Digest::for_parts(parts.iter().map(String::as_bytes));
        digest.as_str().chars().take(8).collect()
    }

    /// Returns the text with some ranges replaced, which do not overlap.
    fn splice(&self, mut changes: Vec<(Range<usize>, String)>) -> String {
        changes.sort_by_key(|(place, _)| place.start);
        let mut out = String::with_capacity(self.content.len());
        let mut copied = 0;
        for (place, text) in changes {
            out.push_str(self.content.get(copied..place.start).unwrap_or_default());
            out.push_str(&text);
            copied = place.end;
        }
        out.push_str(self.content.get(copied..).unwrap_or_default());
        out
    }

    /// Returns what the line of a place is indented by.
    fn margin(&self, at: usize) -> &'a str {
        let before = self.content.get(..at).unwrap_or_default();
        blanks(before.rsplit_once('\n').map_or(before, |(_, line)| line))
    }

    fn line_end(&self) -> &'static str {
        if self.content.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Writes a value as the notebook would, over several lines if it is to be spread.
    fn write_value(
        &self,
        value: &Value,
        spread: bool,
        margin: &str,
    ) -> Result<String, InvalidCall> {
        let mut out = Vec::new();
        let done = match self.indent.filter(|_| spread) {
            Some(indent) => {
                let layout = PrettyFormatter::with_indent(indent.as_bytes());
                value.serialize(&mut Serializer::with_formatter(&mut out, layout))
            }
            None => value.serialize(&mut Serializer::with_formatter(&mut out, CompactFormatter)),
        };
        done.map_err(|error| invalid(format!("it cannot be written as JSON: {error}")))?;
        let text = String::from_utf8(out)
            .map_err(|error| invalid(format!("it cannot be written as text: {error}")))?;
        // No text in JSON holds a line end as such: these are all of the layout.
        Ok(text.replace('\n', &format!("{}{margin}", self.line_end())))
    }
}

/// Returns the white space a line starts with.
fn blanks(line: &str) -> &str {
    let end = line.find(|c| !matches!(c, ' ' | '\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// Returns where a part of a text is in it.
fn span(whole: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    start..start + part.len()
}

/// Writes a source as notebooks do: a list of lines, or one text.
fn source_of(source: &str, as_list: bool) -> Value {
    if as_list { source.split_inclusive('\n').collect() } else { source.into() }
}

#[cfg(test)]
mod tests;
