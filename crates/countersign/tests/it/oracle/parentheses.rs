//! Commands full of parentheses, which shells read as arithmetic or as subshells by small differences.

use fastrand::Rng;

use super::choice::{happens, pick, pick_some};

/// Patterns made of operators alone; some name a program of the workspace.
const PATTERNS: &[&str] = &["???/????", "*/????", "???/*", "./?", "????/????.??", "?", "*"];

const PROGRAM_WORDS: &[&[&str]] =
    &[&["touch", "pwned"], &["rm", "-rf", "src"], &["mkdir", "new"], &["cp", "n", "m"], &["x"]];

const OPERATORS: &[&str] = &["|", "&", "||", "&&", "+", "*", ">", "<", ";", ",", "-", "|1|", "&1&"];

/// Returns a command with nested parentheses in some context.
pub(super) fn random_parentheses(rng: &mut Rng) -> String {
    let (names, inner) = random_inner(rng);
    let core = random_nesting(rng, &inner);
    let command = random_context(rng, &core);
    let numbers: Vec<_> = names.iter().map(|name| format!("{name}={}", rng.u8(..3))).collect();
    if numbers.is_empty() { command } else { format!("{}; {command}", numbers.join("; ")) }
}

/// Returns names that must hold numbers, and what stands in the innermost parentheses.
fn random_inner(rng: &mut Rng) -> (Vec<&'static str>, String) {
    match rng.u8(..5) {
        0 => (Vec::new(), pick(rng, PATTERNS).to_owned()),
        1 => {
            let blank = pick(rng, &["", " "]);
            let operator = pick(rng, &[">", ">>", "<", ">|", ">&"]);
            (Vec::new(), format!("{}{blank}{operator}{blank}{}", rng.u8(..3), rng.u8(1..9)))
        }
        2 | 3 => {
            let words = pick(rng, PROGRAM_WORDS);
            let names = words.iter().map(|it| it.trim_start_matches('-')).collect();
            (names, words.join(" "))
        }
        _ => {
            let parts = pick_some(
                rng,
                &["1", "2", "a", "x", "+", "-", "*", "/", ">", "(1)", "?", "~"],
                1..=5,
            );
            (vec!["a", "x"], parts.join(pick(rng, &["", " "])))
        }
    }
}

fn random_nesting(rng: &mut Rng, inner: &str) -> String {
    let blank = |rng: &mut Rng| pick(rng, &["", " ", " ", "  ", "\t"]);
    let dollar = pick(rng, &["", "$"]);
    let (first, second, third) = (blank(rng), blank(rng), blank(rng));
    match rng.u8(..6) {
        0..3 => format!("{dollar}({first}({second}{inner}{third}){first})"),
        3 => {
            let operator = pick(rng, OPERATORS);
            format!("{dollar}(({inner}){first}{operator}{second}({}))", rng.u8(..3))
        }
        4 => {
            let operator = pick(rng, OPERATORS);
            format!("{dollar}(({}){first}{operator}{second}({inner}))", rng.u8(..3))
        }
        _ => format!("{dollar}(({first}({inner}){second}){third})"),
    }
}

fn random_context(rng: &mut Rng, core: &str) -> String {
    if core.starts_with('$') {
        let core = if happens(rng, 40) { format!("\"{core}\"") } else { core.to_owned() };
        return match rng.u8(..7) {
            0..3 => format!("echo {core}"),
            3 => format!("x={core}"),
            4 => format!("cat <<E\n{core}\nE"),
            5 => format!("ls {core}"),
            _ => format!("[ {core} ]; pwd"),
        };
    }
    match rng.u8(..9) {
        0 | 1 => core.to_owned(),
        2 => format!("{core}; ls"),
        3 => format!("if {core}; then :; fi"),
        4 => format!("{core} | cat"),
        5 => format!("{{ {core}; }}"),
        6 => format!("! {core}"),
        7 => format!("while {core}; do break; done"),
        _ => format!("true && {core} || true"),
    }
}
