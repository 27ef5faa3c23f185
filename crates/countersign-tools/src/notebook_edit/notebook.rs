//! A Jupyter notebook as JSON: everything but the one cell stays as it was written.

use countersign_core::{Digest, Invalid};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, PrettyFormatter};
use serde_json::{Map, Serializer, Value, json};

use super::CellType;

/// A notebook and how its file is laid out.
pub(super) struct Notebook {
    root: Map<String, Value>,
    cells: Vec<Value>,
    /// What one level is indented by; none where all is on one line.
    indent: Option<String>,
    /// What follows the last brace.
    end: String,
}

impl CellType {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

fn invalid(why: impl Into<String>) -> Invalid {
    Invalid(why.into())
}

impl Notebook {
    pub(super) fn read(content: &str) -> Result<Self, Invalid> {
        let root = serde_json::from_str(content)
            .map_err(|error| invalid(format!("this is no JSON, hence no notebook: {error}")))?;
        let Value::Object(mut root) = root else {
            return Err(invalid("this is no notebook: it is JSON but not an object"));
        };
        // Taken out and put back, so that the order of the keys stays.
        let Some(Value::Array(cells)) = root.get_mut("cells").map(Value::take) else {
            return Err(invalid("this is no notebook of version 4: it has no list `cells`"));
        };
        let second = content.trim_start().strip_prefix('{').and_then(|rest| rest.split_once('\n'));
        let indent = second.filter(|(first, _)| first.trim().is_empty()).map(|(_, rest)| {
            rest.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>()
        });
        let end = content.get(content.trim_end().len()..).unwrap_or_default().to_owned();
        Ok(Self { root, cells, indent, end })
    }

    pub(super) fn write(mut self) -> Result<String, Invalid> {
        if let Some(place) = self.root.get_mut("cells") {
            *place = Value::Array(self.cells);
        }
        let mut out = Vec::new();
        let written = if let Some(indent) = &self.indent {
            let layout = PrettyFormatter::with_indent(indent.as_bytes());
            self.root.serialize(&mut Serializer::with_formatter(&mut out, layout))
        } else {
            self.root.serialize(&mut Serializer::with_formatter(&mut out, CompactFormatter))
        };
        written.map_err(|error| invalid(format!("it cannot be written as JSON: {error}")))?;
        let mut text = String::from_utf8(out)
            .map_err(|error| invalid(format!("it cannot be written as text: {error}")))?;
        text.push_str(&self.end);
        Ok(text)
    }

    /// Puts a source in the place of another; what a code cell had put out goes with it.
    pub(super) fn replace(
        &mut self,
        cell: Option<&str>,
        kind: Option<CellType>,
        source: &str,
    ) -> Result<(), Invalid> {
        let at = self.position(cell)?;
        let Some(Value::Object(cell)) = self.cells.get_mut(at) else {
            return Err(invalid(format!("cell {at} is not an object")));
        };
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
        Ok(())
    }

    /// Inserts a cell behind another, or at the start.
    pub(super) fn insert(
        &mut self,
        after: Option<&str>,
        kind: CellType,
        source: &str,
    ) -> Result<(), Invalid> {
        let at = match after {
            Some(cell) => self.position(Some(cell))? + 1,
            None => 0,
        };
        let mut cell = Map::new();
        cell.insert("cell_type".to_owned(), kind.name().into());
        if kind == CellType::Code {
            cell.insert("execution_count".to_owned(), Value::Null);
        }
        if self.wants_ids() {
            cell.insert("id".to_owned(), self.new_id(at, source).into());
        }
        cell.insert("metadata".to_owned(), json!({}));
        if kind == CellType::Code {
            cell.insert("outputs".to_owned(), json!([]));
        }
        cell.insert("source".to_owned(), source_of(source, true));
        self.cells.insert(at, Value::Object(cell));
        Ok(())
    }

    pub(super) fn delete(&mut self, cell: Option<&str>) -> Result<(), Invalid> {
        // The first cell is a fair guess for a text, not for a loss.
        let cell = cell.ok_or_else(|| invalid("`cell_id` is missing: say which cell to delete"))?;
        let at = self.position(Some(cell))?;
        self.cells.remove(at);
        Ok(())
    }

    /// Returns where a cell is: by its id, else by its number as in `cell-0`, else the first.
    fn position(&self, cell: Option<&str>) -> Result<usize, Invalid> {
        let Some(id) = cell else {
            return if self.cells.is_empty() {
                Err(invalid("the notebook has no cell yet: insert one"))
            } else {
                Ok(0)
            };
        };
        let has_id = |cell: &Value| cell.get("id").and_then(Value::as_str) == Some(id);
        let by_id = self.cells.iter().position(has_id);
        let by_number = || {
            let number = id.strip_prefix("cell-").unwrap_or(id).parse::<usize>().ok()?;
            (number < self.cells.len()).then_some(number)
        };
        by_id.or_else(by_number).ok_or_else(|| {
            let count = self.cells.len();
            invalid(format!("no cell has the id `{id}`; there are {count}, from `cell-0` on"))
        })
    }

    /// Cells have ids since version 4.5 of the format.
    fn wants_ids(&self) -> bool {
        let number = |key: &str| self.root.get(key).and_then(Value::as_u64).unwrap_or_default();
        (number("nbformat"), number("nbformat_minor")) >= (4, 5)
    }

    /// Returns an id that is the same in the preview and in the run.
    fn new_id(&self, at: usize, source: &str) -> String {
        let parts = [at.to_string(), self.cells.len().to_string(), source.to_owned()];
        let digest = Digest::of_parts(parts.iter().map(String::as_bytes));
        digest.as_str().chars().take(8).collect()
    }
}

/// Writes a source as notebooks do: a list of lines, or one text.
fn source_of(source: &str, as_list: bool) -> Value {
    if as_list { source.split_inclusive('\n').collect() } else { source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTEBOOK: &str = concat!(
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   ",
        "\"id\": \"aa\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    ",
        "\"1 + 1\\n\",\n    \"2\"\n   ]\n  }\n ],\n \"metadata\": {\"é\": 1.0},\n ",
        "\"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"
    );

    #[test]
    fn only_the_cell_changes() {
        let mut notebook = Notebook::read(NOTEBOOK).unwrap();
        notebook.replace(Some("aa"), None, "x\n").unwrap();
        let expected = NOTEBOOK
            .replace("\"execution_count\": 3", "\"execution_count\": null")
            .replace("\n    \"1 + 1\\n\",\n    \"2\"\n", "\n    \"x\\n\"\n")
            .replace("{\"é\": 1.0}", "{\n  \"é\": 1.0\n }");
        assert_eq!(notebook.write().unwrap(), expected);
    }

    #[test]
    fn cells_come_and_go() {
        let mut notebook = Notebook::read(NOTEBOOK).unwrap();
        notebook.insert(Some("cell-0"), CellType::Markdown, "# a\nb").unwrap();
        let cell = notebook.cells[1].clone();
        assert_eq!(cell["source"], json!(["# a\n", "b"]));
        assert_eq!(cell["id"].as_str().map(str::len), Some(8));
        assert_eq!(cell.get("outputs"), None);
        notebook.delete(Some("aa")).unwrap();
        assert_eq!(notebook.cells, [cell]);
        assert!(notebook.delete(None).is_err());
        assert!(notebook.replace(Some("cell-7"), None, "").is_err());
    }

    #[test]
    fn a_cell_that_becomes_text_loses_its_outputs() {
        let mut notebook = Notebook::read(NOTEBOOK).unwrap();
        notebook.replace(None, Some(CellType::Markdown), "").unwrap();
        assert_eq!(notebook.cells[0].get("outputs"), None);
        assert_eq!(notebook.cells[0]["cell_type"], "markdown");
    }

    #[test]
    fn what_is_no_notebook_is_said_to_be_none() {
        for text in ["", "[]", "{}", "{\"cells\": 1}", "{\"cells\": ["] {
            assert!(Notebook::read(text).is_err(), "{text}");
        }
        let compact = "{\"cells\":[],\"nbformat\":4}";
        assert_eq!(Notebook::read(compact).unwrap().write().unwrap(), compact);
    }
}
