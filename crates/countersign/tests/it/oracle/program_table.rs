//! The programs that are known to only read, with their options: from the table's source, and from what
//! each installed program says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::process::{PATH, clean_command, run_to_end};
use super::settings::repository;

/// The folder in which the table's entries are written, read as text.
const TABLE: &str = "crates/countersign-core/src/shell/table";

/// Programs that are tried whatever the table says.
const ALWAYS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "grep", "rg", "diff", "find", "sort", "uniq", "cut", "tree",
    "file", "stat", "du", "xxd", "hexdump", "od", "column", "rev", "tee", "zcat", "gzip", "unzip",
    "tar", "sed", "awk", "jq", "cp", "ln", "mv", "tac", "nl", "base64", "md5sum", "cmp", "comm",
    "join", "paste", "strings", "readlink", "realpath", "xargs", "less", "more", "date", "env",
    "printenv", "fd", "fdfind", "split", "touch", "bat",
];

/// Programs that start another one, wait, or ask the machine: they have nothing to do with files.
const LEFT_OUT: &[&str] =
    &["sleep", "yes", "free", "uptime", "w", "who", "ps", "top", "bash", "cargo", "npm"];

/// A program and the options that it may know.
#[derive(Clone, Debug)]
pub(super) struct ProgramOptions {
    pub(super) name: String,
    /// Those of the table.
    pub(super) listed: Vec<String>,
    /// Those that the program itself tells of.
    pub(super) told: Vec<String>,
}

impl ProgramOptions {
    fn new(name: String, listed: BTreeSet<String>, told: BTreeSet<String>) -> Self {
        Self { name, listed: listed.into_iter().collect(), told: told.into_iter().collect() }
    }
}

/// The table: programs, and the subcommands of git.
pub(super) struct ProgramTable {
    pub(super) programs: Vec<ProgramOptions>,
    /// Those among them that have to do with files.
    pub(super) readers: Vec<ProgramOptions>,
    pub(super) git_commands: Vec<ProgramOptions>,
}

impl ProgramTable {
    /// Reads the table's source and asks every program of it that is installed.
    pub(super) fn read() -> Self {
        let mut programs = read_entries("programs.rs");
        for name in ALWAYS {
            programs.entry((*name).to_owned()).or_default();
        }
        programs.retain(|name, _| is_installed(name) && !LEFT_OUT.contains(&name.as_str()));
        let programs = programs.into_iter().map(|(name, listed)| {
            let told = ask_for_options(&[&name, "--help"]);
            ProgramOptions::new(name, listed, told)
        });
        let git_commands = read_entries("git.rs").into_iter().map(|(name, listed)| {
            let words: Vec<_> = ["git"].into_iter().chain(name.split(' ')).chain(["-h"]).collect();
            let told = ask_for_options(&words);
            ProgramOptions::new(name, listed, told)
        });
        let mut git_commands: Vec<_> = git_commands.collect();
        if git_commands.is_empty() {
            let names = [
                "status", "log", "diff", "show", "branch", "grep", "ls-files", "blame", "cat-file",
            ];
            let bare = names
                .map(|name| ProgramOptions::new(name.to_owned(), BTreeSet::new(), BTreeSet::new()));
            git_commands.extend(bare);
        }
        let programs: Vec<_> = programs.collect();
        let readers = programs.iter().filter(|it| ALWAYS.contains(&it.name.as_str()));
        Self { readers: readers.cloned().collect(), programs, git_commands }
    }
}

/// Returns the names and options of the entries in one file, as far as they are plain text there.
fn read_entries(file: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut entries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let text = fs::read_to_string(repository().join(TABLE).join(file)).unwrap_or_default();
    for entry in text.split("entry(&[").skip(1) {
        let Some((names, rest)) = entry.split_once(']') else { continue };
        let options = rest.split('"').nth(1).unwrap_or_default();
        let options = options.split_whitespace().filter(|it| it.starts_with('-'));
        let options: BTreeSet<_> = options.map(str::to_owned).collect();
        for name in names.split('"').skip(1).step_by(2) {
            entries.entry(name.to_owned()).or_default().extend(options.clone());
        }
    }
    entries
}

/// Returns the options in a program's own help: `-x`, `--long`, `--long=` where a value follows.
fn ask_for_options(words: &[&str]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = clean_command("timeout");
    command.args(["--signal=KILL", "5"]).args(words).current_dir(folder.path());
    let (_, out, err) = run_to_end(&mut command, "");
    let mut options = BTreeSet::new();
    for word in format!("{out}\n{err}").split([' ', ',', '\n', '\t', '|', '[', ']']) {
        let (name, value) = word.split_once('=').map_or((word, ""), |(name, _)| (name, "=text"));
        let letters = name.trim_start_matches('-');
        let dashes = name.len() - letters.len();
        let plain = letters.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
        if plain && ((dashes == 1 && letters.len() == 1) || (dashes == 2 && letters.len() > 1)) {
            options.insert(format!("{name}{value}"));
        }
    }
    options
}

fn is_installed(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_alphabetic)
        && PATH.split(':').any(|folder| std::path::Path::new(folder).join(name).is_file())
}
