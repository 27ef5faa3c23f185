//! The settings under which we start git's reading commands ourselves: a first fence, before the audit.
//!
//! They win over every file of configuration, so what a repository's config names is not started: a
//! file system monitor, hooks, a pager, helpers for passwords, transports of a remote that is asked for
//! a missing object. Programs that attributes choose have options against them, but for filters: only
//! the audit keeps out a filter of the repository.

use countersign_core::shell::{CanonicalAssignment, CanonicalCommand, CanonicalWord};

/// Settings that no config overrides.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.alternateRefsCommand", "false"),
    // An empty one ends the list of those before it.
    ("credential.helper", ""),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    // A summary is made by a shell script, and a search in submodules reads what nobody looked at.
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Variables that git asks before its settings.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Against the drivers that attributes choose for a kind of file.
const NO_DRIVERS: &[&str] = &["--no-ext-diff", "--no-textconv"];

/// Returns the variables to start a reading git with, beside those it gets anyway.
///
/// Also harmless for every other program: no one but git reads them.
pub fn reader_environment() -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let mut variables: Vec<_> = VARIABLES.iter().map(owned).collect();
    variables.push(("GIT_CONFIG_COUNT".to_owned(), SETTINGS.len().to_string()));
    for (number, (key, value)) in SETTINGS.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), (*key).to_owned()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), (*value).to_owned()));
    }
    variables
}

/// Returns the arguments of a reading git (without `git` itself) with those options added that keep it
/// from starting the drivers which attributes choose.
///
/// Arguments that are not understood are returned as they are.
pub fn with_reader_arguments(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    if let Some((at, options)) = reader_options(&args) {
        args.splice(at..at, options.iter().map(|option| (*option).to_owned()));
    }
    args
}

/// Adds those variables and options to a command of the canonical form, if it is a reading git.
pub(crate) fn harden(command: &mut CanonicalCommand) {
    let literal = |word: &CanonicalWord| word.as_literal().map(str::to_owned);
    let Some((name, arguments)) = command.words.split_first() else { return };
    let arguments: Option<Vec<_>> = arguments.iter().map(literal).collect();
    if let (Some("git"), Some(arguments)) = (name.as_literal(), arguments) {
        let words = with_reader_arguments(&arguments).into_iter().map(CanonicalWord::literal);
        command.words = [name.clone()].into_iter().chain(words).collect();
        let given = reader_environment().into_iter();
        let given = given.map(|(name, value)| CanonicalAssignment {
            name,
            value: CanonicalWord::literal(value),
        });
        command.assignments.extend(given);
    }
}

/// Returns which options a command needs, and where they go: behind its name.
fn reader_options(args: &[String]) -> Option<(usize, &'static [&'static str])> {
    let mut at = 0;
    loop {
        match args.get(at)?.as_str() {
            "--no-pager" => at += 1,
            "-C" => at += 2,
            _ => break,
        }
    }
    let word = |at: usize| args.get(at).map(String::as_str);
    match (word(at)?, word(at + 1)) {
        // With any option it shows the difference itself, not a summary, which runs no driver.
        ("stash", Some("show")) => {
            let has_option = args.iter().skip(at + 2).any(|word| word.starts_with('-'));
            has_option.then_some((at + 2, NO_DRIVERS))
        }
        ("stash", Some("list")) | ("reflog", Some("show")) => Some((at + 2, NO_DRIVERS)),
        ("diff" | "log" | "show" | "whatchanged" | "diff-tree" | "reflog", _) => {
            Some((at + 1, NO_DRIVERS))
        }
        ("grep" | "blame", _) => Some((at + 1, &["--no-textconv"])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_behind_the_command() {
        check("diff HEAD -- a", "diff --no-ext-diff --no-textconv HEAD -- a");
        check("-C src --no-pager log -p", "-C src --no-pager log --no-ext-diff --no-textconv -p");
        check("stash show -p", "stash show --no-ext-diff --no-textconv -p");
        check("stash show", "stash show");
        check("stash list", "stash list --no-ext-diff --no-textconv");
        check("reflog", "reflog --no-ext-diff --no-textconv");
        check("grep x", "grep --no-textconv x");
        check("status -s", "status -s");
        check("-C diff", "-C diff");
        check("", "");
    }

    #[test]
    fn every_setting_is_numbered() {
        let variables = reader_environment();
        let count = variables.iter().find(|(name, _)| name == "GIT_CONFIG_COUNT").unwrap();
        let keys = variables.iter().filter(|(name, _)| name.starts_with("GIT_CONFIG_KEY_"));
        assert_eq!(count.1, keys.count().to_string());
    }

    #[track_caller]
    fn check(args: &str, expected: &str) {
        let args: Vec<_> = args.split_whitespace().map(str::to_owned).collect();
        assert_eq!(with_reader_arguments(&args).join(" "), expected);
    }
}
