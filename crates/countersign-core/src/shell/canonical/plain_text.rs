//! Plain texts: those that every shell reads as we do, so that they may stay as they were written.

use super::{CanonicalCommand, CanonicalScript};

/// Words that shells give a meaning to where a command begins.
const RESERVED: &[&str] = &[
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "end",
    "esac",
    "fi",
    "for",
    "foreach",
    "function",
    "if",
    "in",
    "nocorrect",
    "noglob",
    "repeat",
    "select",
    "then",
    "time",
    "until",
    "while",
];

/// Returns whether a text is made of bare words and operators alone, and of those of the script.
pub(super) fn is_plain(written: &str, script: &CanonicalScript) -> bool {
    let mut tokens = Vec::new();
    list(script, &mut tokens).is_some() && tokenize(written).is_some_and(|found| found == tokens)
}

/// Splits a text at blanks and operators; none if it holds any other character with a meaning.
fn tokenize(text: &str) -> Option<Vec<String>> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let operator = match c {
            ' ' => Some(""),
            '|' if chars.next_if_eq(&'|').is_some() => Some("||"),
            '|' => Some("|"),
            '&' => chars.next_if_eq(&'&').map(|_| "&&").map(Some)?,
            ';' => Some(";"),
            c if is_bare(c) => None,
            _ => return None,
        };
        match operator {
            None => word.push(c),
            Some(operator) => {
                tokens.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                tokens.extend(Some(operator.to_owned()).filter(|it| !it.is_empty()));
            }
        }
    }
    tokens.extend(Some(word).filter(|word| !word.is_empty()));
    Some(tokens)
}

fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c)
}

fn list(script: &CanonicalScript, to: &mut Vec<String>) -> Option<()> {
    match script {
        CanonicalScript::Command(command) => simple(command, to),
        CanonicalScript::Pipeline(stages) => separated(stages, "|", to),
        CanonicalScript::Sequence(scripts) if !scripts.is_empty() => separated(scripts, ";", to),
        CanonicalScript::And(first, second) => joined(first, "&&", second, to),
        CanonicalScript::Or(first, second) => joined(first, "||", second, to),
        _ => None,
    }
}

fn joined(
    first: &CanonicalScript,
    operator: &str,
    second: &CanonicalScript,
    to: &mut Vec<String>,
) -> Option<()> {
    list(first, to)?;
    to.push(operator.to_owned());
    // A list on the right side would need a group.
    match second {
        CanonicalScript::Command(_) | CanonicalScript::Pipeline(_) => list(second, to),
        _ => None,
    }
}

fn separated(scripts: &[CanonicalScript], by: &str, to: &mut Vec<String>) -> Option<()> {
    for (number, script) in scripts.iter().enumerate() {
        if number > 0 {
            to.push(by.to_owned());
        }
        let fits = match script {
            CanonicalScript::Command(_) => true,
            CanonicalScript::Pipeline(_) | CanonicalScript::And(..) | CanonicalScript::Or(..) => {
                by == ";"
            }
            _ => false,
        };
        fits.then(|| list(script, to)).flatten()?;
    }
    Some(())
}

fn simple(command: &CanonicalCommand, to: &mut Vec<String>) -> Option<()> {
    let bare = command.assignments.is_empty() && command.redirections.is_empty();
    let first = command.words.first().filter(|_| bare)?.as_literal()?;
    // A program named by its path, a glob of one name and the like are the same word; others are not.
    if RESERVED.contains(&first) || first.contains('=') {
        return None;
    }
    for word in &command.words {
        let text = word.as_literal()?;
        if text.is_empty() || text.starts_with('=') || !text.chars().all(is_bare) {
            return None;
        }
        to.push(text.to_owned());
    }
    Some(())
}
