//! Calls of the programs that are known to only read: options abbreviated, glued, combined, behind
//! operands; on files, folders and links.

use fastrand::Rng;

use super::choice::{happens, pick, pick_one, quote};
use super::program_table::{ProgramOptions, ProgramTable};

const OPERANDS: &[&str] = &[
    "README.md",
    "src",
    ".",
    "sub",
    "docs",
    "-",
    "foo",
    "*",
    "sub/*",
    "src/a.rs",
    "names9.txt",
    "table.csv",
    "l",
    "sub/l",
    "data.json",
    "a=~/.bashrc",
    "./-",
    "sub/README.md",
    "docs/a",
    "..",
    "src/..",
    "./*",
    "-- -",
    "tests",
    "foo.gz",
    "foo.zip",
    "./foo",
    "-p",
    "-RL",
    "Cargo.toml",
    "sub/f",
    "docs/link",
    ".env*",
    "x=~/notes.txt",
    "sub/",
    "src/",
    "nowhere",
    "sub/nowhere",
];

const VALUES: &[&str] = &[
    "1",
    "3",
    "''",
    ".env",
    "'!.env'",
    "'*'",
    "TOKEN",
    "README.md",
    "'.e*'",
    "-",
    "always",
    "x",
    "src",
    "'*.md'",
    ".ENV",
    "0",
    "never",
    "'**/.env'",
    ".",
    "n.txt",
];

const PATTERNS: &[&str] = &["TOKEN", "''", ".", "a", "USER", "'^'"];

/// Returns a call of some program of the table.
pub(super) fn random_program_call(rng: &mut Rng, table: &ProgramTable) -> String {
    let programs = if happens(rng, 70) { &table.readers } else { &table.programs };
    let program = pick_one(rng, programs);
    let mut words = vec![program.name.clone()];
    let lead = leading_operand(rng, &program.name);
    let operands: Vec<_> = (0..rng.usize(..=2)).map(|_| pick(rng, OPERANDS).to_owned()).collect();
    let options = random_options(rng, program);
    if happens(rng, 75) {
        words.extend(options);
        words.extend(lead);
        if happens(rng, 10) {
            words.push("--".to_owned());
        }
        words.extend(operands);
    } else {
        words.extend(lead);
        words.extend(operands);
        words.extend(options);
    }
    let call = words.join(" ");
    match rng.u8(..14) {
        0 => format!("cat README.md | {call}"),
        1 => format!("{call} < README.md"),
        2 => format!("echo README.md | xargs {call}"),
        3 => format!("{call} | head -3"),
        4 => format!("cd sub && {call}"),
        5 => format!("find . -name '*.md' -exec {call} {{}} +"),
        6 | 7 => hand_over_names(rng, &call),
        _ => call,
    }
}

/// Returns a pipe by which a call gets names of files.
fn hand_over_names(rng: &mut Rng, call: &str) -> String {
    const FINDERS: &[&str] = &[
        "find",
        "find -type f",
        "find -print0",
        "find -name '*.md' -o -name '.e*'",
        "find -maxdepth 2 ! -name '*.rs'",
        "grep -rl TOKEN",
        "grep -rlZ .",
        "grep -L nothing",
        "rg -l a",
        "rg -0 -l --hidden a",
        "ls",
        "git ls-files",
    ];
    const TAKERS: &[&str] =
        &["xargs", "xargs -0", "xargs -r", "xargs -n1", "xargs -0 -I{}", "xargs -I {}"];
    let (finder, taker) = (pick(rng, FINDERS), pick(rng, TAKERS));
    let (program, tests) = finder.split_once(" -").map_or((finder, ""), |(name, _)| {
        if name == "find" { (name, &finder[name.len()..]) } else { (finder, "") }
    });
    let start = if happens(rng, 80) { pick(rng, OPERANDS) } else { "" };
    let mark = if taker.contains("-I") { " {}" } else { "" };
    format!("{program} {start}{tests} | {taker} {call}{mark}")
}

/// Returns a call of some reading command of git.
pub(super) fn random_git_call(rng: &mut Rng, table: &ProgramTable) -> String {
    const REFS: &[&str] = &[
        "HEAD",
        "main",
        "v1",
        "HEAD~0",
        "other",
        "main..HEAD",
        "HEAD:README.md",
        "HEAD:src",
        "HEAD^{tree}",
        ":README.md",
        "ce013625030ba8dba906f756967f9e9ca394464a",
        "stash@{0}",
        "--all",
        "@",
    ];
    const PATHS: &[&str] = &[
        "README.md",
        "src",
        ".",
        "-- README.md",
        "-- '.e*'",
        "-- '*'",
        "-- ':/'",
        "-- ':(glob)**'",
        "-- src",
        "sub",
        "docs",
        "-- ':!README.md'",
        "src/a.rs",
        "-- '.en[v]'",
        "src sub",
        "docs sub",
        ". sub",
        "README.md sub",
        "docs/a sub/f",
        "l src",
        "sub/l docs",
        "src docs",
        "sub docs",
        "docs src",
        "sub src",
        "l docs",
        "docs/link README.md",
        "docs/link src/a.rs",
    ];
    let command = if happens(rng, 45) {
        let names =
            ["status", "diff", "diff", "diff", "log", "show", "ls-files", "grep", "cat-file"];
        let name = pick(rng, &names);
        table.git_commands.iter().find(|it| it.name == name)
    } else {
        None
    };
    let command = command.unwrap_or_else(|| pick_one(rng, &table.git_commands));
    let mut words = vec!["git".to_owned(), command.name.clone()];
    if happens(rng, 5) {
        words.insert(
            1,
            pick(rng, &["--no-pager", "-C .", "-C src", "-c core.pager=cat", "-P"]).to_owned(),
        );
    }
    if happens(rng, 55) {
        words.extend(random_options(rng, command));
    }
    match command.name.as_str() {
        "grep" => words.push(pick(rng, PATTERNS).to_owned()),
        "cat-file" => words.push(pick(rng, &["-p", "-t", "-s", "-e"]).to_owned()),
        _ => {}
    }
    if happens(rng, 40) || command.name == "cat-file" {
        words.push(pick(rng, REFS).to_owned());
    }
    if happens(rng, 40) {
        words.push(pick(rng, PATHS).to_owned());
    }
    words.join(" ")
}

/// Returns what some programs need before their files.
fn leading_operand(rng: &mut Rng, program: &str) -> Option<String> {
    let operand = match program {
        "grep" | "egrep" | "fgrep" | "rg" | "zgrep" => pick(rng, PATTERNS),
        "sed" | "gsed" => pick(rng, &["p", "-n 1p", "'s/a/b/'", "'$p'", "-e p"]),
        "awk" | "gawk" | "mawk" | "nawk" => {
            pick(rng, &["1", "'{print $1}'", "'END{print NR}'", "'{print FILENAME}'"])
        }
        "jq" => pick(rng, &[".", "keys", "-R ."]),
        "tr" => "a b",
        "fd" | "fdfind" => pick(rng, &[".", "env", "''"]),
        "tar" => pick(rng, &["-tf", "tf", "-tzf", "--list -f"]),
        "unzip" | "gzip" | "xz" | "zstd" => "-l",
        _ => return None,
    };
    happens(rng, 85).then(|| operand.to_owned())
}

fn random_options(rng: &mut Rng, program: &ProgramOptions) -> Vec<String> {
    let counts = [0, 0, 1, 1, 1, 2, 2, 3];
    let count = *pick_one(rng, &counts);
    let mut written = Vec::new();
    for _ in 0..count {
        let known = if happens(rng, 80) { &program.listed } else { &program.told };
        if !known.is_empty() {
            let option = pick_one(rng, known).clone();
            written.push(write_option(rng, &option));
        }
    }
    // Short ones, glued into one word.
    let shorts: Vec<_> = program.listed.iter().filter(|it| it.len() == 2).collect();
    if shorts.len() > 1 && happens(rng, 25) {
        let letters: String = (0..rng.usize(2..=3)).map(|_| &pick_one(rng, &shorts)[1..]).collect();
        written.push(format!("-{letters}"));
    }
    written
}

fn write_option(rng: &mut Rng, option: &str) -> String {
    let (name, kind) =
        option.split_once('=').map_or((option, None), |(name, kind)| (name, Some(kind)));
    let optional = name.ends_with('[');
    let mut name = name.trim_end_matches('[').replace('#', &rng.u8(1..9).to_string());
    if name.starts_with("--") && name.len() > 5 && happens(rng, 8) {
        name.truncate(name.len() - rng.usize(1..name.len() - 3));
    }
    let Some(kind) = kind else { return name };
    let kind = kind.trim_end_matches(']');
    let value = match kind {
        "number" => rng.u8(..4).to_string(),
        "format" => "%H".to_owned(),
        _ => pick(rng, VALUES).to_owned(),
    };
    let value = if value.contains('~') { quote(rng, &value) } else { value };
    match (optional, name.starts_with("--")) {
        (true, true) if happens(rng, 50) => name,
        (_, true) if happens(rng, 70) => format!("{name}={value}"),
        (_, false) if happens(rng, 50) => format!("{name}{value}"),
        _ => format!("{name} {value}"),
    }
}
