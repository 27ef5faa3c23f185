use std::fs;

use countersign_core::{Digest, Effect, Preview};
use countersign_tools::ToolError;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[tokio::test]
async fn one_place_changes_and_the_answer_shows_it() {
    let world = World::with_file("a.rs", "fn main() {\n    one();\n}\n");
    let answer = world.ok("Edit", edit("a.rs", "one()", "two()")).await;
    assert_eq!(
        answer,
        "The file a.rs has been updated. Here is the result of running `cat -n` on a snippet of it:\n     \
         1\tfn main() {\n     2\t    two();\n     3\t}\n"
    );
    assert_eq!(world.text("a.rs"), "fn main() {\n    two();\n}\n");
}

#[tokio::test]
async fn every_occurrence_changes_when_all_are_meant() {
    let world = World::with_file("a", "x y x");
    let mut input = edit("a", "x", "z");
    let ambiguous = world.fails("Edit", input.clone()).await;
    assert_has(&ambiguous, "occurs 2 times in `a` (at lines 1, 1). Add lines around it");
    input["replace_all"] = true.into();
    assert_has(&world.ok("Edit", input).await, "2 occurrences were replaced");
    assert_eq!(world.text("a"), "z y z");
}

#[tokio::test]
async fn what_is_not_there_is_said_with_a_hint() {
    let world = World::with_file("a.rs", "fn main() {\n    one();\n}\n");
    let error = world.fails("Edit", edit("a.rs", "\tone();", "two();")).await;
    assert_has(&error, "old_string is not in `a.rs`. Line 2 differs from it only in whitespace");
    assert_has(&error, "     2\t    one();");
    assert_has(&world.fails("Edit", edit("none", "a", "b")).await, "`none` does not exist");
    assert_has(&world.fails("Edit", edit(".", "a", "b")).await, "is a folder");
}

#[tokio::test]
async fn an_empty_old_string_makes_a_new_file_only() {
    let world = World::with_file("there", "");
    let answer = world.ok("Edit", edit("new/a.txt", "", "one\n")).await;
    assert_has(&answer, "The file new/a.txt has been created.");
    assert_eq!(world.text("new/a.txt"), "one\n");
    assert_has(&world.fails("Edit", edit("there", "", "x")).await, "`there` exists already");
}

#[tokio::test]
async fn line_ends_marks_and_encodings_are_kept() {
    check(b"a\r\nb\r\n", "a\nb", "x\ny", b"x\r\ny\r\n").await;
    check(b"\xef\xbb\xbfa\nb", "a", "x", b"\xef\xbb\xbfx\nb").await;
    check(b"\xff\xfea\0\r\0\n\0b\0", "a\nb", "\u{e9}\n", b"\xff\xfe\xe9\0\r\0\n\0").await;
    check(b"\xfe\xff\0a\0b", "b", "c", b"\xfe\xff\0a\0c").await;
    check(b"no end", "end", "stop", b"no stop").await;
}

#[tokio::test]
async fn what_is_no_text_is_not_edited() {
    let world = World::with_file("latin", b"caf\xe9 x");
    assert_has(&world.fails("Edit", edit("latin", "x", "y")).await, "neither UTF-8 nor UTF-16");
    world.write("binary", b"x\0");
    assert_has(&world.fails("Edit", edit("binary", "x", "y")).await, "is a binary file (2 bytes)");
}

#[tokio::test]
async fn mode_and_links_are_kept() {
    let world = World::with_file("run.sh", "old");
    world.set_mode("run.sh", 0o755);
    world.link("run.sh", "link");
    world.ok("Edit", edit("link", "old", "new")).await;
    assert_eq!((world.text("run.sh"), world.mode("run.sh")), ("new".to_owned(), 0o755));
    assert!(world.path("link").symlink_metadata().unwrap().is_symlink());
    world.set_mode("run.sh", 0o555);
    assert_has(&world.fails("Edit", edit("run.sh", "new", "old")).await, "is read-only");
}

#[tokio::test]
async fn a_file_that_changed_or_vanished_since_is_drift() {
    let world = World::with_file("a", "old text");
    let permit = world.approve("Edit", edit("a", "old", "new"));
    world.write("a", "old text, and more");
    let error = world.run_permit(permit).await.unwrap_err();
    assert!(matches!(error, ToolError::Drift { .. }), "{error}");
    let permit = world.approve("Edit", edit("a", "old", "new"));
    fs::remove_file(world.path("a")).unwrap();
    let error = world.run_permit(permit).await.unwrap_err();
    assert!(matches!(error, ToolError::Drift { .. }), "{error}");
    assert_eq!(world.names(), Vec::<String>::new());
}

#[test]
fn an_edit_reads_and_writes() {
    let world = World::with_file("a", "old");
    let plan = world.plan("Edit", edit("a", "old", "new")).unwrap();
    let kinds = plan.effects.iter().map(|effect| match effect {
        Effect::Read(target) => ("read", target.path.clone()),
        Effect::Write(target) => ("write", target.path.clone()),
        other => panic!("{other:?}"),
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [("read", world.path("a")), ("write", world.path("a"))]);
}

#[test]
fn a_hundred_thousand_lines_are_previewed_by_what_changes() {
    let text: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
    let world = World::with_file("long", &text);
    let preview = world.preview("Edit", edit("long", "line 77777\n", "changed\n")).unwrap();
    let Preview::Diff(diff) = preview else { panic!("no diff") };
    assert_eq!((diff.original_lines, diff.diff.added, diff.diff.removed), (100_000, 1, 1));
    assert_eq!(diff.diff.lines.len(), 2 + 1 + 3 + 2 + 3);
    assert_eq!(diff.original_content, None, "too large to carry along");
    assert_eq!(diff.preimage.digest, Some(Digest::for_bytes(text.as_bytes())));
}

#[test]
fn an_empty_old_string_is_refused_as_soon_as_the_file_is_there() {
    let world = World::with_file("there", "a");
    assert_has(&world.plan("Edit", edit("there", "", "x")).unwrap_err().0, "exists already");
    assert!(world.plan("Edit", edit("new", "", "x")).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_byte_outside_the_replaced_text_stays(
        before in "([a-z]{0,6}\r?\n){0,4}",
        after in "(\r?\n[a-z]{0,6}){0,4}",
        new in "[0-9]{0,6}",
        mark in any::<bool>(),
    ) {
        let mark: &[u8] = if mark { b"\xef\xbb\xbf" } else { b"" };
        let bytes = |middle: &str| [mark, format!("{before}{middle}{after}").as_bytes()].concat();
        let world = World::with_file("a", bytes("OLD"));
        let permit = world.approve("Edit", edit("a", "OLD", &new));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(world.run_permit(permit)).unwrap();
        prop_assert_eq!(world.bytes("a"), bytes(&new));
    }
}

async fn check(before: &[u8], old: &str, new: &str, after: &[u8]) {
    let world = World::with_file("a", before);
    let permit = world.approve("Edit", edit("a", old, new));
    world.run_permit(permit).await.unwrap();
    assert_eq!(world.bytes("a"), after);
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

#[tokio::test]
async fn a_file_of_100_mb_is_refused_by_its_size_and_an_empty_one_by_what_it_lacks() {
    let world = World::with_file("large", "x");
    fs::File::options()
        .write(true)
        .open(world.path("large"))
        .unwrap()
        .set_len(100_000_000)
        .unwrap();
    let error = world.fails("Edit", edit("large", "x", "y")).await;
    assert_has(&error, "is too large to be changed as a whole (100.0 MB, the limit is 67.1 MB)");
    assert_eq!(world.preview("Edit", edit("large", "x", "y")).unwrap_err().0, error);
    world.write("empty", "");
    assert_has(&world.fails("Edit", edit("empty", "x", "y")).await, "old_string is not in `empty`");
}
