use countersign_core::{Digest, Effect, Preview};
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn each_edit_acts_on_what_the_one_before_left() {
    let world = World::with_file("a", "a\r\nz\r\n");
    let preview = world.preview("MultiEdit", edits("a", &[("a", "b"), ("b\nz", "c\ny")])).unwrap();
    let Preview::MultiDiff { files, preimages } = preview else { panic!("no diff") };
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].new_content.as_deref(), Some("c\r\ny\r\n"), "the final state");
    assert_eq!(preimages[0].digest, Some(Digest::of(b"a\r\nz\r\n")));
    assert_eq!(world.text("a"), "a\r\nz\r\n", "nothing is written");
}

#[test]
fn all_or_nothing() {
    let world = World::with_file("a", "a");
    let fails = |steps: &[(&str, &str)], says: &str| {
        assert_has(&world.preview("MultiEdit", edits("a", steps)).unwrap_err().0, says);
    };
    fails(&[("a", "b"), ("a", "c")], "edit 2: old_string is not in `a`");
    fails(&[], "`edits` is empty");
    fails(&[("a", "a")], "edit 1: old_string and new_string are the same");
    fails(&[("", "x")], "edit 1: the file exists");
    fails(&[("a", "b"), ("", "x")], "edit 2: old_string is empty");
}

#[test]
fn the_first_edit_can_make_a_file() {
    let world = World::new();
    let input = edits("new", &[("", "one\n"), ("one", "two")]);
    let plan = world.plan("MultiEdit", input.clone()).unwrap();
    assert!(matches!(plan.effects.as_slice(), [Effect::Read(_), Effect::Write(_)]));
    let Preview::MultiDiff { files, .. } = world.preview("MultiEdit", input).unwrap() else {
        panic!("no diff")
    };
    assert!(files[0].is_new_file);
    assert_eq!(files[0].new_content.as_deref(), Some("two\n"));
    let none = world.preview("MultiEdit", edits("none", &[("a", "b")])).unwrap_err();
    assert_has(&none.0, "`none` does not exist");
}

fn edits(path: &str, steps: &[(&str, &str)]) -> Value {
    let step = |(old, new): &(&str, &str)| json!({"old_string": old, "new_string": new});
    json!({"file_path": path, "edits": steps.iter().map(step).collect::<Vec<_>>()})
}
