//! Expansion of glob patterns: the names that the shell would put in a pattern's place.

use std::path::Path;

/// Returns the names that match, sorted by their bytes and written as the pattern is; none if that
/// cannot be told. Every entry that is looked at is taken from a budget first.
pub(super) fn expand(
    cwd: &Path,
    pattern: &str,
    take: &mut dyn FnMut() -> Option<()>,
) -> Option<Vec<String>> {
    let (mut found, rest) = match pattern.strip_prefix('/') {
        Some(rest) => (vec!["/".to_owned()], rest),
        None => (vec![String::new()], pattern),
    };
    let components: Vec<_> = rest.split('/').collect();
    let last = components.len().checked_sub(1)?;
    for (number, component) in components.iter().enumerate() {
        if component.is_empty() {
            // A slash at the end asks for folders; two in a row are not looked into.
            return (number == last && number > 0).then_some(found);
        }
        let end = if number == last { "" } else { "/" };
        found = step(cwd, &found, &pieces(component)?, end, take)?;
    }
    found.sort();
    Some(found)
}

fn step(
    cwd: &Path,
    folders: &[String],
    pieces: &[GlobPiece],
    end: &str,
    take: &mut dyn FnMut() -> Option<()>,
) -> Option<Vec<String>> {
    let literal: Option<String> = pieces
        .iter()
        .map(|piece| if let GlobPiece::One(c) = piece { Some(*c) } else { None })
        .collect();
    let mut found = Vec::new();
    for folder in folders {
        let names = match &literal {
            Some(name) => vec![name.clone()],
            None => matching(&cwd.join(folder), pieces, take)?,
        };
        for name in names {
            let path = cwd.join(folder).join(&name);
            let there =
                if end.is_empty() { path.symlink_metadata().is_ok() } else { path.is_dir() };
            if there {
                found.push(format!("{folder}{name}{end}"));
            }
        }
    }
    Some(found)
}

/// The names in a folder that match; hidden ones only where the pattern says so.
fn matching(
    folder: &Path,
    pieces: &[GlobPiece],
    take: &mut dyn FnMut() -> Option<()>,
) -> Option<Vec<String>> {
    let listed = match std::fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return None,
        // What is no folder, or gone, matches nothing.
        Err(_) => return Some(Vec::new()),
    };
    let hidden = pieces.first() == Some(&GlobPiece::One('.'));
    let mut found = Vec::new();
    for entry in listed {
        take()?;
        let name = entry.ok()?.file_name().into_string().ok()?;
        if (hidden || !name.starts_with('.')) && fits(pieces, &name) {
            found.push(name);
        }
    }
    Some(found)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobPiece {
    One(char),
    Any,
    Many,
    /// One of these ranges; or none of them.
    Set {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

fn pieces(component: &str) -> Option<Vec<GlobPiece>> {
    let mut pieces = Vec::new();
    let mut chars = component.chars();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '*' => GlobPiece::Many,
            '?' => GlobPiece::Any,
            '\\' => GlobPiece::One(chars.next()?),
            '[' => {
                let (set, rest) = set(chars.as_str())?;
                chars = rest.chars();
                set
            }
            c => GlobPiece::One(c),
        });
    }
    Some(pieces)
}

/// Reads what follows `[`. Classes and escapes in it are not read, nor is a bracket without an end.
fn set(text: &str) -> Option<(GlobPiece, &str)> {
    let inner = text.strip_prefix(['!', '^']);
    let negated = inner.is_some();
    let inner = inner.unwrap_or(text);
    let (body, rest) = inner.split_once(']')?;
    if body.is_empty() || body.contains(['[', '\\']) {
        return None;
    }
    let chars: Vec<_> = body.chars().collect();
    let mut ranges = Vec::new();
    let mut left = chars.as_slice();
    while let [first, after @ ..] = left {
        left = match after {
            ['-', last, after @ ..] => {
                ranges.push((*first, *last));
                after
            }
            after => {
                ranges.push((*first, *first));
                after
            }
        };
    }
    Some((GlobPiece::Set { ranges, negated }, rest))
}

fn fits(pieces: &[GlobPiece], name: &str) -> bool {
    let name: Vec<_> = name.chars().collect();
    // Which beginnings of the name the pattern so far fits.
    let mut reached: Vec<bool> = (0..=name.len()).map(|length| length == 0).collect();
    for piece in pieces {
        let mut next = vec![false; reached.len()];
        let mut any = false;
        for (length, fits) in reached.iter().enumerate() {
            any |= fits;
            let (slot, holds) = match (piece, name.get(length)) {
                (GlobPiece::Many, _) => (length, any),
                (GlobPiece::One(c), Some(found)) => (length + 1, *fits && c == found),
                (GlobPiece::Any, Some(_)) => (length + 1, *fits),
                (GlobPiece::Set { ranges, negated }, Some(found)) => {
                    let within = ranges.iter().any(|(from, to)| from <= found && found <= to);
                    (length + 1, *fits && within != *negated)
                }
                (_, None) => continue,
            };
            if let Some(slot) = next.get_mut(slot) {
                *slot |= holds;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_as_the_shell_would_write_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        for name in ["a.rs", "b.rs", "-x", ".hidden", "src/c.rs", "src/deep/d.rs", "[x]", "a*"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let check = |pattern: &str, expected: &[&str]| {
            let found = expand(folder.path(), pattern, &mut || Some(()));
            assert_eq!(found.unwrap(), expected, "{pattern}");
        };
        check("*.rs", &["a.rs", "b.rs"]);
        check("./*.rs", &["./a.rs", "./b.rs"]);
        check("*", &["-x", "[x]", "a*", "a.rs", "b.rs", "src"]);
        check(".h*", &[".hidden"]);
        check("src/*", &["src/c.rs", "src/deep"]);
        check("*/*.rs", &["src/c.rs"]);
        check("*/deep/?.rs", &["src/deep/d.rs"]);
        check("[ab].rs", &["a.rs", "b.rs"]);
        check("[!a].rs", &["b.rs"]);
        check("[a-a].rs", &["a.rs"]);
        check("a\\*", &["a*"]);
        check("*/", &["src/"]);
        check("no*", &[]);
        check("no/*", &[]);
        assert_eq!(expand(folder.path(), "*", &mut || None), None);
        assert_eq!(expand(folder.path(), "[[:alpha:]]*", &mut || Some(())), None);
        assert_eq!(expand(folder.path(), "src//*", &mut || Some(())), None);
    }

    #[test]
    fn absolute_patterns_stay_absolute() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "").unwrap();
        let pattern = format!("{}/*", folder.path().display());
        let found = expand(Path::new("/"), &pattern, &mut || Some(())).unwrap();
        assert_eq!(found, [format!("{}/a", folder.path().display())]);
    }
}
