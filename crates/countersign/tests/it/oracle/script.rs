//! Scripts from a grammar of the shell: every construct, with payloads in the places for commands.

use fastrand::Rng;

use super::choice::{happens, pick, pick_one, quote};
use super::parentheses::random_parentheses;
use super::payload::{random_payload, random_read};
use super::posix_shell::random_posix_shell;
use super::stale_state::random_stale_state;

/// Returns a script of a few nested constructs.
pub(super) fn random_script(rng: &mut Rng) -> String {
    let depth = rng.u8(1..=3);
    write_list(rng, depth)
}

fn write_list(rng: &mut Rng, depth: u8) -> String {
    let mut list = write_command(rng, depth);
    for _ in 0..rng.u8(..3) {
        let operator = pick(rng, &["; ", " && ", " || ", " | ", "\n", " |& ", " & "]);
        list = format!("{list}{operator}{}", write_command(rng, depth));
    }
    list
}

fn write_command(rng: &mut Rng, depth: u8) -> String {
    if depth == 0 || happens(rng, 35) {
        return write_simple(rng);
    }
    let below = depth - 1;
    let (one, two) = (write_list(rng, below), write_command(rng, below));
    match rng.u8(..22) {
        0 => format!("( {one} )"),
        1 => format!("{{ {one}; }}"),
        2 => format!("if {two}; then {one}; else {two}; fi"),
        3 => format!("case {} in a) {one};; *) {two};; esac", pick(rng, &["a", "b", "$x", "*"])),
        4 => format!(
            "for x in {}; do {one}; done",
            pick(rng, &["1 2", "a", "*", "$(seq 2)", "src/*", "{1..3}"])
        ),
        5 => format!("while {two}; do {one}; break; done"),
        6 => format!("until {two}; do {one}; break; done"),
        7 => format!("f() {{ {one}; }}; f"),
        8 => format!("ls() {{ {one}; }}; {two}"),
        9 => format!("[[ a = a && -f README.md ]] && {one}"),
        10 => format!("(( 1 + 1 )) && {one}"),
        11 => format!("echo $(( 1 + $({two} | wc -l) ))"),
        12 => format!("echo \"$({one})\""),
        13 => format!("echo `{}`", two.replace('`', "")),
        14 => format!("cat <<E\n$({two})\nE\n{one}"),
        15 => format!("cat <<'E'\n$({two})\nE"),
        16 => format!("{} -c {}", pick(rng, &["sh", "bash", "dash"]), quote(rng, &one)),
        17 => format!("echo a | xargs -I{{}} sh -c {}", quote(rng, &two)),
        18 => format!("cat <({two})"),
        19 => format!("x={} {two}", write_word(rng)),
        20 => format!("time {two}"),
        _ => format!("! {two}"),
    }
}

fn write_simple(rng: &mut Rng) -> String {
    let command = match rng.u8(..20) {
        0..9 => random_read(rng).to_owned(),
        9 | 10 => random_payload(rng),
        11 => format!("x={}", write_word(rng)),
        12 => format!(
            "{} x={}",
            pick(rng, &["export", "declare", "local", "readonly", "typeset -i"]),
            write_word(rng)
        ),
        13 => format!("{} x", pick(rng, &["unset", "read -r", "read", "unset -f", "shift"])),
        14 => format!("cat {}", write_word(rng)),
        15 => format!("echo {}", write_word(rng)),
        16 => random_parentheses(rng),
        17 => random_posix_shell(rng),
        18 => random_stale_state(rng),
        _ => format!("cd {}", pick(rng, &["src", "..", "sub", "-", "\"$x\"", ".", "sub/a"])),
    };
    let wrapper = pick(
        rng,
        &[
            "",
            "",
            "",
            "",
            "",
            "command ",
            "builtin ",
            "env ",
            "nice ",
            "timeout 5 ",
            "exec ",
            "env -i ",
            "nohup ",
            "stdbuf -o0 ",
        ],
    );
    let redirection = if happens(rng, 25) {
        pick(
            rng,
            &[
                " 2>&1",
                " >/dev/null",
                " 2>/dev/null",
                " < README.md",
                " >&2",
                " > pwned",
                " &>/dev/null",
                " 3>&1 1>&2",
                " >| pwned",
                " <> README.md",
                " 2>err",
                " < ../outside/marker",
                " <&-",
                " {fd}>pwned",
            ],
        )
    } else {
        ""
    };
    format!("{wrapper}{command}{redirection}")
}

fn write_word(rng: &mut Rng) -> String {
    const WORDS: &[&str] = &[
        "a",
        "''",
        "README.md",
        "\"$x\"",
        "$x",
        "${x}",
        "${x:-a}",
        "${x#a}",
        "${x%%b*}",
        "${#x}",
        "~",
        "~/.bashrc",
        "*",
        "*.md",
        "s?c",
        "[a-z]*",
        "{a,b}",
        "{1..3}",
        "$'a\\tb'",
        "$'\\x2e\\x2e/outside/marker'",
        "\"$(pwd)\"",
        "$((1+2))",
        "..",
        "../outside/marker",
        ".env",
        ".e*",
        "src/*.rs",
        "a=~/.bashrc",
        "x=~",
        "\"a b\"",
        "\\*",
        "src/../README.md",
        "$HOME",
        "${x:=..}",
        "${x/a/..}",
        "${x^^}",
        "$?",
        "$#",
        "$1",
        "\"$@\"",
        "{..,x}/outside/marker",
        ".[e]nv",
        "$'.env'",
        "\".\"env",
        "sub/l",
        "-",
        "--",
        "-n",
        "@(a|b)",
        "!(x)",
        "$PWD/README.md",
        "$OLDPWD",
        "${PWD%/*}/outside/marker",
        "$RANDOM",
        "${!x}",
        "${x@P}",
        "$[1+1]",
    ];
    let words = [pick(rng, WORDS), pick(rng, WORDS)];
    if happens(rng, 85) {
        words[0].to_owned()
    } else {
        (*pick_one(rng, &words)).to_owned() + words[1]
    }
}
