//! The printer: the canonical form as a text that every shell like bash reads in one way only.
//!
//! Every word is quoted, every expansion stands in double quotes, and groups are always marked.

use super::{CanonicalCommand, CanonicalRedirection, CanonicalScript, CanonicalWord, WordPiece};

/// Returns the text of a script.
pub(super) fn print(script: &CanonicalScript) -> String {
    let mut text = String::new();
    list(script, &mut text);
    text
}

/// Prints what may hold several commands.
fn list(script: &CanonicalScript, to: &mut String) {
    match script {
        CanonicalScript::Sequence(scripts) if !scripts.is_empty() => {
            for (number, script) in scripts.iter().enumerate() {
                if number > 0 {
                    to.push_str("; ");
                }
                list(script, to);
            }
        }
        CanonicalScript::And(first, second) => joined(first, " && ", second, to),
        CanonicalScript::Or(first, second) => joined(first, " || ", second, to),
        other => pipeline(other, to),
    }
}

/// Both operators bind equally, from the left: only the right side may need a group.
fn joined(first: &CanonicalScript, operator: &str, second: &CanonicalScript, to: &mut String) {
    match first {
        CanonicalScript::And(..) | CanonicalScript::Or(..) => list(first, to),
        other => pipeline(other, to),
    }
    to.push_str(operator);
    pipeline(second, to);
}

fn pipeline(script: &CanonicalScript, to: &mut String) {
    match script {
        CanonicalScript::Timed(inner) => {
            to.push_str("time ");
            match inner.as_ref() {
                CanonicalScript::Pipeline(_) | CanonicalScript::Not(_) => pipeline(inner, to),
                other => stage(other, to),
            }
        }
        CanonicalScript::Not(inner) => {
            to.push_str("! ");
            match inner.as_ref() {
                CanonicalScript::Pipeline(_) => pipeline(inner, to),
                other => stage(other, to),
            }
        }
        CanonicalScript::Pipeline(stages) => {
            for (number, script) in stages.iter().enumerate() {
                if number > 0 {
                    to.push_str(" | ");
                }
                stage(script, to);
            }
        }
        other => stage(other, to),
    }
}

/// Prints what can stand between two `|`.
fn stage(script: &CanonicalScript, to: &mut String) {
    match script {
        CanonicalScript::Command(command) => print_command(command, to),
        CanonicalScript::Subshell(inner) => {
            to.push_str("( ");
            list(inner, to);
            to.push_str(" )");
        }
        CanonicalScript::Redirected(inner, redirections) => {
            match inner.as_ref() {
                it @ (CanonicalScript::Subshell(_)
                | CanonicalScript::If { .. }
                | CanonicalScript::While { .. }) => stage(it, to),
                other => group(other, to),
            }
            print_redirections(redirections, to);
        }
        CanonicalScript::If { condition, then, otherwise } => {
            to.push_str("if ");
            list(condition, to);
            to.push_str("; then ");
            list(then, to);
            if **otherwise != CanonicalScript::no_op() {
                to.push_str("; else ");
                list(otherwise, to);
            }
            to.push_str("; fi");
        }
        CanonicalScript::While { condition, until, body } => {
            to.push_str(if *until { "until " } else { "while " });
            list(condition, to);
            to.push_str("; do ");
            list(body, to);
            to.push_str("; done");
        }
        CanonicalScript::Sequence(scripts) if scripts.is_empty() => to.push_str("'true'"),
        other => group(other, to),
    }
}

fn group(script: &CanonicalScript, to: &mut String) {
    to.push_str("{ ");
    list(script, to);
    to.push_str("; }");
}

fn print_command(command: &CanonicalCommand, to: &mut String) {
    let start = to.len();
    for assignment in &command.assignments {
        separate(start, to);
        to.push_str(&assignment.name);
        to.push('=');
        print_word(&assignment.value, to);
    }
    for (number, word) in command.words.iter().enumerate() {
        separate(start, to);
        match word.as_literal() {
            // Without the dot a shell may look the folder up elsewhere, by `CDPATH`.
            Some(folder) if number == 1 && is_relative_cd(command, folder) => {
                quote(&format!("./{folder}"), to);
            }
            _ => print_word(word, to),
        }
    }
    if to.len() == start {
        to.push_str("'true'");
    }
    print_redirections(&command.redirections, to);
}

fn is_relative_cd(command: &CanonicalCommand, folder: &str) -> bool {
    let name = command.words.first().and_then(CanonicalWord::as_literal);
    name == Some("cd") && !folder.starts_with(['/', '.']) && !folder.is_empty()
}

fn separate(start: usize, to: &mut String) {
    if to.len() > start {
        to.push(' ');
    }
}

fn print_redirections(redirections: &[CanonicalRedirection], to: &mut String) {
    for redirection in redirections {
        to.push(' ');
        match redirection {
            CanonicalRedirection::Read { path } => {
                to.push('<');
                quote(path, to);
            }
            CanonicalRedirection::Write { stream, path, append } => {
                if *stream != 1 {
                    to.push_str(&stream.to_string());
                }
                to.push_str(if *append { ">>" } else { ">" });
                quote(path, to);
            }
            CanonicalRedirection::Duplicate { stream, to: other } => {
                to.push_str(&stream.to_string());
                to.push_str(">&");
                to.push_str(&other.to_string());
            }
            CanonicalRedirection::Text { text } => {
                to.push_str("<<< ");
                print_word(text, to);
            }
        }
    }
}

fn print_word(word: &CanonicalWord, to: &mut String) {
    if word.0.is_empty() {
        to.push_str("''");
    }
    for piece in &word.0 {
        match piece {
            WordPiece::Literal(text) => quote(text, to),
            WordPiece::Variable(name) => {
                to.push_str("\"${");
                to.push_str(name);
                to.push_str("}\"");
            }
            WordPiece::Status => to.push_str("\"$?\""),
            WordPiece::Output(script) => {
                to.push_str("\"$(");
                list(script, to);
                to.push_str(")\"");
            }
        }
    }
}

/// Prints a text so that no shell finds a meaning in it.
fn quote(text: &str, to: &mut String) {
    to.push('\'');
    to.push_str(&text.replace('\'', "'\\''"));
    to.push('\'');
}
