//! Scripts that bash reads in one way and other shells in another, handed to such a shell.

use fastrand::Rng;

use super::choice::{happens, pick, pick_one, quote};
use super::payload::{random_program, random_write};

const SHELLS: &[&str] = &[
    "sh -c",
    "sh -c",
    "dash -c",
    "/bin/sh -c",
    "/bin/dash -c",
    "bash --posix -c",
    "bash -o posix -c",
    "bash -c",
    "sh -ec",
    "sh -e -c",
];

const WRAPPERS: &[&str] =
    &["", "", "", "nice ", "env ", "timeout 5 ", "command ", "time ", "exec "];

/// Returns a command that gives a script to a shell.
pub(super) fn random_posix_shell(rng: &mut Rng) -> String {
    let script = random_script(rng);
    let shell = pick(rng, SHELLS);
    let wrapper = pick(rng, WRAPPERS);
    let command = format!("{wrapper}{shell} {}", quote(rng, &script));
    match rng.u8(..10) {
        0 => format!("echo \"$({command})\""),
        1 => format!("{command} | cat"),
        2 => format!("if {command}; then pwd; fi"),
        3 => format!("echo a | xargs {command}"),
        _ => command,
    }
}

fn random_script(rng: &mut Rng) -> String {
    let (program, write, name) =
        (random_program(rng), random_write(rng), pick(rng, &["TERM", "d", "x", "LANG"]));
    let read = format!("cat ..${name}/outside/marker");
    let special = pick(
        rng,
        &[":", "export", "readonly y=1", "unset z", "set --", "shift 0", "eval :", "times"],
    );
    let scripts = [
        format!("[[ a > {write} ]]"),
        format!("[[ x || {program} ]]"),
        format!("[[ a < README.md || a > {write} ]]"),
        format!("[[ a && {program} ]]"),
        format!("(({}>{}))", rng.u8(..3), rng.u8(1..9)),
        format!("(( {program} ))"),
        format!("{name}=x; {name}= {special}; {read}"),
        format!("{name}=x; {name}=.. {special}; cat ${name}/outside/marker"),
        format!("{name}=x <nope; {read}"),
        format!("{name}=x >nope/a; {read}"),
        format!("echo x &>{write}"),
        format!("echo a >&{write}"),
        format!("function ls {{ {program}; }}; ls"),
        format!("echo $'\\'' ; {program} #'"),
        format!("echo $'a\\'; {program}; : '"),
        format!("{name}=x; let {name}=0; {read}"),
        format!("{name}=x; declare {name}=; {read}"),
        format!("{name}=(x); cat ..${{{name}[1]}}/outside/marker"),
        format!("time {program}"),
        format!("cat <<< {program}"),
        format!("echo {{a,b}} |& {program}"),
        format!("ls {{a,{program}}}"),
        format!("echo $\"a\"; [[ -f a || {program} ]]"),
        format!("{name}=ab; cat ..${{{name}:2}}/outside/marker"),
        format!("{name}=x; printf -v {name} ''; {read}"),
        format!("{name}=x; read -r {name} <<< ''; {read}"),
        format!("echo -n a; [ a == b ] || true; [[ ! x || {program} ]]"),
        format!("{name}=x; unset {name}; {read}"),
    ];
    let script = pick_one(rng, &scripts).clone();
    if happens(rng, 20) { format!("if true; then {script}; fi") } else { script }
}
