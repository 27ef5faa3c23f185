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
    assert_has(&world.plan("NotebookEdit", other).unwrap_err().0, "is no notebook");
}
