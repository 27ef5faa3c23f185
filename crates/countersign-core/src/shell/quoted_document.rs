//! Here-documents whose text is one argument: `git commit -m "$(cat <<'EOF' … EOF)"`.
//!
//! The parser cannot read a here-document inside a substitution. With a quoted delimiter it is nothing but
//! data, so it is written as a quoted word before the text is parsed. What is not exactly this form is left
//! as it is, and is opaque then.

use std::borrow::Cow;

/// Returns a text with each such document written as a quoted word.
pub(super) fn inline_quoted_documents(text: &str) -> Cow<'_, str> {
    if !text.contains("$(cat <<") {
        return Cow::Borrowed(text);
    }
    inlined(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns nothing where the quoting of the text is not entirely clear.
fn inlined(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_quotes = false;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..)?;
        match c {
            '\\' => {
                let next = after.chars().next()?;
                out.push(c);
                out.push(next);
                rest = after.get(next.len_utf8()..)?;
                continue;
            }
            '"' => in_quotes = !in_quotes,
            '\'' if !in_quotes => {
                let end = after.find('\'')? + 1;
                out.push(c);
                out.push_str(after.get(..end)?);
                rest = after.get(end..)?;
                continue;
            }
            '$' if after.starts_with('(') => {
                let (document, behind) = document(after.get(1..)?)?;
                // A word of its own is split where it is not quoted.
                if !in_quotes {
                    return None;
                }
                out.push('"');
                out.push_str(&single_quoted(document));
                out.push('"');
                rest = behind;
                continue;
            }
            // What these begin, in quotes or not, is not followed here.
            '`' => return None,
            '$' if after.starts_with(['{', '\'', '"']) => return None,
            '<' | '#' if !in_quotes => return None,
            _ => {}
        }
        out.push(c);
        rest = after;
    }
    (!in_quotes).then_some(out)
}

/// Reads `cat <<'TAG'`, the lines, `TAG` and `)`: returns the lines and what follows.
fn document(body: &str) -> Option<(&str, &str)> {
    let tag = body.strip_prefix("cat <<")?;
    let quote = tag.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (tag, rest) = tag.get(1..)?.split_once(quote)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if tag.is_empty() || !tag.chars().all(is_plain) {
        return None;
    }
    let lines = rest.strip_prefix('\n')?;
    let mut at = 0;
    loop {
        let line = lines.get(at..)?.split('\n').next()?;
        if line == tag {
            break;
        }
        at += line.len() + 1;
    }
    let behind = lines.get(at + tag.len()..)?.trim_start_matches(['\n', ' ', '\t']);
    // The shell takes the line breaks at the end away.
    Some((lines.get(..at)?.trim_end_matches('\n'), behind.strip_prefix(')')?))
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_document_in_quotes_is_a_quoted_word() {
        check(
            "git commit -m \"$(cat <<'EOF'\nfix: it's `done` $(now) \"so\"\n\nBody (1).\nEOF\n)\"",
            "git commit -m \"\"'fix: it'\\''s `done` $(now) \"so\"\n\nBody (1).'\"\"",
        );
        check("x \"a $(cat <<\"E\"\nb\nE\n) c\" && y", "x \"a \"'b'\" c\" && y");
        check("x \"$(cat <<'E'\nE\n)\"", "x \"\"''\"\"");
    }

    #[test]
    fn anything_else_stays_as_it_is() {
        for text in [
            // Expanded by the shell.
            "x \"$(cat <<EOF\na\nEOF\n)\"",
            // Split into words.
            "x $(cat <<'EOF'\na\nEOF\n)",
            // More than `cat`.
            "x \"$(cat <<'EOF' | sh\na\nEOF\n)\"",
            "x \"$(cat <<'EOF'\na\nEOF\necho b)\"",
            // No end.
            "x \"$(cat <<'EOF'\na\n EOF\n)\"",
            // Quoting that is not followed.
            "x `y` \"$(cat <<'EOF'\na\nEOF\n)\"",
            "x # \" \n\"$(cat <<'EOF'\na\nEOF\n)\"",
            "cat <<X\n\"\nX\ny \"$(cat <<'EOF'\na\nEOF\n)\"",
            "x $'\\'' \"$(cat <<'EOF'\na\nEOF\n)\"",
        ] {
            check(text, text);
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(inline_quoted_documents(text), expected);
    }
}
