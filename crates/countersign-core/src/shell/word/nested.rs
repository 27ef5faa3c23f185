//! Commands inside words: where a substitution begins and ends.

/// Returns the commands that stand in a text as substitutions, however it is quoted.
pub(in super::super) fn substitutions(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, body)) = rest.split_once("$(") {
        let end = closing(body).or_else(|| body.find(')')).unwrap_or(body.len());
        let (inner, after) = body.split_at_checked(end).unwrap_or((body, ""));
        found.push(inner.to_owned());
        rest = after;
    }
    found.extend(text.split('`').skip(1).step_by(2).map(str::to_owned));
    found
}

/// Returns where the `)` is that ends a substitution whose body starts here.
///
/// What would need a parser to find the end (`case`, here-documents, comments) is not found.
pub(super) fn closing(body: &str) -> Option<usize> {
    let mut depth = 1_usize;
    let mut quoted = Vec::new();
    let mut chars = body.char_indices();
    let mut last = ' ';
    while let Some((at, c)) = chars.next() {
        let in_quotes = quoted.last() == Some(&depth);
        match c {
            '\\' => drop(chars.next()),
            // Inside `$'…'` a quote may be escaped.
            '\'' if !in_quotes && last == '$' => return None,
            '\'' if !in_quotes => drop(chars.find(|(_, c)| *c == '\'')),
            '"' if in_quotes => drop(quoted.pop()),
            '"' => quoted.push(depth),
            '(' if !in_quotes || last == '$' => depth += 1,
            ')' if !in_quotes => depth -= 1,
            '`' => return None,
            '#' if !in_quotes && !last.is_alphanumeric() && last != '$' => return None,
            '<' if !in_quotes && last == '<' => return None,
            _ => {}
        }
        if depth == 0 {
            let inside = body.get(..at)?;
            let words = inside.split(|c: char| !c.is_ascii_alphanumeric());
            return (!words.into_iter().any(|word| word == "case")).then_some(at);
        }
        last = c;
    }
    None
}
