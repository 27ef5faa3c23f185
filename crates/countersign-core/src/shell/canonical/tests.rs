//! The canonical form as text.

use super::super::tests::read;

#[test]
fn plain_commands_stay_as_they_were_written() {
    for command in [
        "ls",
        "git status",
        "cat a  b | head -20",
        "ls;pwd",
        "cd src && ls || pwd",
        "git log --format=oneline -3",
    ] {
        check(command, command);
    }
}

#[test]
fn every_word_of_any_other_command_is_quoted() {
    check("ls 'a b'", "'ls' 'a b'");
    check("echo it\\'s", r"'echo' 'it'\''s'");
    check("cat f 2>&1 | head", "'cat' 'f' 2>&1 | 'head'");
    check("ls > /dev/null 2>&1", "'ls' >'/dev/null' 2>&1");
    check("ls &>/dev/null", "'ls' >'/dev/null' 2>&1");
    check("echo a #b; touch pwned", "'echo' 'a'");
    check("ls\npwd", "'ls'; 'pwd'");
    check("NO_COLOR=1 ls", "NO_COLOR='1' 'ls'");
    check("( ls; pwd ) | cat", "( 'ls'; 'pwd' ) | 'cat'");
    check("{ ls; pwd; } | cat", "{ 'ls'; 'pwd'; } | 'cat'");
    check("ls && { pwd || ls; }", "'ls' && { 'pwd' || 'ls'; }");
    check("! ls", "! 'ls'");
    check("time ls | head", "time 'ls' | 'head'");
    check("cat <<< 'a b'", "'cat' <<< 'a b'");
    check("cat <<'E'\na $b\nc\nE", "'cat' <<< 'a $b\nc'");
    check("if [ -f a ]; then cat a; fi", "if '[' '-f' 'a' ']'; then 'cat' 'a'; fi");
    check("[[ -f a && b != c ]]", "'test' '-f' 'a' && 'test' 'b' '!=' 'c'");
}

#[test]
fn expansions_are_replaced_by_their_values() {
    check("d=src; ls $d", "d='src'; 'ls' 'src'");
    check("d='a b'; ls $d", "d='a b'; 'ls' 'a' 'b'");
    check("d='a b'; ls \"$d\"", "d='a b'; 'ls' 'a b'");
    check("d=x; d= e=..$d; echo $e", "d='x'; d='' e='..'; 'echo' '..'");
    check("echo $((1 + 2 * 3))", "'echo' '7'");
    check("i=4; echo $((i - 1))", "i='4'; 'echo' '3'");
    check("echo ~/a", "'echo' '/home/me/a'");
    check("echo \"$USER\"", "'echo' \"${USER}\"");
    check("echo \"$(git rev-parse HEAD)\"", "'echo' \"$('git' 'rev-parse' 'HEAD')\"");
    check("x=$(pwd -P); echo \"$x\"", "x=\"$('pwd' '-P')\"; 'echo' \"${x}\"");
    check("ls; echo $?", "'ls'; 'echo' \"$?\"");
    check("for f in a b; do echo $f; done", "f='a'; 'echo' 'a'; f='b'; 'echo' 'b'");
    check("bash -c 'ls; pwd'", "( 'ls'; 'pwd' )");
    check("command cd src && ls", "'cd' './src' && 'ls'");
}

#[test]
fn a_loop_of_unknown_length_reads_what_it_changes_when_it_runs() {
    check(
        "while read -r l; do echo \"$l\"; done < f",
        "while 'read' '-r' 'l'; do 'echo' \"${l}\"; done <'f'",
    );
    check(
        "d=x; while read -r l; do echo \"$d\"; d=y; done < f",
        "d='x'; while 'read' '-r' 'l'; do 'echo' \"${d}\"; d='y'; done <'f'",
    );
}

#[test]
fn what_the_language_lacks_has_no_canonical_form() {
    for command in [
        "( (touch pwned))",
        "echo $((1)>2 | (3))",
        "((1>2))",
        "sleep 1 &",
        "f() { ls; }",
        "coproc ls",
        "echo {a,b}",
        "echo $(ls)",
        "case a in a) ls;; esac",
        "select x in a; do ls; done",
        "for ((i=0;i<3;i++)); do ls; done",
        "[[ a > b ]]",
        "[[ a == b* ]]",
        "[[ a =~ b ]]",
        "sh -c '[[ a ]]'",
        "sh -c 'TERM=.. :; ls'",
        "cat <(ls)",
        "exec 3< f",
        "ls 3>&1",
        "ls <&-",
        "eval ls",
        "trap ls EXIT",
        "head a=~/x",
        "a[0]=1",
        "a=(1 2)",
        "time -p ls",
    ] {
        assert_eq!(read(command).canonical, None, "{command}");
    }
}

#[track_caller]
fn check(command: &str, expected: &str) {
    let canonical = read(command).canonical;
    assert_eq!(canonical.map(|it| it.text).as_deref(), Some(expected), "{command}");
}
