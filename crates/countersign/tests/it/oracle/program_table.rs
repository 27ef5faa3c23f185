//! The programs that are known to only read, with their options: from the files that describe them, and from
//! what each installed program says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::{Table, Value};

use super::process::{PATH, clean_command, run_to_end};
use super::settings::repository;

/// The folder of the files that describe programs.
const FILES: &str = "crates/countersign-core/programs";

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
    /// Reads the files and asks every program of them that is installed.
    pub(super) fn read() -> Self {
        let (mut programs, git_commands) = read_forms();
        for name in ALWAYS {
            programs.entry((*name).to_owned()).or_default();
        }
        programs.retain(|name, _| is_installed(name) && !LEFT_OUT.contains(&name.as_str()));
        let programs = programs.into_iter().map(|(name, listed)| {
            let told = ask_for_options(&[&name, "--help"]);
            ProgramOptions::new(name, listed, told)
        });
        let git_commands = git_commands.into_iter().map(|(name, listed)| {
            let words: Vec<_> = ["git"].into_iter().chain(name.split(' ')).chain(["-h"]).collect();
            let told = ask_for_options(&words);
            ProgramOptions::new(name, listed, told)
        });
        let programs: Vec<_> = programs.collect();
        let readers = programs.iter().filter(|it| ALWAYS.contains(&it.name.as_str()));
        Self { readers: readers.cloned().collect(), git_commands: git_commands.collect(), programs }
    }
}

type OptionsByName = BTreeMap<String, BTreeSet<String>>;

/// Returns the options of all forms: by program, and for git by its commands.
///
/// Forms of other programs' sub-commands are left out: those programs talk to a service.
fn read_forms() -> (OptionsByName, OptionsByName) {
    let (mut programs, mut git_commands) = (OptionsByName::new(), OptionsByName::new());
    for file in fs::read_dir(repository().join(FILES)).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let file: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let is_git = path.file_stem().is_some_and(|name| name == "git");
        for form in file.get("form").and_then(Value::as_array).into_iter().flatten() {
            let commands = texts(form.get("commands"));
            let names = match (is_git, commands.is_empty()) {
                (true, _) => commands,
                (false, true) => texts(form.get("programs").or(file.get("programs"))),
                (false, false) => continue,
            };
            let options = form.get("options").and_then(Value::as_str).unwrap_or_default();
            let options = expand_options(options, &file);
            let table = if is_git { &mut git_commands } else { &mut programs };
            for name in names {
                table.entry(name).or_default().extend(options.clone());
            }
        }
    }
    assert!(programs.len() > 80 && git_commands.len() > 25, "the files were not understood");
    assert!(git_commands["log"].len() > 100, "shared options were not understood");
    (programs, git_commands)
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.map(|it| it.as_str().unwrap().to_owned()).collect()
}

/// Returns single options; `@name` stands for those that the file lists under `[shared]`.
fn expand_options(options: &str, file: &Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in options.split_whitespace() {
        match word.strip_prefix('@') {
            Some(name) => {
                let shared = file["shared"][name].as_str().unwrap();
                found.extend(expand_options(shared, file));
            }
            None => drop(found.insert(word.to_owned())),
        }
    }
    found
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
