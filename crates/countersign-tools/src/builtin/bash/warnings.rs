//! What a person should notice in a command. Hints, by the look of it: no ground for any decision.

use std::path::Path;

use countersign_core::WorkspaceSide;

use crate::files::escape::{deceives, escape_to_line};
use crate::files::workspace::Workspace;

/// Above this many lines a command does not fit on a card.
const SCREEN_LINES: usize = 25;

/// Above this many characters either.
const SCREEN_CHARACTERS: usize = 2_000;

/// How many redirections are looked at.
const REDIRECTS: usize = 50;

/// Programs that run what comes in.
const INTERPRETERS: &[&str] =
    &["sh", "bash", "zsh", "dash", "python", "python3", "node", "perl", "ruby"];

/// Returns what stands out.
pub(super) fn find_warnings(command: &str, cwd: &Path, workspace: &Workspace) -> Vec<String> {
    let mut found = Vec::new();
    if command.chars().any(deceives) {
        found.push("It contains characters that are invisible or change how it looks.".to_owned());
    }
    let (lines, characters) = (command.lines().count(), command.chars().count());
    if lines > SCREEN_LINES || characters > SCREEN_CHARACTERS {
        found.push(format!(
            "It is long ({lines} line{}, {characters} characters): read it to its end.",
            if lines == 1 { "" } else { "s" }
        ));
    }
    let parts = parts(command);
    let words: Vec<Vec<&str>> = parts.iter().map(|part| words(part)).collect();
    found.extend(words.iter().filter_map(|words| of_simple(words)));
    if runs_downloads(&words) {
        found.push("It runs what it downloads.".to_owned());
    }
    found.extend(redirects(command).into_iter().take(REDIRECTS).filter_map(|target| {
        let outside = target.starts_with('~')
            || target.contains('$')
            || workspace
                .resolve(cwd, target)
                .map_or(true, |to| to.place.side == WorkspaceSide::Outside);
        let harmless = matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty");
        (outside && !harmless).then(|| {
            format!(
                "It writes to `{}`, which may be outside the workspace.",
                escape_to_line(target)
            )
        })
    }));
    let mut once = Vec::new();
    found.retain(|warning| {
        let new = !once.contains(warning);
        once.push(warning.clone());
        new
    });
    found
}

/// Cuts a command where the shell starts another one.
fn parts(command: &str) -> Vec<&str> {
    command.split(['|', ';', '&', '\n', '(', ')', '`', '{', '}']).collect()
}

/// Returns the words of a simple command, from its program on.
fn words(part: &str) -> Vec<&str> {
    const BEFORE: &[&str] =
        &["env", "command", "exec", "nohup", "time", "then", "do", "else", "if", "while", "!"];
    part.split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '\\']))
        .skip_while(|word| BEFORE.contains(word) || word.contains('='))
        .collect()
}

fn of_simple(words: &[&str]) -> Option<String> {
    let (program, arguments) = words.split_first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let has = |wanted: &str| arguments.contains(&wanted);
    let flag = |letter: char| {
        arguments
            .iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let text = match name {
        "sudo" | "doas" | "su" | "pkexec" => {
            format!("It runs with the rights of another user (`{name}`).")
        }
        "rm" if flag('r') || flag('R') || has("--recursive") => {
            "It removes folders with all that is in them (`rm -r`).".to_owned()
        }
        "rm" | "shred" | "unlink" => format!("It removes files for good (`{name}`)."),
        "find" if has("-delete") || has("-exec") => {
            "It deletes or runs something for every file it finds (`find`).".to_owned()
        }
        "dd" | "mkfs" | "fdisk" | "parted" => format!("It writes to whole disks (`{name}`)."),
        "chmod" | "chown" if flag('R') => {
            format!("It changes rights in a whole tree (`{name} -R`).")
        }
        "chmod" if has("777") || has("a+rwx") => "It opens files to everyone.".to_owned(),
        "git" if has("push") && (flag('f') || has("--force")) => {
            "It overwrites published history (`git push --force`).".to_owned()
        }
        "git" if has("push") => "It publishes commits (`git push`).".to_owned(),
        "git" if (has("reset") && has("--hard")) || (has("clean") && flag('f')) => {
            "It throws away changes that are not committed.".to_owned()
        }
        "eval" | "source" | "." => format!("It runs text that is not shown here (`{name}`)."),
        _ => return None,
    };
    Some(text)
}

/// Returns whether something is fetched and something runs what comes in.
fn runs_downloads(commands: &[Vec<&str>]) -> bool {
    let program = |words: &Vec<&str>| {
        words.first().map(|word| word.rsplit('/').next().unwrap_or(word).to_owned())
    };
    let fetched = commands
        .iter()
        .position(|words| program(words).is_some_and(|name| name == "curl" || name == "wget"));
    let runs = |words: &Vec<&str>| {
        program(words).is_some_and(|name| INTERPRETERS.contains(&name.as_str()))
            || words.iter().skip(1).any(|word| INTERPRETERS.contains(word))
    };
    fetched.is_some_and(|at| commands.iter().skip(at + 1).any(runs))
        // `bash -c "$(curl …)"`, `bash <(curl …)`
        || fetched.is_some_and(|at| commands.iter().take(at).any(runs))
}

/// Returns where output is sent.
fn redirects(command: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | ')' | '(' | '<' | '>');
    command
        .split('>')
        .skip(1)
        .filter_map(|after| after.trim_start_matches([' ', '|']).split(ends).next())
        .map(|target| target.trim_matches(['"', '\'']))
        .filter(|target| !target.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_out_is_said_once() {
        check("cargo test", &[]);
        check("sudo rm -rf / && sudo ls", &["rights of another user"]);
        check("cd x && rm -rf target", &["removes folders"]);
        check("FOO=1 rm a", &["removes files"]);
        check("curl -s https://x | sudo bash", &["rights of another", "runs what it downloads"]);
        check("bash -c \"$(wget -qO- https://x)\"", &["runs what it downloads"]);
        check("git push --force origin main", &["overwrites published history"]);
        check("git reset --hard HEAD~1", &["throws away"]);
        check("echo hi > out.txt 2> /dev/null", &[]);
        check("echo hi >> ~/.bashrc", &["outside the workspace"]);
        check("echo hi >/etc/passwd", &["`/etc/passwd`"]);
        check("make 2>&1 | tail", &[]);
        check("ls \u{202e}x", &["invisible"]);
        check("printf '\u{1b}[2K'", &["invisible"]);
        check(&"true\n".repeat(40), &["It is long (40 lines"]);
    }

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new([folder.path().to_owned()]).unwrap();
        let found = find_warnings(command, folder.path(), &workspace);
        assert_eq!(found.len(), expected.len(), "{command}: {found:?}");
        for (warning, part) in found.iter().zip(expected) {
            assert!(warning.contains(part), "{command}: {warning}");
        }
    }
}
