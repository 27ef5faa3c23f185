use proptest::prelude::*;

use super::*;

#[test]
fn a_change_is_read_with_and_without_git() {
    let hunk = "@@ -1,2 +1,2 @@ fn a\n a\n-b\n+c\n";
    let expected = FilePatch {
        hunks: vec![PatchHunk {
            place: HunkPosition::Line(1),
            lines: vec![
                line(HunkLineKind::Keep, "a\n"),
                line(HunkLineKind::Remove, "b\n"),
                line(HunkLineKind::Add, "c\n"),
            ],
        }],
        ..FilePatch::new("src/x y.rs".to_owned(), FilePatchKind::Update)
    };
    for head in [
        "diff --git a/src/x y.rs b/src/x y.rs\nindex 12..34 100644\n--- a/src/x y.rs\n+++ b/src/x y.rs\n",
        "--- a/src/x y.rs\t2026-01-01\n+++ b/src/x y.rs\t2026-01-02\n",
        "--- src/x y.rs\n+++ src/x y.rs\n",
    ] {
        let found = read(&format!("{head}{hunk}")).unwrap();
        assert_eq!(found.as_slice(), std::slice::from_ref(&expected), "{head}");
    }
}

#[test]
fn git_tells_more_than_lines() {
    let one = |patch: &str| read(patch).unwrap().remove(0);
    let mode = one("diff --git a/r.sh b/r.sh\nold mode 100644\nnew mode 100755\n");
    assert_eq!(
        (mode.old_mode, mode.new_mode),
        (Some(GitFileMode::File), Some(GitFileMode::Executable))
    );
    let link = one(
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n",
    );
    assert!(link.makes_link() && link.kind == FilePatchKind::Add);
    assert_eq!(link.apply("", 0).unwrap(), "/etc");
    let turned =
        one("diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+/etc\n");
    assert!(turned.makes_link(), "a link that is turned elsewhere");
    let moved = one("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n");
    assert_eq!(
        (moved.path.as_str(), moved.kind),
        ("a", FilePatchKind::Move { to: "b".to_owned() })
    );
    let empty = one("diff --git a/e b/e\nnew file mode 100644\nindex 000..e69\n");
    assert_eq!((empty.kind, empty.hunks.len()), (FilePatchKind::Add, 0));
}

#[test]
fn what_could_be_read_differently_is_refused() {
    for patch in [
        "hello\n",
        "From: me\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n",
        "--- a/x\n",
        "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n",
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n*a\n+b\n",
        "--- a/x\n+++ b/x\n@@ what @@\n-a\n+b\n",
        "--- \"a/x\"\n+++ \"b/x\"\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/x\n",
        "diff --git a/x b/y\nold mode 100644\nnew mode 100755\n",
        "diff --git a/x b/x\n--- a/x\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/x\nnew file mode 104755\n",
        "diff --git a/x b/x\nnew file mode 160000\n",
        "diff --git a/x b/x\nGIT binary patch\nliteral 0\n",
        "diff --git a/x b/y\nrename from x\n",
        "diff --git a/x b/y\nrename from x\nrename to z\n",
        "diff --git a/x b/y\ncopy from x\ncopy to y\n",
    ] {
        assert!(read(patch).is_err(), "{patch}");
    }
}

proptest! {
    /// Our own diffs, read as patches, do what they say.
    #[test]
    fn a_diff_applied_gives_the_new_text(old in lines(), new in lines()) {
        let diff = countersign_core::UnifiedDiff::from_texts("f", &old, &new);
        let patch = diff.lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let changes = read(&patch).unwrap();
        let made = changes.first().map_or(Ok(old.clone()), |change| change.apply(&old, 0));
        prop_assert_eq!(made.unwrap(), new);
    }

    #[test]
    fn no_text_breaks_the_reading(
        text in ".*",
        like in "(diff --git a/x b/x\n|--- a/x\n|\\+\\+\\+ b/x\n|@@ -[0-9],[0-9] \\+1 @@\n|[ +-]é\n|\\\\ No\n){0,12}",
    ) {
        let _ = read(&text);
        let _ = read(&like);
        let _ = super::super::envelope::read(&text);
        let _ = super::super::envelope::read(&format!("*** Begin Patch\n*** Update File: x\n{like}"));
    }
}

fn lines() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc+-]{0,2}", 0..30)
        .prop_map(|lines| lines.into_iter().map(|line| line + "\n").collect())
}

fn line(mark: HunkLineKind, text: &str) -> HunkLine {
    HunkLine { mark, text: text.to_owned() }
}
