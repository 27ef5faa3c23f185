//! The executor: what nobody was asked about runs without a shell, and as it would run in bash.

use serde_json::json;

use crate::world::World;

/// Commands that are proven to only read, in every form that the canonical language has.
const COMMANDS: &[&str] = &[
    "echo hello",
    "echo -n a; echo -e 'b\\tc'; echo --help",
    "pwd; cd src && pwd; cd ..; pwd",
    "cd nowhere || echo none",
    "cat a.txt b.txt | sort | uniq -c | head -2",
    "cat nowhere",
    "cat nowhere 2>&1 | head -1",
    "cat nowhere 2>/dev/null; echo $?",
    "no-such-program-here; echo $?",
    "false && echo yes || echo no",
    "! false; echo $?",
    "ls src/*.rs",
    "ls *.none",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "for w in one 'two three' four; do echo \"<$w>\"; done",
    "x='a  b'; echo $x; echo \"$x\"",
    "x=$(cat a.txt); echo \"$x\" | head -1; echo \"${x}\"",
    "echo \"$(cat a.txt | wc -l) lines\"",
    "while IFS= read -r line; do echo \"<$line>\"; done < a.txt",
    "while read -r first rest; do echo \"$first|$rest\"; done < a.txt",
    "read -r x < open.txt; echo \"$? $x\"",
    "if [ -f a.txt ]; then echo there; else echo gone; fi",
    "if test -d nowhere; then echo a; elif test -d src; then echo b; fi",
    "[[ -f a.txt && ! -d a.txt ]] && echo file",
    "cat <<'E'\nfirst $x\n  second\nE",
    "x=1; cat <<E\nvalue $x\nE",
    "cat <<< 'one line' | tr a-z A-Z",
    "{ echo a; echo b; } | wc -l",
    "(cd src; pwd); pwd",
    "set -e; false; echo never",
    "set -o pipefail; false | true; echo $?",
    "false | true; echo $?",
    "echo a >&2",
    "{ echo out; echo err >&2; } 2>&1 | sort",
    "echo $((2 + 3 * 4))",
    "printf '%s-%s\\n' a b c d",
    "bash -c 'cd src; pwd'; pwd",
    "NO_COLOR=1 ls src",
    "yes | head -2",
    "exit 3",
    "ls; exit $?",
    "until true; do echo never; done; echo done",
    "command -v sort",
    "type cd; type sort",
    "seq 3 | while read -r n; do echo \"n=$n\"; done",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_command_prints_the_same_by_the_executor_and_by_bash() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("a.txt", "one two  three\n  indented\nlast\n");
    world.write("b.txt", "one two  three\n");
    world.write("open.txt", "no end");
    world.write("src/a.rs", "fn a() {}\n");
    world.write("src/b.rs", "fn b() {}\n\n");
    for command in COMMANDS {
        let input = json!({"command": command});
        let plan = world.plan("Bash", input.clone()).unwrap();
        assert!(plan.canonical.is_some(), "{command}: {:?}", plan.effects);
        let executed = world.run("Bash", input.clone()).await.unwrap();
        let by_bash = world.approved("Bash", input).await.unwrap();
        assert_eq!(executed, by_bash, "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_shell_would_find_in_a_word_happens() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write("$(touch pwned).txt", "a\n");
    world.write("; touch pwned", "b\n");
    let output = world.run("Bash", json!({"command": "cat *"})).await.unwrap();
    assert_eq!(output.content, "a\nb");
    assert!(!world.path("pwned").exists());
}
