//! Edits: sequences of commands that copy, move, link and remove, for the mode that accepts edits.

use fastrand::Rng;

use super::choice::{happens, pick};

const NAMES: &[&str] = &[
    "sub",
    "src",
    "docs",
    "payload.d",
    "gh",
    "cfg",
    "w",
    "d",
    ".github",
    "new",
    "ed",
    "README.md",
    "sub/l",
    "l",
    ".",
    "sub/f",
    "src/a.rs",
    "d/.",
    "pkg",
    "payload.d/.",
    "*",
    "-RL",
    "sub/",
    "src/",
    "./d",
    "d/*",
    "sub/*",
    "new/l",
    "new/sub",
    "src/sub",
    "payload.d/*",
    "docs/link",
    "x",
];

const TARGETS: &[&str] = &[
    "new",
    ".github",
    ".config",
    "gradle",
    ".",
    "sub",
    "src",
    "src/",
    "new/",
    "sub/.",
    ".vscode",
    ".git",
    "docs",
    "l",
    "../l",
    "gh",
    "moved",
    "./new",
    "sub/new",
    "..",
    "new/l/",
    "../new",
    "sub/l",
    ".husky",
    "payload.d",
    "-RL",
    "pkg",
];

/// Returns one to three edits, perhaps with a look at what came of them.
pub(super) fn random_edits(rng: &mut Rng) -> String {
    let mut parts = Vec::new();
    if happens(rng, 15) {
        parts.push(format!("cd {}", pick(rng, &["sub", "src", "docs"])));
    }
    for _ in 0..rng.usize(1..=2) {
        parts.push(random_edit(rng));
    }
    if happens(rng, 50) {
        parts.push(random_look(rng));
    }
    parts.join(pick(rng, &[" && ", "; "]))
}

fn random_edit(rng: &mut Rng) -> String {
    if happens(rng, 15) {
        return random_merge(rng);
    }
    let (from, to) = (pick(rng, NAMES), pick(rng, TARGETS));
    match rng.u8(..14) {
        0..4 => {
            let options = pick(
                rng,
                &[
                    "-r",
                    "-rT",
                    "-a",
                    "-R",
                    "-r",
                    "-rL",
                    "-rP",
                    "-rn",
                    "-ru",
                    "-rH",
                    "-aT",
                    "--recursive",
                ],
            );
            if happens(rng, 10) {
                return format!("cp {options} -t {to} {from}");
            }
            format!("cp {options} {from} {to}")
        }
        4..7 => {
            let options = pick(rng, &["", "", "-T ", "-n ", "-f ", "-v "]);
            if happens(rng, 10) {
                return format!("mv -t {to} {from}");
            }
            format!("mv {options}{from} {to}")
        }
        7 => format!("ln {} {from} {to}", pick(rng, &["-s", "-sf", "-sT", "-sfn", "-sr", ""])),
        8 => format!(
            "ln -s {} {to}",
            pick(rng, &["..", "../outside", "../src", ".", "../../outside"])
        ),
        9 => format!(
            "rm -rf {}",
            pick(rng, &["new/l/", "new", "sub/l/", "sub", "gh", "d", "l/", "new/*", "src/sub/l/"])
        ),
        10 => format!(
            "mkdir -p {}",
            pick(rng, &["new", "new/l", ".github/x", "src/new", "new/.git/hooks", "-p"])
        ),
        11 => format!(
            "touch {}",
            pick(rng, &["-- -RL", "new", "new/l/pwned", "src/l", "-- -r", "./-L", "new/README.md"])
        ),
        12 => format!(
            "echo a > {}",
            pick(rng, &["new", "new/README.md", "src/new", "new/l/marker", "./-RL", "l"])
        ),
        _ => format!("tee {} < README.md", pick(rng, &["new", "new/README.md", "-", "src/a.rs"])),
    }
}

/// A tree is copied into one that is there already, link by link.
fn random_merge(rng: &mut Rng) -> String {
    let options = pick(rng, &["-r", "-a", "-R", "-rT", "-aT", "-rf", "-ru"]);
    let from = pick(rng, &["d/.", "d/*", "./d", "d", "payload.d/.", "src/.", "."]);
    let to = pick(rng, &["sub", "sub/.", "sub/", "./sub", "docs", "l"]);
    format!("cp {options} {from} {to}")
}

fn random_look(rng: &mut Rng) -> String {
    let name = pick(
        rng,
        &[
            "new",
            "src",
            "new/README.md",
            "new/l/marker",
            "*",
            ".",
            "src/sub",
            "new/l",
            "sub",
            "moved/README.md",
            "src/README.md",
        ],
    );
    let program = pick(
        rng,
        &[
            "cat",
            "ls",
            "ls -R",
            "grep -rn TOKEN",
            "head -1",
            "ls -l",
            "grep -r TOKEN",
            "wc -l",
            "rm -rf",
        ],
    );
    format!("{program} {name}")
}
