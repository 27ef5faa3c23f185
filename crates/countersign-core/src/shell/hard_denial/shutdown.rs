//! Taking the machine or all that runs on it down.

use super::super::{CommandWord, HardDenial};
use super::deny;

/// Units and verbs of `systemctl` after which the machine does not answer.
const DOWN: &[&str] = &[
    "poweroff",
    "reboot",
    "halt",
    "kexec",
    "soft-reboot",
    "suspend",
    "hibernate",
    "hybrid-sleep",
    "suspend-then-hibernate",
    "emergency",
    "rescue",
    "exit",
    "isolate",
];

/// Patterns that every process fits.
const EVERYONE: &[&str] = &["", ".", ".*", "^", "$", "^.", ".+", "[a-z]", "[a-z]*", "\\w"];

/// Returns the hard denial of a command that takes the machine down, or everything that runs on it.
///
/// Only for commands that were read as such: as mere tokens these words are everyday.
pub(in super::super) fn check_shutdown(name: &str, args: &[CommandWord]) -> Option<HardDenial> {
    let name = name.to_lowercase();
    let words: Vec<_> = args.iter().map(|word| word.effective_text().trim_matches('"')).collect();
    let asks = words.iter().any(|word| matches!(*word, "--help" | "--version" | "-c" | "--show"));
    let down = match name.as_str() {
        "shutdown" | "reboot" | "halt" | "poweroff" => !asks,
        "init" | "telinit" => words.iter().any(|word| matches!(*word, "0" | "1" | "6" | "s" | "S")),
        "systemctl" | "loginctl" => {
            let verb = words.iter().find(|word| !word.starts_with('-'));
            verb.is_some_and(|verb| DOWN.contains(verb))
        }
        _ => false,
    };
    let everyone = match name.as_str() {
        "killall5" => true,
        "kill" => kills_all(&words),
        "pkill" | "killall" => names_all(&words),
        _ => false,
    };
    let why = match (down, everyone) {
        (true, _) => "it takes the machine down",
        (_, true) => "it ends everything that runs",
        _ => return None,
    };
    Some(deny(why))
}

/// `kill -9 -1`: the target `-1` is every process, `1` the first of them.
fn kills_all(words: &[&str]) -> bool {
    let mut rest = words.iter().copied().peekable();
    match rest.peek() {
        Some(&("-s" | "-n" | "--signal")) => drop(rest.nth(1)),
        Some(&("-l" | "-L" | "--list")) => return false,
        Some(first) if first.starts_with('-') && words.len() > 1 => drop(rest.next()),
        _ => {}
    }
    rest.filter(|word| *word != "--").any(|target| matches!(target, "-1" | "1" | "0"))
}

/// Every process of a user, or every one whose name has a letter.
fn names_all(words: &[&str]) -> bool {
    let takes = |word: &str| {
        let long = ["--user", "--euid", "--uid", "--group", "--parent", "--terminal", "--signal"];
        long.contains(&word) || matches!(word, "-u" | "-U" | "-G" | "-g" | "-P" | "-t" | "-s")
    };
    let user = words.iter().any(|word| {
        matches!(*word, "-u" | "-U") || word.starts_with("--user") || word.starts_with("--euid")
    });
    let mut patterns = Vec::new();
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        if takes(word) {
            rest.next();
        } else if !word.starts_with('-') {
            patterns.push(word.trim_matches('\''));
        }
    }
    (user && patterns.is_empty()) || patterns.iter().any(|pattern| EVERYONE.contains(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_stays_up_and_its_processes_run() {
        for command in [
            "shutdown now",
            "reboot",
            "init 6",
            "systemctl --force reboot",
            "systemctl isolate x.target",
            "kill -9 -1",
            "kill -s KILL -1",
            "kill -- -1",
            "kill -9 1",
            "pkill -9 .",
            "pkill -u me",
            "killall -9 -r .*",
            "killall5",
        ] {
            assert!(is_denied(command), "{command}");
        }
        for command in [
            "shutdown -c",
            "reboot --help",
            "systemctl status x",
            "systemctl restart nginx",
            "kill 123",
            "kill -1 123",
            "kill -9 -123",
            "kill -l",
            "kill %1",
            "pkill node",
            "pkill -u me node",
            "killall -9 node",
            "init",
            "loginctl list-sessions",
        ] {
            assert!(!is_denied(command), "{command}");
        }
    }

    fn is_denied(command: &str) -> bool {
        let words: Vec<_> = command.split(' ').map(CommandWord::from_literal).collect();
        check_shutdown(words[0].effective_text(), &words[1..]).is_some()
    }
}
