//! Patterns of file names, as the shell reads them: what they match now.

use std::path::PathBuf;

use super::trees::BudgetedWalk;

/// Returns what one component of a pattern matches in these folders, as the shell would: through
/// links, and hidden names only where the pattern starts with a dot.
pub(super) fn step(
    folders: &[PathBuf],
    name: &str,
    walk: &mut BudgetedWalk<'_>,
) -> Option<Vec<PathBuf>> {
    if !name.contains(['*', '?', '[', '\\']) {
        return Some(folders.iter().map(|folder| folder.join(name)).collect());
    }
    let pattern = pattern_of(name)?;
    let mut found = Vec::new();
    for folder in folders {
        // What is no folder, or gone, matches nothing; what cannot be read may.
        let listed = match std::fs::read_dir(folder) {
            Ok(listed) => listed,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return None,
            Err(_) => continue,
        };
        for entry in listed {
            walk.take()?;
            let entry = entry.ok()?.file_name();
            let hidden = entry.to_string_lossy().starts_with('.') && !name.starts_with(['.', '\\']);
            // A name that is not text is taken to fit: what it leads to is then unknown.
            let fits = entry.to_str().is_none_or(|entry| fits(&pattern, entry));
            if !hidden && fits {
                found.push(folder.join(entry));
            }
        }
    }
    Some(found)
}

/// One piece of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternPiece {
    One(char),
    Any,
    Many,
}

/// Reads a pattern. What stands in `[…]` is read differently in different locales: any character.
fn pattern_of(name: &str) -> Option<Vec<PatternPiece>> {
    let mut pieces = Vec::new();
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '*' => PatternPiece::Many,
            '?' => PatternPiece::Any,
            '\\' => PatternPiece::One(chars.next()?),
            '[' => {
                let rest = chars.as_str();
                // Classes have brackets of their own, and without an end it is no bracket.
                if rest.contains('[') || rest.contains('\\') {
                    return None;
                }
                let start = rest.trim_start_matches(['!', '^']);
                let start = start.strip_prefix(']').unwrap_or(start);
                chars = start.split_once(']')?.1.chars();
                PatternPiece::Any
            }
            c => PatternPiece::One(c),
        });
    }
    Some(pieces)
}

fn fits(pattern: &[PatternPiece], name: &str) -> bool {
    let name: Vec<_> = name.chars().collect();
    // Which beginnings of the name the pattern so far fits.
    let mut reached: Vec<bool> = (0..=name.len()).map(|length| length == 0).collect();
    for piece in pattern {
        let mut next = vec![false; reached.len()];
        let mut any = false;
        for (length, fits) in reached.iter().enumerate() {
            any |= fits;
            let one = |c: char| name.get(length) == Some(&c);
            match piece {
                PatternPiece::Many => next.get_mut(length).into_iter().for_each(|it| *it = any),
                PatternPiece::Any if *fits => {
                    next.get_mut(length + 1).into_iter().for_each(|it| *it = true);
                }
                PatternPiece::One(c) if *fits && one(*c) => {
                    next.get_mut(length + 1).into_iter().for_each(|it| *it = true);
                }
                PatternPiece::Any | PatternPiece::One(_) => {}
            }
        }
        reached = next;
    }
    reached.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_at_least_what_the_shell_finds() {
        let check = |pattern: &str, name: &str| fits(&pattern_of(pattern).unwrap(), name);
        for (pattern, name) in [
            ("*.rs", "a.rs"),
            ("*", "x"),
            ("a*b*c", "aXbYc"),
            ("?.c", "é.c"),
            ("[a-c]x", "Bx"),
            ("[]a]", "]"),
            ("a\\*", "a*"),
            ("{a}*", "{a}b"),
            ("**", "ab"),
            ("[!a]*", "b"),
        ] {
            assert!(check(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("*.rs", "a.c"), ("a\\*", "ab"), ("?", "ab"), ("a*", "ba"), ("", "a")]
        {
            assert!(!check(pattern, name), "{pattern} {name}");
        }
        assert!(pattern_of("[[:alpha:]]*").is_none());
    }
}
