//! What the executor does itself: moving about, variables, and the simplest printing.

use super::program;
use super::shell::{BROKEN_PIPE, CanonicalShell, ScriptFlow};
use super::streams::{CommandStreams, display_folder, failure};

/// Names that are told to be a shell's own.
const BUILTINS: &[&str] = &[
    ":", "[", "cd", "command", "echo", "exit", "export", "false", "printf", "pwd", "read", "set",
    "test", "true", "type", "unset",
];

/// Runs a command that the executor has itself. None if it has not.
///
/// `splits` says that a line which is read is split at blanks; `IFS=` before `read` keeps it whole.
pub(super) fn run(
    shell: &mut CanonicalShell,
    name: &str,
    arguments: &[String],
    splits: bool,
    streams: &CommandStreams,
) -> Option<ScriptFlow> {
    let status = match (name, arguments) {
        (":" | "true", _) => 0,
        ("false", _) => 1,
        ("echo", arguments) if !takes_options(arguments) => {
            return Some(print(shell, &format!("{}\n", arguments.join(" ")), streams));
        }
        ("pwd", arguments) => {
            let physical = arguments.iter().any(|it| it == "-P");
            let real = if physical { shell.cwd.canonicalize().ok() } else { None };
            let text = format!("{}\n", display_folder(real.as_deref().unwrap_or(&shell.cwd)));
            return Some(print(shell, &text, streams));
        }
        ("cd", arguments) => change_folder(shell, arguments, streams),
        ("exit", arguments) => {
            let code = arguments.first().and_then(|code| code.parse::<i32>().ok());
            shell.status = code.map_or(shell.status, |code| code & 0xff);
            return Some(ScriptFlow::Exit);
        }
        ("export", arguments) => export(shell, arguments),
        ("unset", arguments) => {
            for name in arguments {
                shell.variables.remove(name);
                shell.exported.remove(name);
            }
            0
        }
        ("set", arguments) => set_options(shell, arguments),
        ("read", arguments) => read(shell, arguments, splits, streams),
        ("command", [_, name]) => return Some(tell_file(shell, name, streams)),
        ("type", arguments) => return Some(tell_kinds(shell, arguments, streams)),
        _ => return None,
    };
    shell.status = status;
    Some(ScriptFlow::Next)
}

/// Only a first word of the letters `n`, `e` and `E` is an option; a program stands in for those.
fn takes_options(arguments: &[String]) -> bool {
    let letters = arguments.first().and_then(|first| first.strip_prefix('-'));
    letters.is_some_and(|letters| !letters.is_empty() && letters.chars().all(|c| "neE".contains(c)))
}

fn print(shell: &mut CanonicalShell, text: &str, streams: &CommandStreams) -> ScriptFlow {
    match streams.print(text) {
        Ok(()) => {
            shell.status = 0;
            ScriptFlow::Next
        }
        // Nobody reads any more: a shell is ended by that.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            shell.status = BROKEN_PIPE;
            ScriptFlow::Exit
        }
        Err(error) => {
            streams.complain(&format!("write error: {error}"));
            shell.status = 1;
            ScriptFlow::Next
        }
    }
}

fn change_folder(
    shell: &mut CanonicalShell,
    arguments: &[String],
    streams: &CommandStreams,
) -> i32 {
    let home = shell.variables.get("HOME").cloned();
    let Some(folder) = arguments.first().cloned().or(home) else {
        streams.complain("cd: HOME not set");
        return 1;
    };
    let path = shell.path(&folder);
    match std::fs::read_dir(countersign_core::normalize_lexically(&path)) {
        Ok(_) => {
            shell.enter(&path);
            0
        }
        Err(error) => {
            streams.complain(&format!("cd: {}", failure(&folder, &error)));
            1
        }
    }
}

fn export(shell: &mut CanonicalShell, arguments: &[String]) -> i32 {
    for argument in arguments {
        let name = match argument.split_once('=') {
            Some((name, value)) => {
                shell.set(name, value.to_owned());
                name
            }
            None => argument,
        };
        shell.exported.insert(name.to_owned());
    }
    0
}

fn set_options(shell: &mut CanonicalShell, arguments: &[String]) -> i32 {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let on = word.starts_with('-');
        for letter in word.chars().skip(1) {
            let option = match letter {
                'e' => "errexit",
                'u' => "nounset",
                _ => words.next().map(String::as_str).unwrap_or_default(),
            };
            match option {
                "errexit" => shell.options.ends_on_failure = on,
                "nounset" => shell.options.needs_variables = on,
                "pipefail" => shell.options.fails_as_a_whole = on,
                _ => return 2,
            }
        }
    }
    0
}

/// `read -r name …`: the last variable gets what is left of the line.
fn read(
    shell: &mut CanonicalShell,
    arguments: &[String],
    splits: bool,
    streams: &CommandStreams,
) -> i32 {
    let (line, is_whole) = streams.read_line().unwrap_or_default();
    let status = i32::from(!is_whole);
    let names: Vec<_> = arguments.iter().filter(|it| !it.starts_with('-')).collect();
    if let (false, [name]) = (splits, names.as_slice()) {
        shell.set(name, line);
        return status;
    }
    let mut rest = line.trim_matches([' ', '\t']);
    for (number, name) in names.iter().enumerate() {
        let value = if number + 1 == names.len() {
            std::mem::take(&mut rest)
        } else {
            let (word, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
            rest = after.trim_start_matches([' ', '\t']);
            word
        };
        shell.set(name, value.to_owned());
    }
    status
}

/// `command -v name`
fn tell_file(shell: &mut CanonicalShell, name: &str, streams: &CommandStreams) -> ScriptFlow {
    if BUILTINS.contains(&name) {
        return print(shell, &format!("{name}\n"), streams);
    }
    match program::find(shell, name) {
        Ok(file) if file.exists() => print(shell, &format!("{}\n", display_folder(&file)), streams),
        _ => {
            shell.status = 1;
            ScriptFlow::Next
        }
    }
}

/// `type name …`
fn tell_kinds(
    shell: &mut CanonicalShell,
    names: &[String],
    streams: &CommandStreams,
) -> ScriptFlow {
    let mut status = 0;
    for name in names {
        let line = match program::find(shell, name) {
            _ if BUILTINS.contains(&name.as_str()) => format!("{name} is a shell builtin\n"),
            Ok(file) if file.exists() => format!("{name} is {}\n", display_folder(&file)),
            _ => {
                streams.complain(&format!("type: {name}: not found"));
                status = 1;
                continue;
            }
        };
        if print(shell, &line, streams) == ScriptFlow::Exit {
            return ScriptFlow::Exit;
        }
    }
    shell.status = status;
    ScriptFlow::Next
}
