//! `${…}`: the forms that are done here, on values that are known.

/// Splits the inside of `${…}` into the variable and the operator with its words.
///
/// None for what assigns, follows a name or evaluates, and for words that expand themselves.
pub(super) fn split_parameter(body: &str) -> Option<(&str, &str)> {
    let simple = |c: char| c.is_ascii_alphanumeric() || "_#%/:.,^*?+- ".contains(c);
    if !body.chars().all(simple) {
        return None;
    }
    if let Some(name) = body.strip_prefix('#') {
        return (!name.is_empty() && leading_name(name) == name).then_some((name, "#length"));
    }
    let name = leading_name(body);
    let operator = body.strip_prefix(name).filter(|_| !name.is_empty())?;
    Some((name, operator))
}

/// Returns what an operator makes of a value, if it is one of those that are followed.
pub(super) fn apply_operator(value: &str, operator: &str) -> Option<String> {
    if operator == "#length" {
        return value.is_ascii().then(|| value.len().to_string());
    }
    if let Some(word) = operator.strip_prefix(":-").or_else(|| operator.strip_prefix(":+")) {
        let other = value.is_empty() == operator.starts_with(":-");
        let kept = if operator.starts_with(":-") { value } else { "" };
        return Some(if other { word } else { kept }.to_owned());
    }
    let longest = operator.starts_with("%%") || operator.starts_with("##");
    match operator.chars().next()? {
        '%' => Some(without(value, operator.trim_start_matches('%'), longest, true)?.to_owned()),
        '#' => Some(without(value, operator.trim_start_matches('#'), longest, false)?.to_owned()),
        _ => None,
    }
}

/// Takes what a pattern matches off one end of a value: the shortest or the longest piece.
fn without<'v>(value: &'v str, pattern: &str, longest: bool, at_end: bool) -> Option<&'v str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./,-*".contains(c);
    if !pattern.chars().all(plain) {
        return None;
    }
    let cuts = (0..=value.len()).filter(|at| value.is_char_boundary(*at));
    let splits: Vec<_> = cuts.filter_map(|at| value.split_at_checked(at)).collect();
    let taken = |(start, end): &(&'v str, &'v str)| if at_end { *end } else { *start };
    let kept = |(start, end): (&'v str, &'v str)| if at_end { start } else { end };
    let matching = splits.into_iter().filter(|split| matches(pattern, taken(split)));
    let by_length = |split: &(&str, &str)| if at_end { split.1.len() } else { split.0.len() };
    let best =
        if longest { matching.max_by_key(by_length) } else { matching.min_by_key(by_length) };
    Some(best.map_or(value, kept))
}

/// Matches a text with a pattern whose only wildcard is `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut pieces: Vec<_> = rest.split('*').collect();
    let Some(end) = pieces.pop() else { return true };
    for piece in pieces {
        let Some((_, after)) = text.split_once(piece) else { return false };
        text = after;
    }
    text.ends_with(end)
}

pub(super) fn leading_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default();
    if name.starts_with(|c: char| c.is_ascii_digit()) { "" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_on_known_values_are_followed() {
        for (value, operator, expected) in [
            ("a.tar.gz", "%.gz", "a.tar"),
            ("a.tar.gz", "%%.*", "a"),
            ("a.tar.gz", "%.*", "a.tar"),
            ("src/a/b.rs", "##*/", "b.rs"),
            ("src/a/b.rs", "#*/", "a/b.rs"),
            ("x", "%y", "x"),
            ("", ":-z", "z"),
            ("x", ":-z", "x"),
            ("x", ":+z", "z"),
            ("abc", "#length", "3"),
        ] {
            assert_eq!(apply_operator(value, operator).as_deref(), Some(expected), "{operator}");
        }
        for operator in ["/a/b", "^^", ":1:2", "%[a]", "-z", "%?"] {
            assert_eq!(apply_operator("abc", operator), None, "{operator}");
        }
    }

    #[test]
    fn what_may_assign_or_run_is_not_split() {
        for body in ["x:=\\", "!x", "x@P", "a[1]", "x:-$(ls)", "1", "", "x:-`ls`"] {
            assert_eq!(split_parameter(body), None, "{body}");
        }
        assert_eq!(split_parameter("x%.rs"), Some(("x", "%.rs")));
    }
}
