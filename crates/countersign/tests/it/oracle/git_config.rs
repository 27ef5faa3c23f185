//! Hostile configurations of git: keys that run programs or read files, in all the ways to write them.

use fastrand::Rng;

use super::choice::{happens, pick, pick_one};

const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n";

/// Section, subsection and key of what makes git run a program.
const PROGRAM_KEYS: &[(&str, &str, &str)] = &[
    ("core", "", "fsmonitor"),
    ("core", "", "pager"),
    ("core", "", "sshCommand"),
    ("core", "", "editor"),
    ("core", "", "askPass"),
    ("core", "", "gitProxy"),
    ("core", "", "alternateRefsCommand"),
    ("core", "", "hooksPath"),
    ("diff", "", "external"),
    ("diff", "evil", "textconv"),
    ("diff", "evil", "command"),
    ("filter", "evil", "clean"),
    ("filter", "evil", "smudge"),
    ("filter", "evil", "process"),
    ("merge", "evil", "driver"),
    ("gpg", "", "program"),
    ("gpg", "ssh", "program"),
    ("credential", "", "helper"),
    ("interactive", "", "diffFilter"),
    ("pager", "", "log"),
    ("pager", "", "status"),
    ("alias", "", "status"),
    ("trailer", "x", "command"),
    ("remote", "origin", "uploadpack"),
    ("remote", "origin", "vcs"),
];

/// Keys by which git reads a file that it is told of.
const FILE_KEYS: &[(&str, &str, &str)] = &[
    ("core", "", "attributesFile"),
    ("core", "", "excludesFile"),
    ("core", "", "worktree"),
    ("mailmap", "", "file"),
    ("blame", "", "ignoreRevsFile"),
    ("include", "", "path"),
    ("includeIf", "gitdir:**", "path"),
    ("includeIf", "onbranch:main", "path"),
    ("core", "", "gitDir"),
];

/// Returns a configuration with one to three such keys.
pub(super) fn random_config(rng: &mut Rng) -> String {
    let mut config = PLAIN.to_owned();
    let style = random_style(rng);
    // A remote that is asked for what is missing, by the program that is named for it.
    if happens(rng, 25) {
        config += &write_entry(rng, style, ("remote", "origin", "promisor"), "true");
        config += &write_entry(rng, style, ("remote", "origin", "url"), ".");
        let program = pick(rng, &["./x", "./x;", "bin/evil"]);
        config += &write_entry(rng, style, ("remote", "origin", "uploadpack"), program);
        return config;
    }
    for _ in 0..rng.usize(1..=2) {
        if happens(rng, 70) {
            let value = pick(rng, &["./x", "./x;", "bin/evil", "./x %s", "!./x", "bin"]);
            let key = *pick_one(rng, PROGRAM_KEYS);
            config += &write_entry(rng, style, key, value);
        } else {
            let value = pick(
                rng,
                &[
                    "{{WORLD}}/home/.ssh/id_rsa",
                    "../../outside/marker",
                    "~/.bashrc",
                    "../more.config",
                    "..",
                ],
            );
            let key = *pick_one(rng, FILE_KEYS);
            config += &write_entry(rng, style, key, value);
        }
    }
    config
}

/// Returns attributes that use what the configuration names.
pub(super) fn random_attributes(rng: &mut Rng) -> String {
    let pattern = pick(rng, &["*", "*.md", "*.rs", "**"]);
    let uses = pick(
        rng,
        &["diff=evil", "filter=evil", "diff=evil filter=evil", "merge=evil", "export-subst"],
    );
    format!("{pattern} {uses}\n")
}

/// How the parts of an entry are put together, the same way in a whole file.
#[derive(Clone, Copy)]
struct EntryStyle {
    between: &'static str,
    after: &'static str,
}

fn random_style(rng: &mut Rng) -> EntryStyle {
    let between = pick(rng, &["\n\t", " ", " ", "", "\r\n", "\n# ]\n", "\n\t; [core]\n\t"]);
    let after = pick(rng, &["", "", " #]", " #]", " ;]", "; #]", " # [", " # x", " ]"]);
    EntryStyle { between, after }
}

/// Writes a key in one of the ways in which git reads it.
fn write_entry(
    rng: &mut Rng,
    style: EntryStyle,
    (section, subsection, key): (&str, &str, &str),
    value: &str,
) -> String {
    let section = if happens(rng, 10) { section.to_uppercase() } else { section.to_owned() };
    let header = match (subsection.is_empty(), rng.u8(..10)) {
        (true, 0) => format!("[ {section} ]"),
        (true, _) => format!("[{section}]"),
        (false, 0) => format!("[{section}.{subsection}]"),
        (false, 1) => format!("[{section} \t\"{subsection}\"]"),
        (false, _) => format!("[{section} \"{subsection}\"]"),
    };
    let value = match rng.u8(..10) {
        0 => format!("\"{value}\""),
        1 => format!("\\\n{value}"),
        _ => value.to_owned(),
    };
    let EntryStyle { between, after } = style;
    let equals = pick(rng, &[" = ", "=", "\t=\t"]);
    format!("{header}{between}{key}{equals}{value}{after}\n")
}
