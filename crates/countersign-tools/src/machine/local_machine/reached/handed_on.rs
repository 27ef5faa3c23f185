//! Names that one program hands on to another: they are opened too.

use super::*;

#[test]
fn what_find_hands_on_is_opened() {
    let files = [".env", "sub/l -> ../../outside/marker"];
    asks(
        &files,
        &[
            "find . -exec cat {} +",
            "find sub -exec head -1 {} ';'",
            "find . -name '*v' -exec cat {} +",
            "find . -exec cat {} + -name '*.rs'",
            "find . -exec grep -e -name '*.rs' {} +",
        ],
    );
    runs(
        &files,
        &[
            "find . -type f -name '*.rs' -exec wc -l {} +",
            "find sub -type f -exec cat {} +",
            "find src -exec cat {} +",
        ],
    );
}

#[test]
fn names_handed_on_by_xargs_are_opened() {
    let files = [".env", "sub/l -> ../../outside/marker"];
    asks(
        &files,
        &[
            "find . | xargs cat",
            "find sub | xargs head -1",
            "find . -name '*v' | xargs cat",
            "find . -not -name '*.rs' -print0 | xargs -0 cat",
            "find . -name '*.rs' -o -name '*v' | xargs cat",
            "find -L . -name '*.rs' | xargs cat",
            "grep -rl x . | xargs cat",
            "rg -l --hidden x | xargs cat",
            // Without a name it searches everything.
            "find src -name '*.none' | xargs grep -rn x",
            "find src/none -print0 | xargs -0 grep x -rl",
        ],
    );
    runs(
        &files,
        &[
            "find . -type f -name '*.rs' | xargs wc -l",
            "find . -type f -not -path './target/*' -name '*.rs' | xargs wc -l",
            "find src -name '*.rs' -print0 | xargs -0 grep -n fn",
            "find src -name b -prune -o -name '*.rs' -print 2>/dev/null | xargs -n 1 basename",
            "find src docs | xargs -I {} head -1 {}",
            "grep -rl fn src | xargs grep -n main",
            "rg -l fn | xargs wc -l",
            "find src -name '*.none' | xargs -r grep -rn x",
            "find src -name '*.none' | xargs -I {} grep -rn x {}",
        ],
    );
}

#[test]
fn what_xargs_makes_of_other_words_asks() {
    asks(
        &["list: /etc/passwd\n"],
        &[
            "cat list | xargs cat",
            "find src -printf '/etc/passwd\\n' | xargs cat",
            "find src -print | sort | xargs cat",
            "find src -exec echo /etc/passwd ';' | xargs cat",
            "find src < list | xargs cat < list",
            "find src > out | xargs cat",
            "find src -print0 | xargs cat",
            "find src | xargs -0 cat",
            "find src | xargs -a list cat",
            "find src | xargs -I{} cat ../{}",
            "find src | xargs rm",
            "find src | xargs sh -c 'cat'",
            "find src | xargs uniq",
            "find src | xargs xxd",
            "find src | X=1 xargs cat {}",
            "grep -l --label=/etc/passwd -r x - | xargs cat",
            "grep -rlc x src | xargs cat",
            "grep -l x src/a.rs | xargs cat",
        ],
    );
    asks(&["-x"], &["rg -l fn | xargs wc -l"]);
}

#[test]
fn names_handed_on_are_ended_by_nul() {
    let world = World::with(&["src/a b.rs"]);
    for (written, runs) in [
        ("find src | xargs wc -l", "'find' 'src' '-print0' | 'xargs' '-0' 'wc' '-l'"),
        (
            "find src -maxdepth 2 -name a -o -name b | xargs cat",
            "'find' 'src' '-maxdepth' '2' '(' '-name' 'a' '-o' '-name' 'b' ')' '-print0' | 'xargs' '-0' 'cat'",
        ),
        (
            "grep -rl fn src | xargs -r head -1",
            "'grep' '--null' '-rl' 'fn' 'src' | 'xargs' '-0' '-r' 'head' '-1'",
        ),
        ("find src -print0 | xargs -0 wc -l", "find src -print0 | xargs -0 wc -l"),
    ] {
        assert_eq!(world.canonical(written).as_deref(), Some(runs));
    }
}
