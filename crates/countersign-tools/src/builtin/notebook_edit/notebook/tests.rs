use proptest::prelude::*;

use super::*;

const NOTEBOOK: &str = concat!(
    "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": 3,\n   ",
    "\"id\": \"aa\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    ",
    "\"1 + 1\\n\",\n    \"2\"\n   ]\n  }\n ],\n \"metadata\": {\"é\": 1.0e0},\n ",
    "\"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"
);

#[test]
fn only_the_cell_changes() {
    let expected = NOTEBOOK
        .replace("\"execution_count\": 3", "\"execution_count\": null")
        .replace("\n    \"1 + 1\\n\",\n    \"2\"\n", "\n    \"x\\n\"\n");
    assert_eq!(read(NOTEBOOK).replace(Some("aa"), None, "x\n").unwrap(), expected);
    let windows = NOTEBOOK.replace('\n', "\r\n");
    let replaced = read(&windows).replace(Some("aa"), None, "x\n").unwrap();
    assert_eq!(replaced, expected.replace('\n', "\r\n"));
}

#[test]
fn cells_come_and_go() {
    let more = read(NOTEBOOK).insert(Some("cell-0"), CellType::Markdown, "# a\nb").unwrap();
    let new = cells(&more)[1].clone();
    assert_eq!(new["source"], json!(["# a\n", "b"]));
    assert_eq!(new["id"].as_str().map(str::len), Some(8));
    assert_eq!(new.get("outputs"), None);
    let left = read(&more).delete(Some("aa")).unwrap();
    assert_eq!(cells(&left), [new]);
    assert!(read(&left).delete(None).is_err());
    assert!(read(&left).replace(Some("cell-7"), None, "").is_err());
}

#[test]
fn a_cell_that_becomes_text_loses_its_outputs() {
    let text = read(NOTEBOOK).replace(None, Some(CellType::Markdown), "").unwrap();
    assert_eq!(cells(&text)[0].get("outputs"), None);
    assert_eq!(cells(&text)[0]["cell_type"], "markdown");
    let code = read(&text).replace(None, Some(CellType::Code), "1").unwrap();
    assert_eq!(cells(&code)[0]["outputs"], json!([]));
}

#[test]
fn what_is_no_notebook_is_said_to_be_none() {
    for text in ["", "[]", "{}", "{\"cells\": 1}", "{\"cells\": [", "{\"cells\": [1]}"] {
        assert!(JupyterNotebook::read(text).is_err(), "{text}");
    }
    let twice = "{\"cells\": [], \"cells\": []}";
    assert!(JupyterNotebook::read(twice).is_err(), "programs read such differently");
}

#[test]
fn a_notebook_on_one_line_stays_on_it() {
    let compact = "{\"cells\":[],\"nbformat\":4}";
    let one = read(compact).insert(None, CellType::Markdown, "a").unwrap();
    let cell = r#"{"cell_type":"markdown","metadata":{},"source":["a"]}"#;
    assert_eq!(one, format!("{{\"cells\":[{cell}],\"nbformat\":4}}"));
    let two = read(&one).insert(Some("cell-0"), CellType::Markdown, "a").unwrap();
    assert_eq!(two, format!("{{\"cells\":[{cell},{cell}],\"nbformat\":4}}"));
}

proptest! {
    #[test]
    fn what_is_inserted_and_deleted_leaves_no_trace(
        sources in prop::collection::vec("[ -~\n]{0,12}", 0..5),
        at in 0_usize..6,
        spread in any::<bool>(),
        new in "[ -~é\n]{0,12}",
    ) {
        let cells: Vec<_> = sources
            .iter()
            .map(|source| json!({"cell_type": "markdown", "source": source, "x": 1.50}))
            .collect();
        let notebook = json!({"z": [1], "cells": cells, "metadata": {"a": {}}});
        let before = if spread {
            format!("{notebook:#}\n")
        } else {
            notebook.to_string()
        };
        let at = at.min(sources.len());
        let after = at.checked_sub(1).map(|at| format!("cell-{at}"));
        let more = read(&before).insert(after.as_deref(), CellType::Code, &new).unwrap();
        prop_assert_eq!(super::tests::cells(&more).len(), sources.len() + 1);
        let back = read(&more).delete(Some(&format!("cell-{at}"))).unwrap();
        prop_assert_eq!(back, before);
    }

    #[test]
    fn a_source_that_is_put_back_leaves_no_trace(
        sources in prop::collection::vec("[ -~é\n]{1,12}", 1..5),
        at in 0_usize..5,
        as_list in any::<bool>(),
        new in "[ -~\n]{0,12}",
    ) {
        let cell = |source: &String| json!({
            "source": source_of(source, as_list), "cell_type": "markdown", "n": 1.0,
        });
        let notebook = json!({"cells": sources.iter().map(cell).collect::<Vec<_>>(), "nbformat": 4});
        let before = format!("{notebook:#}");
        let at = at.min(sources.len() - 1);
        let id = format!("cell-{at}");
        let changed = read(&before).replace(Some(&id), None, &new).unwrap();
        prop_assert_eq!(&super::tests::cells(&changed)[at]["source"], &source_of(&new, as_list));
        let back = read(&changed).replace(Some(&id), None, &sources[at]).unwrap();
        prop_assert_eq!(back, before);
    }
}

fn read(content: &str) -> JupyterNotebook<'_> {
    JupyterNotebook::read(content).unwrap()
}

fn cells(content: &str) -> Vec<Value> {
    let notebook: Value = serde_json::from_str(content).unwrap();
    notebook["cells"].as_array().unwrap().clone()
}
