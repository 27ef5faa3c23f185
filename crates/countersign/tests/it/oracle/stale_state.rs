//! Scripts whose last command depends on what an earlier one did to the shell.

use fastrand::Rng;

use super::choice::{happens, pick, pick_one};

const WRAPPERS: &[&str] = &[
    "",
    "",
    "command ",
    "builtin ",
    "command -p ",
    "command command ",
    "builtin builtin ",
    "time ",
    "time command ",
    "\\",
    "! ",
    "command builtin ",
    "time -p ",
    "{ ",
    "( ",
];

/// Returns a script that changes a variable or the folder and then goes by it.
pub(super) fn random_stale_state(rng: &mut Rng) -> String {
    match rng.u8(..8) {
        0..2 => random_folder_change(rng),
        2 => random_shift(rng),
        _ => random_variable(rng),
    }
}

/// A folder is left again in some way, and a path is then read from another place.
fn random_folder_change(rng: &mut Rng) -> String {
    let into = pick(rng, &["cd sub", "cd src", "cd docs", "pushd sub", "cd sub/a && cd .."]);
    let out = format!(
        "{}cd {}",
        random_wrapper(rng),
        pick(rng, &["..", "-", "\"$OLDPWD\"", "../.", "../src/.."])
    );
    let then = pick(rng, &[" && ", "; ", "\n"]);
    let read = pick(
        rng,
        &[
            "cat ../outside/marker",
            "find ../outside",
            "head -3 ../outside/marker",
            "ls ../outside",
            "grep -r TOKEN ../outside",
        ],
    );
    let out = close_group(&out);
    match rng.u8(..6) {
        0 => format!("{into}{then}for i in 1 2; do {out}; done{then}{read}"),
        1 => format!("f() {{ {out}; }}; {into}{then}f{then}{read}"),
        2 => format!("{into}{then}if true; then {out}; fi{then}{read}"),
        _ => format!("{into}{then}{out}{then}{read}"),
    }
}

/// A variable makes a harmless path of a forbidden one, until it is emptied.
fn random_variable(rng: &mut Rng) -> String {
    let name = pick(rng, &["d", "x", "f", "TERM"]);
    let (value, read) = match rng.u8(..5) {
        0 => (".example", format!("cat .env${name}")),
        1 => ("x", format!("cat ..${name}/home/.s${{{name}}}sh/id_r${{{name}}}sa")),
        2 => ("x", format!("ls ..${{{name}}}/outside")),
        _ => ("x", format!("cat ..${name}/outside/marker")),
    };
    let change = random_emptying(rng, name);
    let set = format!("{name}={value}");
    match rng.u8(..12) {
        0 => {
            let other = read.split_whitespace().nth(1).unwrap().to_owned();
            format!("{set}; {name}= e={other}; cat $e")
        }
        1 => format!("{set}; for i in $(seq {}); do {read}; {change}; done", rng.u8(2..4)),
        2 => format!(
            "{set}; for f in {}; do {read}; {change}; done",
            pick(rng, &["*", "src/*", "$(ls)", "{1..20}"])
        ),
        3 => {
            let words: Vec<_> = (1..=rng.usize(2..24)).map(|it| it.to_string()).collect();
            format!("{set}; for i in {}; do {read}; {change}; done", words.join(" "))
        }
        4 => format!("{set}; while read -r l; do {read}; {change}; done < names9.txt"),
        5 => format!("{set}; f() {{ {change}; }}; f; {read}"),
        6 => format!("{set}; if true; then {change}; fi; {read}"),
        7 => format!("{set}; case a in a) {change};; esac; {read}"),
        8 => format!("{set}; until {read}; do {change}; done"),
        9 => format!("{set}; {change} && {read}"),
        _ => format!("{set}; {change}; {read}"),
    }
}

/// A value wanders through several variables, one step per round.
fn random_shift(rng: &mut Rng) -> String {
    let names = ["a", "b", "c", "e", "g", "h"];
    let steps = rng.usize(2..=names.len());
    let names = &names[..steps];
    let mut set = Vec::new();
    for name in names {
        set.push(format!("{name}=x"));
    }
    let last = names[steps - 1];
    let mut body = vec![format!("cat ..${last}/outside/marker")];
    for pair in names.windows(2).rev() {
        body.push(format!("{}=${}", pair[1], pair[0]));
    }
    body.push(format!("{}=", names[0]));
    let head = pick(
        rng,
        &[
            "while read -r l",
            "for i in $(seq 9)",
            "for i in 1 2 3 4 5 6 7 8 9",
            "for f in *",
            "for ((i=0;i<9;i++))",
        ],
    );
    let tail = if head.starts_with("while") { " < names9.txt" } else { "" };
    format!("{}; {head}; do {}; done{tail}", set.join("; "), body.join("; "))
}

/// Returns a script in which a number becomes a text that runs a program where it is counted with.
pub(super) fn random_stale_number(rng: &mut Rng) -> String {
    let name = pick(rng, &["x", "n", "i"]);
    let wrapper = pick(
        rng,
        &["", "command ", "builtin ", "command -p ", "time command ", "builtin command "],
    );
    let code = "a[$(./x)]";
    let options = [
        format!("{name}='{code}'"),
        format!("{wrapper}read -r {name} < n.txt"),
        format!("{wrapper}export {name}='{code}'"),
        format!("{wrapper}declare {name}='{code}'"),
        format!("{wrapper}printf -v {name} '{code}'"),
        format!("{wrapper}eval {name}=\\'{code}\\'"),
        format!("{wrapper}mapfile -t {name} < n.txt"),
        format!("{wrapper}typeset {name}='{code}'"),
        format!("{wrapper}readonly {name}='{code}'"),
        format!("{name}=$(cat n.txt)"),
    ];
    let change = pick_one(rng, &options).clone();
    let counts = [
        format!("echo $(({name}))"),
        format!("(({name}))"),
        format!("echo $(( {name} + 1 ))"),
        format!("[[ {name} -eq 1 ]]"),
        format!("let {name}"),
        format!("echo ${{y:{name}}}"),
        format!("echo $[{name}]"),
    ];
    let count = pick_one(rng, &counts).clone();
    match rng.u8(..9) {
        0 | 1 => format!("{name}=1; {change}; {count}"),
        2 | 3 => format!("{name}=1; for j in $(seq 2); do {count}; {change}; done"),
        4 => format!("{name}=1; for j in *; do {count}; {change}; done"),
        5 => format!("{name}=1; while read -r l; do {count}; {change}; done < names9.txt"),
        6 => format!("{name}=1; f() {{ {change}; }}; f; {count}"),
        7 => format!("{name}=1; if true; then {change}; fi; {count}"),
        _ => format!("{name}=1; {name}='{code}' y=$(({name})); {count}"),
    }
}

fn random_emptying(rng: &mut Rng, name: &str) -> String {
    let wrapper = random_wrapper(rng);
    let options = [
        format!("{name}="),
        format!("{wrapper}unset {name}"),
        format!("{wrapper}unset -v {name}"),
        format!("{wrapper}read -r {name} < /dev/null"),
        format!("{wrapper}export {name}="),
        format!("{wrapper}declare {name}="),
        format!("{wrapper}typeset {name}="),
        format!("{wrapper}printf -v {name} ''"),
        format!("{wrapper}eval {name}="),
        format!("{wrapper}mapfile {name} < /dev/null"),
        format!("{wrapper}getopts a {name}"),
        format!("{name}= true"),
        format!(": ${{{name}:=}}"),
        format!("{wrapper}let {name}=0"),
    ];
    let emptying = pick_one(rng, &options).clone();
    close_group(&emptying)
}

fn random_wrapper(rng: &mut Rng) -> &'static str {
    if happens(rng, 30) { "" } else { pick(rng, WRAPPERS) }
}

/// Closes a group that a wrapper has opened.
fn close_group(command: &str) -> String {
    if command.starts_with("{ ") {
        format!("{command}; }}")
    } else if command.starts_with("( ") {
        format!("{command} )")
    } else {
        command.to_owned()
    }
}
