use proptest::prelude::*;

use super::*;

#[test]
fn one_occurrence_is_replaced_to_the_letter() {
    check("a b c", "b", "x\ny", "a x\ny c");
    check("a b c", " b", "", "a c");
    check("no end", "end", "end\n", "no end\n");
}

#[test]
fn line_ends_are_those_of_the_file() {
    check("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n");
    check("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n");
    check("a\r\nb\r\n", "b", "x\r\ny", "a\r\nx\r\ny\r\n");
    check("a\r\nb\r\n", "\nb", "", "a\r\n");
    check("a\r\nb\nc\nd\n", "b\nc", "x\ny", "a\r\nx\ny\nd\n");
}

#[test]
fn a_return_that_is_spelled_out_is_meant() {
    check("a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n");
    assert_eq!(
        TextReplacement::replace_text("a\nb\n", "a\r\nb", "x", false),
        Err(ReplacementError::NotFound)
    );
}

#[test]
fn what_occurs_twice_is_named_by_line() {
    let fault = TextReplacement::replace_text("x\ny\nx\n", "x", "z", false);
    assert_eq!(fault, Err(ReplacementError::NotUnique { lines: vec![1, 3], more: 0 }));
    let overlapping = TextReplacement::replace_text("\naaa", "aa", "b", false);
    assert_eq!(overlapping, Err(ReplacementError::NotUnique { lines: vec![2, 2], more: 0 }));
    let many = TextReplacement::replace_text(&"x\n".repeat(25), "x", "z", false);
    assert_eq!(many, Err(ReplacementError::NotUnique { lines: (1..=10).collect(), more: 15 }));
}

#[test]
fn all_means_all() {
    let replaced = TextReplacement::replace_text("x\r\ny x\r\n", "x", "zz", true).unwrap();
    assert_eq!((replaced.content.as_str(), replaced.count), ("zz\r\ny zz\r\n", 2));
}

#[test]
fn the_snippet_shows_the_surroundings_and_no_more() {
    let text: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    let replaced =
        TextReplacement::replace_text(&text, "line 10\n", "new\nnewer\n", false).unwrap();
    let snippet = replaced.snippet();
    let lines: Vec<&str> = snippet.lines().collect();
    assert_eq!(lines.first(), Some(&"     6\tline 6"));
    assert!(lines.contains(&"    11\tnewer"));
    assert!(lines.len() <= 12, "{snippet}");
    let long =
        TextReplacement::replace_text(&text, "line 10\n", &"x\n".repeat(1000), false).unwrap();
    assert!(long.snippet().ends_with("[… the change goes on]\n"));
}

proptest! {
    #[test]
    fn exactly_the_intended_part_changes(
        before in "([a-z ]{0,8}(\n|\r\n)?){0,6}",
        after in "([a-z ]{0,8}(\n|\r\n)?){0,6}",
        old in "[A-Z]{1,4}(\n[A-Z]{1,4}){0,3}",
        new in "[0-9\n]{0,8}",
        returns in any::<bool>(),
    ) {
        let written = |text: &str| if returns { text.replace('\n', "\r\n") } else { text.to_owned() };
        let content = format!("{before}{}{after}", written(&old));
        let replaced = TextReplacement::replace_text(&content, &old, &new, false).unwrap();
        let middle = replaced
            .content
            .strip_prefix(before.as_str())
            .and_then(|rest| rest.strip_suffix(after.as_str()));
        prop_assert!(middle.is_some(), "{:?} -> {:?}", content, replaced.content);
        prop_assert_eq!(middle.unwrap().replace("\r\n", "\n"), new.clone());
        if old.contains('\n') {
            prop_assert_eq!(middle.unwrap(), written(&new));
        }
    }
}

#[track_caller]
fn check(content: &str, old: &str, new: &str, expected: &str) {
    let replaced =
        TextReplacement::replace_text(content, old, new, false).map(|replaced| replaced.content);
    assert_eq!(replaced.as_deref(), Ok(expected));
}
