//! What must hold of any text.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{judged, read};
use crate::VerdictAction;

const WRAPPERS: &[&str] = &[
    "env",
    "env A=b",
    "timeout 5",
    "nice",
    "nohup",
    "sudo",
    "command",
    "time",
    "stdbuf -oL",
    "xargs",
    "setsid",
    "busybox",
];
const SEGMENTS: &[&str] = &["; ", " && ", " || ", " | ", " & ", "\n"];
const COMMANDS: &[&str] = &[
    "ls",
    "cat a",
    "touch x",
    "rm -rf /",
    "cd src",
    "git status",
    "echo $(ls)",
    "x=1",
    "f() { ls; }",
    "curl e.example",
    "cat .env",
    "rm -rf ~",
    "for i in a b; do ls $i; done",
    "if true; then ls; fi",
    "alias ls=x",
    "[ -f a ]",
    "{ ls; }",
];

fn command() -> impl Strategy<Value = &'static str> {
    prop::sample::select(COMMANDS)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_wrapper_never_lowers_the_verdict(wrapper in prop::sample::select(WRAPPERS), inner in command()) {
        let wrapped = format!("{wrapper} {inner}");
        // A wrapper takes a simple command, not a list of them.
        if !inner.contains([';', '{', '=', '(']) {
            prop_assert!(judged(&wrapped) >= judged(inner), "{}", wrapped);
        }
        for outer in [format!("bash -c '{inner}'"), format!("echo \"$({inner})\""), format!("( {inner}\n)")] {
            prop_assert!(judged(&outer) >= judged(inner), "{}", outer);
        }
    }

    #[test]
    fn a_segment_never_lowers_the_verdict(
        one in command(), separator in prop::sample::select(SEGMENTS), two in command(),
    ) {
        let text = format!("{one}{separator}{two}");
        let both = judged(&text);
        prop_assert!(both >= judged(one), "{}", text);
        // After a `cd` a path may lie elsewhere, but never outside without an effect that says so.
        if one != "cd src" && !one.starts_with("x=") {
            prop_assert!(both >= judged(two), "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        let analysis = read(&text);
        prop_assert!(!analysis.effects.is_empty());
    }

    #[test]
    fn shell_like_text_is_read_without_a_panic(
        text in prop::collection::vec(prop::sample::select(PIECES), 0..40),
    ) {
        let started = Instant::now();
        let text = text.concat();
        let analysis = read(&text);
        prop_assert!(!analysis.effects.is_empty());
        prop_assert!(started.elapsed() < Duration::from_secs(2), "{}", text);
    }
}

const PIECES: &[&str] = &[
    "ls",
    " ",
    "'",
    "\"",
    "$(",
    ")",
    "`",
    "{",
    "}",
    "(",
    "((",
    "))",
    "[[",
    "]]",
    ";",
    "&",
    "|",
    "<<EOF\n",
    "EOF\n",
    "\n",
    "$x",
    "${x",
    "if ",
    "then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    ";;",
    "function f ",
    "\\",
    "~",
    "*",
    "?",
    "[",
    "]",
    "=",
    "a=(",
    ">",
    "<",
    "2>&1",
    "<(",
    ">(",
    "!",
    "#",
    "time ",
    "coproc ",
    "rm -rf /",
    "~99999999999999999999999",
    "99999999999>",
    "é",
    "\u{202e}",
    "{a,b}",
    "$'\\x41'",
];

#[test]
fn a_text_that_does_not_parse_is_never_allowed() {
    for text in [
        "ls &&& ls",
        "ls (",
        "if ls",
        "ls '",
        "ls \"",
        "case x",
        "ls ;; ls",
        "select x in a; do ls; done",
        "ls | | ls",
    ] {
        assert_ne!(judged(text), VerdictAction::Allow, "{text}");
    }
}

/// Found by fuzzing: the parser never came back from these.
#[test]
fn a_here_document_without_a_plain_end_is_not_read() {
    for text in
        ["<<$(  a ", "<<-$(  a ", "cat << $( a", "cat <<`a ", "cat <<${x", "cat <<", "a <<("]
    {
        assert_ne!(judged(text), VerdictAction::Allow, "{text}");
    }
    for text in
        ["cat <<EOF\nhi\nEOF", "cat <<'EOF'\n$(x)\nEOF", "cat <<-EOF\nhi\nEOF", "echo $((1 << 4))"]
    {
        assert_eq!(judged(text), VerdictAction::Allow, "{text}");
    }
}

#[test]
fn huge_and_deep_texts_are_answered_at_once() {
    let pieces = [
        "{",
        "{ ",
        "(",
        "((",
        "$(",
        "\"$(",
        "`",
        "'",
        "\"",
        "\\",
        "${",
        "[[ ",
        "if ",
        "$((",
        "<(",
        "a=(",
        "<<A ",
        "!",
        "& ",
        "case x in x) ",
        "for i in a; do ",
        "f() { ",
        "time ",
        "coproc ",
        "@(",
        "~",
        "9",
        "é",
        "; ",
    ];
    for piece in pieces {
        for size in [100, 512, 4_000, 8_000, 1_000_000] {
            let text = piece.repeat(size / piece.len() + 1);
            let started = Instant::now();
            assert_ne!(judged(&text), VerdictAction::Allow, "{piece:?} × {size}");
            let taken = started.elapsed();
            println!("{piece:?} × {size}: {taken:?}");
            assert!(taken < Duration::from_secs(3), "{piece:?} × {size} took {taken:?}");
        }
    }
}
