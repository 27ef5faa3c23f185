//! Mutations: a command of a corpus, changed a little.

use fastrand::Rng;

use super::choice::{happens, pick, pick_one};
use super::payload::{random_payload, random_program, random_read};
use super::tokens::split_tokens;

const INSERTED: &[&str] = &[
    "(",
    ")",
    "((",
    "))",
    "$(",
    "`",
    "'",
    "\"",
    "\\",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "{",
    "}",
    ">",
    "<",
    ">>",
    "<<<",
    "2>&1",
    "--",
    "-",
    "$x",
    "*",
    "?",
    "~",
    "..",
    "[[",
    "]]",
    "$'",
    "#",
    "!",
    "=",
    "x=1",
    "command",
    "builtin",
    "env",
    "-r",
    "-L",
    "-n",
    "-f",
    "-o",
    ".env",
    "../outside/marker",
    "./x",
    "pwned",
    "sub",
    "l",
    "time",
    "eval",
    "-c",
    "\\\n",
    "{a,b}",
    "$((1))",
];

const OPERATORS: &[&str] = &[";", "&&", "||", "|", "&", "\n", "|&", ">", ">>", "<"];

const PROGRAMS: &[&str] = &[
    "cat", "ls", "grep", "rg", "head", "tail", "diff", "find", "sort", "cp", "mv", "tee", "xxd",
    "column", "git", "sed", "awk", "tar", "zcat", "sh", "bash", "echo", "printf", "test", "read",
    "cd", "rm", "touch", "ln", "xargs", "env", "dash",
];

/// Returns a command with one to three changes.
pub(super) fn mutate(rng: &mut Rng, command: &str, other: &str) -> String {
    let mut tokens = split_tokens(command);
    for _ in 0..rng.usize(1..=3) {
        change(rng, &mut tokens, other);
    }
    let text: String = tokens.concat();
    if happens(rng, 5) { format!("{text}; {}", random_payload(rng)) } else { text }
}

fn change(rng: &mut Rng, tokens: &mut Vec<String>, other: &str) {
    if tokens.is_empty() {
        tokens.push(random_read(rng).to_owned());
    }
    let at = rng.usize(..tokens.len());
    match rng.u8(..11) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 | 3 => tokens.insert(at, pick(rng, INSERTED).to_owned()),
        4 => tokens.insert(at, format!(" {} ", pick(rng, INSERTED))),
        5 => {
            let token = tokens[at].replace(['\'', '"', '\\'], "");
            tokens[at] = match rng.u8(..4) {
                0 => token,
                1 => format!("'{token}'"),
                2 => format!("\"{token}\""),
                _ => format!("$'{token}'"),
            };
        }
        6 => {
            let places: Vec<_> =
                (0..tokens.len()).filter(|it| OPERATORS.contains(&tokens[*it].as_str())).collect();
            if places.is_empty() {
                tokens.push(format!("{} {}", pick(rng, OPERATORS), random_read(rng)));
            } else {
                tokens[*pick_one(rng, &places)] = String::from(pick(rng, OPERATORS));
            }
        }
        7 => {
            let places: Vec<_> =
                (0..tokens.len()).filter(|it| PROGRAMS.contains(&tokens[*it].as_str())).collect();
            let at = if places.is_empty() { at } else { *pick_one(rng, &places) };
            tokens[at] = String::from(pick(rng, PROGRAMS));
        }
        8 => {
            let spliced = split_tokens(other);
            let from = rng.usize(..=spliced.len());
            let to = rng.usize(from..=spliced.len());
            tokens.splice(at..at, spliced[from..to].iter().cloned());
        }
        9 => tokens[at] = String::from(random_program(rng)),
        _ => {
            let end = rng.usize(at..=tokens.len());
            let piece: String = tokens[at..end].concat();
            let wrapped = match rng.u8(..5) {
                0 => format!("( {piece} )"),
                1 => format!("$({piece})"),
                2 => format!("{{ {piece}; }}"),
                3 => format!("(({piece}))"),
                _ => format!("sh -c '{}'", piece.replace('\'', r"'\''")),
            };
            tokens.splice(at..end, [wrapped]);
        }
    }
}
