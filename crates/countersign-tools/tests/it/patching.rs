//! Patches that are applied, to files on a disk.

use std::process::Command;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{World, assert_has};

#[tokio::test]
async fn either_form_changes_adds_deletes_and_moves() {
    let unified = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
        diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n\
        @@ -0,0 +1 @@\n+new\n\
        diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-x\n\
        diff --git a/old.txt b/sub/moved.txt\nrename from old.txt\nrename to sub/moved.txt\n\
        --- a/old.txt\n+++ b/sub/moved.txt\n@@ -2 +2 @@\n-line\n+LINE\n";
    let envelope = "*** Begin Patch\n*** Update File: src/a.rs\n@@ one\n-two\n+2\n\
        *** Add File: new.sh\n+new\n*** Delete File: gone.txt\n\
        *** Update File: old.txt\n*** Move to: sub/moved.txt\n@@\n same\n-line\n+LINE\n*** End Patch\n";
    for text in [unified, envelope] {
        let world = World::with_file("src/a.rs", "one\r\ntwo\r\nthree\r\n");
        world.write("gone.txt", "x\n");
        world.write("old.txt", "same\nline\n");
        world.set_mode("old.txt", 0o755);
        let said = world.approved("ApplyPatch", patch(text)).await.unwrap();
        assert_eq!(
            said.content,
            "The patch has been applied:\nM src/a.rs\nA new.sh\nD gone.txt\nR old.txt -> \
             sub/moved.txt"
        );
        assert_eq!(world.text("src/a.rs"), "one\r\n2\r\nthree\r\n");
        assert_eq!(world.text("new.sh"), "new\n");
        assert_eq!(world.text("sub/moved.txt"), "same\nLINE\n");
        assert_eq!(world.mode("sub/moved.txt"), 0o755, "what moves keeps its mode");
        assert_eq!(world.names(), ["new.sh", "src", "sub"]);
        assert_eq!(world.mode("new.sh") & 0o100 != 0, text == unified);
    }
}

#[tokio::test]
async fn a_mode_changes_alone_and_a_binary_file_moves() {
    let world = World::with_file("run.sh", "x\n");
    world.set_mode("run.sh", 0o640);
    world.write("a.bin", b"\0\x01");
    let text = "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n\
        diff --git a/a.bin b/b.bin\nsimilarity index 100%\nrename from a.bin\nrename to b.bin\n";
    world.approved("ApplyPatch", patch(text)).await.unwrap();
    assert_eq!(world.mode("run.sh"), 0o750, "whoever may read it may run it");
    assert_eq!(world.bytes("b.bin"), b"\0\x01");
    let back = "diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n";
    world.approved("ApplyPatch", patch(back)).await.unwrap();
    assert_eq!(world.mode("run.sh"), 0o640);
}

#[tokio::test]
async fn a_link_is_made_and_none_is_turned() {
    let world = World::with_file("file", "content");
    let text = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n\
        @@ -0,0 +1 @@\n+file\n\\ No newline at end of file\n";
    world.approved("ApplyPatch", patch(text)).await.unwrap();
    assert_eq!(std::fs::read_link(world.path("l")).unwrap().to_str(), Some("file"));
    let turned =
        "diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-file\n+/etc\n";
    let refused = world.preview("ApplyPatch", patch(turned)).unwrap_err();
    assert_has(&refused.0, "patches only make new links here");
    assert_eq!(world.text("file"), "content");
}

#[tokio::test]
async fn a_patch_that_cannot_be_made_as_a_whole_is_not_begun() {
    let world = World::with_file("a", "a\n");
    world.write("gone", "g\n");
    // Where a file stands in the way there can be no folder.
    let text = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** Add File: new\n+n\n\
        *** Delete File: gone\n*** Add File: a/below\n+x\n*** End Patch\n";
    world.run("ApplyPatch", patch(text)).await.unwrap_err();
    assert_eq!(world.names(), ["a", "gone"]);
    assert_eq!((world.text("a"), world.text("gone")), ("a\n".to_owned(), "g\n".to_owned()));
}

#[tokio::test]
async fn files_that_moved_on_are_left_alone_all_of_them() {
    let world = World::with_file("a", "a\n");
    world.write("b", "b\n");
    let text = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Update File: b\n@@\n-b\n+B\n\
        *** End Patch\n";
    let permit = world.approve("ApplyPatch", patch(text));
    world.write("b", "b\nmore\n");
    assert_eq!(
        world.run_permit(permit).await.unwrap_err().kind(),
        countersign_core::FailureKind::Drift
    );
    assert_eq!((world.text("a"), world.text("b")), ("a\n".to_owned(), "b\nmore\n".to_owned()));
}

#[tokio::test]
async fn lines_differ_only_where_fuzz_allows_it() {
    let world = World::with_file("a", "one\nTWO\nthree\nfour\n");
    let text = "--- a/a\n+++ b/a\n@@ -1,4 +1,4 @@\n one\n two\n-three\n+3\n four\n";
    assert_has(&world.fails("ApplyPatch", patch(text)).await, "does not fit");
    let loose = |fuzz: u32| json!({"patch": text, "fuzz": fuzz});
    assert_has(&world.fails("ApplyPatch", loose(1)).await, "does not fit");
    assert_has(&world.fails("ApplyPatch", loose(4)).await, "`fuzz`: at most 3");
    world.approved("ApplyPatch", loose(2)).await.unwrap();
    assert_eq!(world.text("a"), "one\nTWO\n3\nfour\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_unified_diff_applied_and_reversed_is_nothing(
        old in text(), new in text(), end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let (old, new) = (old.replace('\n', end), new.replace('\n', end));
        there_and_back(&old, &new, diff)?;
    }

    #[test]
    fn a_patch_by_lines_applied_and_reversed_is_nothing(old in text(), new in text()) {
        // This form does not know of files that end without a line end.
        let whole = |text: String| if text.ends_with('\n') { text } else { text + "\n" };
        there_and_back(&whole(old), &whole(new), envelope)?;
    }
}

/// A few lines out of a few, so that many are the same; the last may have no end.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "b", "c", "", " x", "-y", "+z", "@@ -1 +1 @@", "é"]);
    (prop::collection::vec(line, 1..14), any::<bool>())
        .prop_map(|(lines, ended)| lines.join("\n") + if ended { "\n" } else { "" })
}

fn there_and_back(
    old: &str,
    new: &str,
    patch_of: fn(&str, &str) -> String,
) -> Result<(), TestCaseError> {
    let (there, back) = (patch_of(old, new), patch_of(new, old));
    if old == new {
        return Ok(());
    }
    let world = World::with_file("a", old);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        world.approved("ApplyPatch", patch(&there)).await.unwrap();
        assert_eq!(world.text("a"), new, "{there}");
        world.approved("ApplyPatch", patch(&back)).await.unwrap();
    });
    prop_assert_eq!(world.text("a"), old);
    Ok(())
}

/// Returns the diff that `diff -u` makes.
fn diff(old: &str, new: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    std::fs::write(&a, old).unwrap();
    std::fs::write(&b, new).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the program whose work is to be understood")]
    let mut command = Command::new("/usr/bin/diff");
    let output = command.args(["-u", "--label", "a/a", "--label", "b/a"]).args([a, b]).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Returns a patch of the other form that replaces all lines.
fn envelope(old: &str, new: &str) -> String {
    let marked = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    format!(
        "*** Begin Patch\n*** Update File: a\n@@\n{}{}*** End Patch\n",
        marked('-', old),
        marked('+', new)
    )
}

fn patch(text: &str) -> Value {
    json!({"patch": text})
}
