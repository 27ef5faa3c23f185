//! Portable texts: those that every shell of the standard reads as bash does.

/// Words with a meaning that shells do not share, where a command begins.
const UNSHARED: &[&str] = &[
    "[[",
    "alias",
    "builtin",
    "command",
    "coproc",
    "declare",
    "echo",
    "enable",
    "eval",
    "exec",
    "export",
    "function",
    "getopts",
    "hash",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "select",
    "set",
    "shopt",
    "source",
    "time",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "unset",
    "until",
    "while",
    "for",
    "if",
    "case",
    "{",
    "!",
    ".",
];

/// Returns whether a text holds only bare words and words in simple quotes, joined by `|`, `&&`, `||`
/// and `;`, with no assignment and no redirection but those of an error stream to nowhere.
pub(super) fn is_portable(text: &str) -> bool {
    let text = text.replace("2>&1", " ").replace("2>/dev/null", " ").replace(">/dev/null", " ");
    let Some(words) = split(&text) else { return false };
    let mut begins = true;
    for word in words {
        match word {
            PortableToken::Operator => begins = true,
            PortableToken::Word(word) => {
                if begins && (UNSHARED.contains(&word.as_str()) || word.contains('=')) {
                    return false;
                }
                begins = false;
            }
        }
    }
    true
}

enum PortableToken {
    Word(String),
    Operator,
}

fn split(text: &str) -> Option<Vec<PortableToken>> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '|' | ';' | '&' => {
                tokens.extend(word.take().map(PortableToken::Word));
                if c == '&' {
                    chars.next_if_eq(&'&')?;
                }
                tokens.extend((c != ' ').then_some(PortableToken::Operator));
            }
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' if c == '"' => return None,
                        inner => word.push(inner),
                    }
                }
            }
            c if c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c) => {
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    tokens.extend(word.map(PortableToken::Word));
    Some(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_texts_are_read_alike_by_every_shell() {
        for text in ["ls -la", "cd src && ls | head -3; pwd", "grep 'a b' f 2>/dev/null || true"] {
            assert!(is_portable(text), "{text}");
        }
        for text in [
            "[[ a > b ]]",
            "((1>2))",
            "echo $'\\'",
            "A=b ls",
            "ls > f",
            "ls &",
            "echo \"$x\"",
            "let d=1",
            "function f { ls; }",
            "ls\npwd",
            "ls {a,b}",
            "ls *",
            "ls ~",
            "time ls",
            "ls #x",
            "ls $x",
            "cat <<E",
            "a=1",
            "d=x <nope; ls",
            "echo -n a",
        ] {
            assert!(!is_portable(text), "{text}");
        }
    }
}
