//! Everyday commands: run from their canonical text they print what they print as they are written.

use super::examination::{offers_executor, run_by_executor};
use super::jail::{CommandOutput, JailedCommand, run_in_jail};
use super::settings::{OracleSettings, leaves_out_bubblewrap};
use super::variant::WorkspaceVariant;
use super::verdict::{AllowedCommand, BatchVerdict, OracleMode, judge_commands};
use super::world::{RepositoryTemplates, World, WorldSide};

/// Of a hundred of them, at least so many run unasked.
const LEAST_ALLOWED: usize = 80;

/// What agents run all day, on the files that every world has.
const COMMANDS: &[&str] = &[
    // Looking around.
    "ls",
    // Not of the top: earlier commands touch `.git`.
    "ls -la bin",
    "ls -1 src",
    "ls -la src docs",
    "ls *.md",
    "ls src/*.rs",
    "ls -d */",
    "ls nowhere",
    "pwd",
    "pwd -P",
    "ls -A | head -5",
    "ls src tests 2>/dev/null",
    "ls nowhere 2>&1",
    "ls nowhere || echo none",
    "ls && pwd",
    "ls; pwd",
    "basename src/main.rs .rs",
    "dirname src/main.rs",
    "realpath src",
    "readlink -f README.md",
    "file README.md",
    "stat -c '%s %n' README.md",
    "du -a src | sort | cut -f2",
    "tree -L 1",
    "echo *",
    "echo src/*",
    "echo {a,b}c",
    // Reading files.
    "cat README.md",
    "cat src/a.rs src/b.rs",
    "cat -n src/main.rs",
    "cat nowhere",
    "cat < README.md",
    "head -2 names9.txt",
    "head -n 3 names9.txt",
    "head -c 5 README.md",
    "tail -2 names9.txt",
    "tail -n +8 names9.txt",
    "tail -c 4 names9.txt",
    "nl -ba src/main.rs",
    "tac names9.txt",
    "wc -l names9.txt",
    "wc src/main.rs src/lib.rs",
    "cat names9.txt | wc -l",
    "head -1 README.md src/a.rs",
    "sed -n 1,2p src/main.rs",
    "sed -n '2p' names9.txt",
    "sed 's/a/b/' src/a.rs",
    "od -c src/a.rs",
    "hexdump -C src/a.rs",
    "base64 src/a.rs",
    "md5sum src/a.rs",
    "sha256sum src/a.rs src/b.rs",
    "cksum src/a.rs",
    "strings README.md",
    "cat README.md; cat nowhere; echo end",
    "cat README.md && echo yes || echo no",
    "cat nowhere && echo yes || echo no",
    // Searching.
    "grep -n fn src/main.rs",
    "grep -rn TODO src",
    "grep -rl fn src | sort",
    "grep -c a names9.txt",
    "grep nothing README.md",
    "grep -i PROJECT README.md",
    "grep -v a names9.txt",
    "grep -E 'a|b' names9.txt",
    "grep -A1 fn src/lib.rs",
    "grep -w fn src/lib.rs",
    "grep -h fn src/main.rs src/lib.rs",
    "grep -o 'fn [a-z]*' src/main.rs",
    "grep -q fn src/main.rs && echo found",
    "grep -rn --include='*.rs' fn src",
    "rg -n fn src/main.rs",
    "rg -l TODO src",
    "rg --files src | sort",
    "rg nothing src",
    "find src -name '*.rs' | sort",
    "find . -maxdepth 1 -type d | sort",
    "find src -type f -name 'm*'",
    "find docs -type f | wc -l",
    "find src -name '*.rs' | head -2 | wc -l",
    "grep fn src/main.rs | head -1",
    "grep fn src/main.rs src/lib.rs | cut -d: -f1 | sort -u",
    // Text.
    "sort names9.txt",
    "sort -r names9.txt",
    "sort -t, -k2,2n table.csv",
    "sort -u names9.txt | head -3",
    "uniq -c names9.txt",
    "cut -d, -f1 table.csv",
    "cut -c1-3 README.md",
    "tr a-z A-Z < README.md",
    "cat README.md | tr -d '#'",
    "rev names9.txt",
    "paste -d, names9.txt names9.txt | head -2",
    "paste -sd+ names9.txt",
    "comm -12 names9.txt names9.txt",
    "fold -w 10 README.md",
    "column -t -s, table.csv",
    "awk '{print $1}' README.md",
    "awk -F, '{print $2}' table.csv",
    "awk 'END{print NR}' names9.txt",
    "awk -F, 'NR>1{s+=$2} END{print s}' table.csv",
    "jq . data.json",
    "jq -r .b.c data.json",
    "jq '.a | length' data.json",
    "jq -c '.a[]' data.json",
    "diff src/a.rs src/b.rs",
    "diff -u src/a.rs src/b.rs",
    "diff src/a.rs src/a.rs",
    "cmp src/a.rs src/b.rs",
    "diff -q README.md Cargo.toml",
    "expand README.md",
    "seq 3",
    "seq 1 2 9",
    "seq -s, 1 5",
    "expr 1 + 2",
    // Saying things.
    "echo hello",
    "echo 'a  b'",
    "echo \"a  b\"",
    "echo a   b",
    "echo -n a",
    "echo -e 'a\\tb'",
    "echo 'it'\\''s'",
    "echo \"it's\"",
    "printf '%s\\n' a b",
    "printf '%d-%s\\n' 1 a 2 b",
    "printf 'no newline'",
    "echo '$HOME'",
    "echo \\$x",
    "echo '*'",
    "echo \"*\"",
    "echo a#b",
    "echo 'a' # a comment",
    "echo a; # nothing",
    "echo $((1 + 2))",
    "echo ~ | wc -l",
    "echo ''",
    "echo",
    "echo '' ''",
    "echo 'ä ö 日'",
    "true",
    "false",
    ":",
    "! true",
    "true && false || echo x",
    "test -f README.md && echo file",
    "[ -d src ] && echo folder",
    "[ -f nowhere ] || echo none",
    "[[ -f README.md ]] && echo file",
    "type ls",
    "which git",
    "date -u -d @0 +%F",
    "uname -s",
    "id -u",
    // State and control.
    "cd src && ls",
    "cd src; pwd",
    "cd src && cat main.rs && cd .. && ls -d src",
    "cd nowhere || echo none",
    "(cd src && ls); pwd",
    "x=README.md; cat $x",
    "x='a b'; echo \"$x\"",
    "x=a; echo ${x}b",
    "LANG=C sort names9.txt",
    "for f in a b; do echo $f; done",
    "for f in src/a.rs src/b.rs; do echo \"== $f\"; cat \"$f\"; done",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "if [ -f README.md ]; then echo yes; else echo no; fi",
    "if grep -q fn src/main.rs; then echo has; fi",
    "{ echo a; echo b; }",
    "{ echo a; echo b >&2; } 2>/dev/null",
    "echo a >&2",
    "ls nowhere >/dev/null 2>&1; echo $?",
    "cat README.md >/dev/null",
    "false; echo $?",
    "echo one\necho two",
    "echo a | cat | cat",
    "echo a && echo b && echo c",
    "cat <<'E'\na $x\nE",
    "echo a \\\n  b",
    "cat src/a.rs | while read -r l; do echo \"[$l]\"; done",
    // git.
    "git status",
    "git status --short",
    "git status -sb",
    "git log --oneline",
    "git log -1 --format=%s",
    "git log --stat -1",
    "git diff",
    "git diff --stat",
    "git diff HEAD",
    "git show --stat HEAD",
    "git show HEAD:README.md",
    "git branch",
    "git branch -a",
    "git branch --show-current",
    "git rev-parse HEAD",
    "git rev-parse --show-toplevel",
    "git ls-files",
    "git ls-files src",
    "git grep -n fn",
    "git blame README.md",
    "git tag",
    "git remote -v",
    "git config user.name",
    "git describe --tags",
    "git log --oneline | head -1",
    "git shortlog -sn HEAD",
    "git ls-tree --name-only HEAD",
    "git cat-file -t HEAD",
    "git show nowhere",
    "git stash list",
    "git merge-base main other",
];

#[test]
fn canonical_texts_print_what_the_commands_print() {
    if leaves_out_bubblewrap() {
        return;
    }
    let settings = OracleSettings::from_environment();
    let world =
        World::build(&WorkspaceVariant::from_corpus(Vec::new()), &RepositoryTemplates::create());
    let commands: Vec<_> = COMMANDS.iter().map(|it| (*it).to_owned()).collect();
    let judged = judge_commands(&settings.binary, &world, OracleMode::Default, &commands);
    let allowed = match judged {
        BatchVerdict::Judged(allowed) => allowed,
        BatchVerdict::Unanswered(why) => panic!("no verdicts: {why}"),
    };
    let percent = 100 * allowed.len() / commands.len();
    assert!(
        percent >= LEAST_ALLOWED,
        "only {percent} of 100 run unasked: {}",
        name_asked(&commands, &allowed)
    );
    let without: Vec<_> = allowed.iter().filter(|it| it.canonical.is_none()).collect();
    assert!(without.is_empty(), "allowed without a canonical text: {without:?}");

    let run = |commands: Vec<JailedCommand>, program| {
        run_in_jail(&world, WorldSide::First, &commands, false, program)
    };
    let written =
        run(allowed.iter().map(|it| JailedCommand::from_text(&it.command)).collect(), None);
    let canonical =
        run(allowed.iter().map(|it| JailedCommand::from_text(it.executed_text())).collect(), None);
    let mut wrong = name_different("canonical", &allowed, &written, &canonical);
    if offers_executor(&settings.binary) {
        let by_executor = |it: &AllowedCommand| run_by_executor(&world, OracleMode::Default, it);
        let executed =
            run(allowed.iter().map(by_executor).collect(), Some(settings.binary.as_path()));
        wrong.extend(name_different("executor", &allowed, &written, &executed));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn name_asked(commands: &[String], allowed: &[AllowedCommand]) -> String {
    let is_asked = |it: &&String| !allowed.iter().any(|allowed| allowed.command == **it);
    commands.iter().filter(is_asked).map(|it| format!("{it:?}")).collect::<Vec<_>>().join(", ")
}

fn name_different(
    form: &str,
    allowed: &[AllowedCommand],
    written: &[CommandOutput],
    others: &[CommandOutput],
) -> Vec<String> {
    let outputs = written.iter().map(hide_shell).zip(others.iter().map(hide_shell));
    let different = allowed.iter().zip(outputs).filter(|(_, (written, other))| written != other);
    let different = different.map(|(command, (written, other))| {
        format!(
            "{form} of {:?} ({:?}):\n  {written:?}\n  {other:?}",
            command.command,
            command.executed_text()
        )
    });
    different.collect()
}

/// Returns an output without the place of which bash says that an error is there.
fn hide_shell(output: &CommandOutput) -> CommandOutput {
    let lines = output.stderr.lines().map(|line| {
        let said = line
            .trim_start_matches("/bin/")
            .strip_prefix("bash: line ")
            .and_then(|rest| rest.split_once(": "));
        said.map_or(line, |(_, said)| said)
    });
    CommandOutput { stderr: lines.collect::<Vec<_>>().join("\n"), ..output.clone() }
}
