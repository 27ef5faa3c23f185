use countersign_core::{Effect, Preview};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "code",
   "source": [
    "1 + 1"
   ],
   "outputs": [],
   "execution_count": null
  }
 ],
 "nbformat": 4,
 "nbformat_minor": 2
}
"#;

#[test]
fn the_preview_is_the_diff_of_the_file() {
    let world = World::with_file("n.ipynb", NOTEBOOK);
    let input = json!({"notebook_path": "n.ipynb", "new_source": "!touch pwned"});
    let Preview::Diff(diff) = world.preview("NotebookEdit", input).unwrap() else {
        panic!("no diff")
    };
    assert_eq!((diff.diff.added, diff.diff.removed), (1, 1));
    assert!(diff.diff.lines.contains(&"+    \"!touch pwned\"".to_owned()), "{:?}", diff.diff);
}

#[test]
fn a_cell_is_inserted_and_deleted() {
    let world = World::with_file("n.ipynb", NOTEBOOK);
    let new = |input: Value| {
        let Preview::Diff(diff) = world.preview("NotebookEdit", input).unwrap() else { panic!() };
        serde_json::from_str::<Value>(&diff.new_content.unwrap()).unwrap()["cells"].clone()
    };
    let insert = json!({
        "notebook_path": "n.ipynb", "new_source": "# x", "edit_mode": "insert",
        "cell_type": "markdown",
    });
    let cell = json!({"cell_type": "markdown", "metadata": {}, "source": ["# x"]});
    assert_eq!(new(insert)[0], cell);
    let delete = json!({"notebook_path": "n.ipynb", "cell_id": "cell-0", "edit_mode": "delete"});
    assert_eq!(new(delete), json!([]));
}

#[test]
fn a_missing_notebook_is_planned_and_not_shown() {
    let world = World::with_file("a.rs", "");
    let input = json!({"notebook_path": "none.ipynb", "new_source": "x"});
    let plan = world.plan("NotebookEdit", input.clone()).unwrap();
    assert!(matches!(plan.effects.as_slice(), [Effect::Read(_), Effect::Write(_)]));
    assert_has(&world.preview("NotebookEdit", input).unwrap_err().0, "does not exist");
    let other = json!({"notebook_path": "a.rs", "new_source": "x"});
    assert_has(&world.plan("NotebookEdit", other).unwrap_err().0, "is not a notebook");
}

#[tokio::test]
async fn the_file_changes_in_one_cell_and_nowhere_else() {
    let world = World::with_file("n.ipynb", NOTEBOOK);
    let input = json!({"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "2\n3"});
    let said = world.approved("NotebookEdit", input).await.unwrap();
    assert_eq!(said.content, "The cell cell-0 of n.ipynb has been replaced.");
    let expected = NOTEBOOK.replace("    \"1 + 1\"\n", "    \"2\\n\",\n    \"3\"\n");
    assert_eq!(world.text("n.ipynb"), expected);
    let insert = json!({"notebook_path": "n.ipynb", "cell_id": "cell-0", "new_source": "# x",
        "edit_mode": "insert", "cell_type": "markdown"});
    let said = world.approved("NotebookEdit", insert).await.unwrap();
    assert_eq!(said.content, "A cell has been inserted behind cell-0 of n.ipynb.");
    let delete = json!({"notebook_path": "n.ipynb", "cell_id": "cell-1", "edit_mode": "delete"});
    world.approved("NotebookEdit", delete).await.unwrap();
    assert_eq!(world.text("n.ipynb"), expected, "what came and went leaves no trace");
}

#[tokio::test]
async fn what_is_missing_is_asked_for() {
    let world = World::with_file("n.ipynb", NOTEBOOK);
    let fails = async |more: Value, says: &str| {
        let mut input = json!({"notebook_path": "n.ipynb"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_has(&world.fails("NotebookEdit", input).await, says);
    };
    fails(json!({}), "`new_source` is missing").await;
    fails(json!({"edit_mode": "insert", "new_source": "x"}), "`cell_type` is missing").await;
    fails(json!({"edit_mode": "delete"}), "`cell_id` is missing").await;
    fails(json!({"cell_id": "zz", "new_source": "x"}), "no cell has the id `zz`").await;
    assert_eq!(world.text("n.ipynb"), NOTEBOOK);
}
