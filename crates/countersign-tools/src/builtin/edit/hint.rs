//! Why a text is not where a model thought it was.

use crate::files::escape::escape_to_line;
use crate::files::text::push_numbered;
use crate::files::truncate::cap;

/// How many lines of the file a hint quotes.
const QUOTED: usize = 12;

/// Returns what to do about a text that was not found.
pub(super) fn why_not_found(content: &str, old: &str, new: &str) -> String {
    let wanted: Vec<&str> = old.lines().collect();
    let lines: Vec<&str> = content.lines().collect();
    if wanted.iter().all(|line| is_numbered(line)) {
        return "It starts with the line numbers that Read shows: leave them and the tab out"
            .to_owned();
    }
    if let Some(at) = position(&lines, &wanted, |line| line.trim()) {
        let mut quote = String::new();
        for (index, line) in lines.iter().enumerate().skip(at).take(wanted.len().min(QUOTED)) {
            push_numbered(&mut quote, index + 1, &cap(line, 500));
        }
        return format!(
            "Line {} differs from it only in whitespace or line ends; copy it as it is:\n{quote}",
            at + 1
        );
    }
    if !new.is_empty() && content.contains(new) {
        let before = content.split(new).next().unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        return format!("new_string is there already, at line {line}: is the change made?");
    }
    let first = wanted.iter().find(|line| !line.trim().is_empty());
    if let Some(first) = first
        && wanted.len() > 1
        && let Some(at) = lines.iter().position(|line| line.trim() == first.trim())
    {
        return format!(
            "Its line `{}` is at line {}, but what stands around it there is different; read the \
             file again from there",
            escape_to_line(first.trim()),
            at + 1
        );
    }
    "Read the file again: it may have changed since you last saw it".to_owned()
}

/// Returns where lines follow each other, compared by what `key` leaves of them.
fn position<'a>(
    lines: &[&'a str],
    wanted: &[&'a str],
    key: fn(&'a str) -> &'a str,
) -> Option<usize> {
    if wanted.iter().all(|line| key(line).is_empty()) {
        return None;
    }
    lines
        .windows(wanted.len())
        .position(|window| window.iter().zip(wanted).all(|(line, wanted)| key(line) == key(wanted)))
}

fn is_numbered(line: &str) -> bool {
    line.trim_start().split_once('\t').is_some_and(|(number, _)| {
        !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "fn main() {\n    one();\n    two();\n}\n";

    #[test]
    fn a_hint_says_what_is_different() {
        check("one();\ntwo();", "three", "Line 2 differs from it only in whitespace");
        check("\tone();", "three", "Line 2 differs");
        check("     2\t    one();", "three", "leave them and the tab out");
        check("zero();", "one();", "new_string is there already, at line 2");
        check("one();\nthree();", "x", "is at line 2, but what stands around it");
        check("nothing like it", "x", "Read the file again");
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let hint = why_not_found(FILE, old, new);
        assert!(hint.contains(expected), "{hint}");
    }
}
