use countersign_core::{Digest, Effect, Preview};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[test]
fn each_edit_acts_on_what_the_one_before_left() {
    let world = World::with_file("a", "a\r\nz\r\n");
    let preview = world.preview("MultiEdit", edits("a", &[("a", "b"), ("b\nz", "c\ny")])).unwrap();
    let Preview::MultiDiff { files, preimages } = preview else { panic!("no diff") };
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].new_content.as_deref(), Some("c\r\ny\r\n"), "the final state");
    assert_eq!(preimages[0].digest, Some(Digest::for_bytes(b"a\r\nz\r\n")));
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

#[tokio::test]
async fn all_edits_are_made_at_once() {
    let world = World::with_file("a", "\u{feff}one\r\ntwo\r\nthree\r\n");
    let input = edits("a", &[("one", "1"), ("two\nthree", "2\n3"), ("1\n2", "x\ny")]);
    let said = world.approved("MultiEdit", input).await.unwrap();
    assert_eq!(world.text("a"), "\u{feff}x\r\ny\r\n3\r\n", "mark and line ends stay");
    assert_has(&said.content, "The file a has been updated: 3 edits were made.");
    assert_has(&said.content, "+x");
    let made = world.approved("MultiEdit", edits("new/b", &[("", "b"), ("b", "c")])).await.unwrap();
    assert_has(&made.content, "has been created: 2 edits were made");
    assert_eq!(world.text("new/b"), "c");
}

#[tokio::test]
async fn one_edit_that_does_not_fit_leaves_the_file_as_it_was() {
    let world = World::with_file("a", "one two");
    let before = std::fs::metadata(world.path("a")).unwrap().modified().unwrap();
    let failed = world.fails("MultiEdit", edits("a", &[("one", "1"), ("three", "3")])).await;
    assert_has(&failed, "edit 2: old_string is not in `a`");
    assert_eq!(world.text("a"), "one two");
    assert_eq!(std::fs::metadata(world.path("a")).unwrap().modified().unwrap(), before);
}

#[tokio::test]
async fn a_file_that_moved_on_is_left_alone() {
    let world = World::with_file("a", "one");
    let permit = world.approve("MultiEdit", edits("a", &[("one", "1")]));
    world.write("a", "one, and more");
    let failed = world.run_permit(permit).await.unwrap_err();
    assert_eq!(failed.kind(), countersign_core::FailureKind::Drift);
    assert_eq!(world.text("a"), "one, and more");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_edited_and_edited_back_is_what_it_was(
        lines in prop::collection::vec("[a-z ]{0,6}", 1..8),
        new in prop::collection::vec("[A-Z\n]{0,6}", 1..8),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        mark in prop::sample::select(vec!["", "\u{feff}"]),
    ) {
        // Each line is told apart by its number, each replacement by its own.
        let old = |at: usize| format!("<{at}:{}>", lines[at]);
        let text: String = (0..lines.len()).map(|at| old(at) + end).collect();
        let before = format!("{mark}{text}");
        let world = World::with_file("a", &before);
        let pairs: Vec<(String, String)> = new
            .iter()
            .take(lines.len())
            .enumerate()
            .map(|(at, new)| (old(at), format!("[{at}:{new}]")))
            .collect();
        let there: Vec<_> = pairs.iter().map(|(old, new)| (&**old, &**new)).collect();
        let back: Vec<_> = pairs.iter().rev().map(|(old, new)| (&**new, &**old)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            world.approved("MultiEdit", edits("a", &there)).await.unwrap();
            assert!(pairs.iter().all(|(old, _)| !world.text("a").contains(old)));
            world.approved("MultiEdit", edits("a", &back)).await.unwrap();
        });
        prop_assert_eq!(world.text("a"), before);
    }
}

fn edits(path: &str, steps: &[(&str, &str)]) -> Value {
    let step = |(old, new): &(&str, &str)| json!({"old_string": old, "new_string": new});
    json!({"file_path": path, "edits": steps.iter().map(step).collect::<Vec<_>>()})
}
