use proptest::prelude::*;

use super::*;

#[test]
fn a_new_file_looks_as_in_the_founding_document() {
    check(
        "/path/to/test.txt",
        "",
        "hello world",
        "--- a//path/to/test.txt\n+++ b//path/to/test.txt\n@@ -0,0 +1 @@\n+hello world",
    );
}

#[test]
fn changes_far_apart_are_hunks_of_their_own() {
    let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
    let new = old.replace("2\n", "two\n").replace("19\n", "nineteen\n");
    let new = new.replace("1two\n", "12\n");
    check(
        "f",
        &old,
        &new,
        "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
         @@ -16,5 +16,5 @@\n 16\n 17\n 18\n-19\n+nineteen\n 20",
    );
}

#[test]
fn changes_whose_context_touches_share_a_hunk() {
    let diff = UnifiedDiff::from_texts("f", "a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n");
    assert_eq!(diff.lines.iter().filter(|line| line.starts_with("@@")).count(), 1);
    assert_eq!((diff.added, diff.removed), (2, 2));
}

#[test]
fn a_final_newline_is_a_change_without_a_marker() {
    check("f", "a\n", "a", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a");
}

#[test]
fn equal_texts_have_no_diff() {
    check("f", "a\nb\n", "a\nb\n", "");
}

#[test]
fn a_diff_that_is_too_long_keeps_both_ends_and_counts_the_rest() {
    let all = |count: usize| -> String { (0..count).map(|n| format!("{n}\n")).collect() };
    let diff = UnifiedDiff::from_texts("f", "", &all(UnifiedDiff::LINE_LIMIT - 3));
    assert_eq!((diff.lines.len(), diff.omitted), (UnifiedDiff::LINE_LIMIT, 0));
    for count in [UnifiedDiff::LINE_LIMIT - 2, UnifiedDiff::LINE_LIMIT + 50, 5_000] {
        let (diff, whole) = UnifiedDiff::with_full_text("f", "", &all(count));
        assert_eq!(diff.lines.len(), UnifiedDiff::HEAD + 1 + UnifiedDiff::TAIL);
        assert_eq!((diff.added, diff.omitted), (count, count + 3 - 1_200));
        assert_eq!(diff.lines[UnifiedDiff::HEAD - 1], "+996");
        let head = format!("@@ -0,0 +{},200 @@", count - UnifiedDiff::TAIL + 1);
        assert_eq!(diff.lines[UnifiedDiff::HEAD], head, "the lines that follow are numbered by it");
        assert_eq!(diff.lines[UnifiedDiff::HEAD + 1], format!("+{}", count - UnifiedDiff::TAIL));
        assert_eq!(diff.lines.last(), Some(&format!("+{}", count - 1)));
        let added: String = (0..count).map(|n| format!("\n+{n}")).collect();
        assert_eq!(whole, Some(format!("--- a/f\n+++ b/f\n@@ -0,0 +1,{count} @@{added}")));
    }
}

#[test]
fn the_head_of_a_tail_counts_to_the_next_hunk() {
    let old: String = (0..3_000).map(|n| format!("{n}\n")).collect();
    let new: String = (0..3_000)
        .map(|n| if n < 1_500 || n == 2_900 { format!("new {n}\n") } else { format!("{n}\n") })
        .collect();
    let diff = UnifiedDiff::from_texts("f", &old, &new);
    assert_eq!(diff.omitted, 2 + 1 + 3_003 + 1 + 8 - 1_200);
    // Of the last 200 lines, nine are the second hunk's and three are context.
    assert_eq!(diff.lines[UnifiedDiff::HEAD], "@@ -1501,3 +1313,191 @@");
    assert_eq!(diff.lines[UnifiedDiff::HEAD + 1], "+new 1312");
    assert_eq!(diff.lines[UnifiedDiff::HEAD + 1 + 191], "@@ -2898,7 +2898,7 @@");
}

proptest! {
    /// Few changes in a long text, where equal runs are passed without the diff algorithm.
    #[test]
    fn a_diff_of_a_long_text_is_as_true_and_no_larger_than_the_changes(
        changes in prop::collection::btree_map(0_usize..400, prop::option::of("[a-z]{1,3}"), 0..8),
    ) {
        let old: String = (0..400).map(|n| format!("{n}\n")).collect();
        let change = |n| match changes.get(&n) {
            None => format!("{n}\n"),
            Some(None) => String::new(),
            Some(Some(text)) => format!("{text}\n{n}\n"),
        };
        let new: String = (0..400).map(change).collect();
        let diff = UnifiedDiff::from_texts("f", &old, &new);
        prop_assert_eq!(apply(&old, &diff), lines_of(&new));
        let (gone, come): (Vec<_>, Vec<_>) = changes.values().partition(|change| change.is_none());
        prop_assert_eq!((diff.removed, diff.added), (gone.len(), come.len()));
    }

    /// The diff is true: applied to the old text it gives the new one.
    #[test]
    fn applying_the_diff_gives_the_new_text(old in text(), new in text()) {
        let diff = UnifiedDiff::from_texts("f", &old, &new);
        prop_assert_eq!(apply(&old, &diff), lines_of(&new));
        prop_assert_eq!(diff.lines.iter().skip(2).filter(|l| l.starts_with('+')).count(), diff.added);
        prop_assert_eq!(diff.lines.iter().skip(2).filter(|l| l.starts_with('-')).count(), diff.removed);
    }
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]{0,1}", 0..30)
        .prop_map(|lines| lines.into_iter().map(|line| line + "\n").collect())
}

/// A small reader of unified diffs, written from the format and not from the code above.
fn apply(old: &str, diff: &UnifiedDiff) -> Vec<String> {
    let old = lines_of(old);
    let (mut at, mut made) = (0, Vec::new());
    for line in diff.lines.iter().skip(2) {
        if let Some(head) = line.strip_prefix("@@ -") {
            let range = head.split(' ').next().unwrap();
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            let start: usize = start.parse().unwrap();
            let start = if count == "0" { start } else { start - 1 };
            made.extend_from_slice(&old[at..start]);
            at = start;
            continue;
        }
        let (mark, text) = line.split_at(1);
        if mark != "+" {
            assert_eq!(old[at], text);
            at += 1;
        }
        if mark != "-" {
            made.push(text.to_owned());
        }
    }
    made.extend_from_slice(&old[at..]);
    made
}

fn lines_of(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(path: &str, old: &str, new: &str, expected: &str) {
    assert_eq!(UnifiedDiff::from_texts(path, old, new).lines.join("\n"), expected);
}
