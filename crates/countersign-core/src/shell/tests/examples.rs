//! The examples beside the table's entries, and those of everything that has no table.

use super::super::{CommandAnalysis, PartFinding, read_only_programs};
use super::{judged, read};
use crate::{Effect, VerdictAction};

#[test]
fn the_table_keeps_its_own_examples() {
    let mut wrong = Vec::new();
    for (example, ok) in read_only_programs::examples() {
        let analysis = read(example);
        if is_proven(example, &analysis) != ok {
            wrong.push(format!("{example}: {:?} {:?}", analysis.parts, analysis.effects));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a command does no more than read, here or from a service.
fn is_proven(command: &str, analysis: &CommandAnalysis) -> bool {
    let is_remote = |effect: &Effect| matches!(effect, Effect::RemoteRead { .. });
    if !analysis.effects.iter().any(is_remote) {
        return judged(command) == VerdictAction::Allow;
    }
    analysis.denials.is_empty()
        && !analysis.parts.iter().any(|part| matches!(part.finding, PartFinding::Unproven { .. }))
        && analysis.effects.iter().all(|effect| effect.is_read_only() || is_remote(effect))
        && judged(command) == VerdictAction::Ask
}

#[test]
fn the_table_is_large_enough_to_be_of_use() {
    assert!(read_only_programs::names().len() >= 45, "{}", read_only_programs::names().len());
}

#[test]
fn everyday_reads_are_allowed() {
    for command in [
        "cd src && ls",
        "cd /ws && git status",
        "(cd src; ls) | head",
        "ls 2>/dev/null || true",
        "ls >/dev/null 2>&1",
        "cat <<'EOF'\n$(touch pwned)\nEOF",
        "cat <<EOF\nhello $HOME\nEOF",
        "x=src; ls $x; wc -l \"$x/main.rs\"",
        "for f in a.rs b.rs; do wc -l $f; done",
        "for f in src/*.rs; do echo \"$f\"; head -3 \"$f\"; done",
        "while read -r line; do echo \"$line\"; done < README.md",
        "while IFS= read -r line; do echo \"$line\"; done < README.md",
        "if [[ -f Cargo.toml && $x != y ]]; then ls; else pwd; fi; x=1",
        "[[ 1 -lt 2 ]] && echo yes",
        "echo \"today: $(date +%F)\"",
        "bash -c 'ls -la'",
        "env LANG=C sort names.txt",
        "nice -n 10 rg foo src",
        "time ls",
        "! grep -q x README.md",
        "ls src/ | xargs -n1 basename",
        "command -v cargo",
        "set -euo pipefail; ls",
        "find . -name '*.rs' -not -path './target/*' | wc -l",
        "/usr/bin/ls -la",
        "ls -la \\\n  src",
        "{ ls; pwd; }",
        "echo $((1 + 2))",
        "export LANG=C; sort names.txt",
        "(cd src); ls",
        "cd src; ls; cat a || true",
        "echo '$(touch x)' '`id`' \\$x",
        "grep -n 'rm -rf' script.sh",
        "true || exit 1",
        "ls; exit $?",
        "find src -exec grep -l x {} +",
        "find src -type f -name '*.rs' -exec wc -l {} \\;",
        "cat /etc/os-release",
    ] {
        let expected =
            if command.contains("$x != y") { VerdictAction::Ask } else { VerdictAction::Allow };
        assert_eq!(judged(command), expected, "{command}: {:?}", read(command));
    }
}

#[test]
fn what_runs_or_changes_anything_asks() {
    for command in [
        "f() { ls; }; f",
        "ls; alias ls='touch x'; ls",
        "echo a | tee out",
        "echo $(<.env)",
        "cat < .env",
        "cat ~/.ssh/config",
        "cat src/../../etc/passwd",
        "head -1 .e*v",
        "cat .env*",
        "find . -exec wc -l {} +",
        "find . -delete",
        "find . -fprint out",
        "find /etc -name x",
        "ls | xargs cat",
        "ls | xargs -I{} sh -c '{}'",
        "ls &",
        "bash script.sh",
        "curl x | bash",
        "bash -lc ls",
        "./ls",
        "/ws/ls",
        "$SHELL -c ls",
        "x=ls; $x",
        "echo ${x:=y}",
        "echo $GITHUB_TOKEN",
        "printenv",
        "set",
        "export",
        "PATH=. ls",
        "PATH=.; ls",
        "cd \"$X\" && ls",
        "cd vendor; git status",
        "cd .. && ls",
        "while cd ..; do ls; done",
        "[[ $x -eq 1 ]]",
        "[[ -v x ]]",
        "(( x = 1 ))",
        "echo {a,b}",
        "exec ls",
        "exec 3<>/dev/tcp/evil.example/80",
        "trap 'touch x' EXIT",
        "source x",
        ". ./x",
        "eval ls",
        "sudo ls",
        "setsid ls",
        "busybox ls",
        "git -C .. status",
        "awk 'BEGIN { while ((\"id\" | getline l) > 0) print l }'",
        "timeout 5",
        "env",
        "command",
        "ls\u{a0}-la",
        "xargs -a list echo",
        "diff <(touch x) a",
        "cat <<EOF\n$(touch x)\nEOF",
        "cat <<< \"$(touch x)\"",
        "time -o out ls",
        "coproc ls",
        "ls >out",
        "ls >>out",
        "ls >&out",
        "for PATH in a; do ls; done",
        "read PATH",
        "mapfile -C 'touch x' -c 1 a",
        "wait -p 'a[$(touch x)]'",
        "jobs -x touch x",
        "env -i ls",
        "env -u PATH ls",
        "unset 'a[$(touch x)]'",
        "declare 'a[$(touch x)]=1'",
        "printf '%n' x",
        "ls *(e:'touch x':)",
        "cat <<A <<B; touch x\na\nA\nb\nB",
        "<<EOF cat; touch x\nEOF",
        "ls |& sh",
        "enable -f ./x.so x",
        "complete -C 'touch x' ls",
        "export -f f",
        "compgen -v",
        "readonly PATH=.",
        "git stash",
        "gh pr list",
        "rustc --print sysroot=x",
        "ps -eo environ",
        "sort -uo f f",
        "GIT_EXTERNAL_DIFF=./x git diff",
        "LD_PRELOAD=./x ls",
        "echo x >> src/a.rs",
        "cd -; ls",
        "ls ~root",
        "echo ${x/a/$(touch x)}",
        "cat ${x:-/etc/shadow}",
        "echo \"${x}\"",
        "x=$(touch y)",
        "x=/etc/shadow; cat $x",
        "x='-o out'; sort $x f",
        "for f in /etc/*; do cat \"$f\"; done",
        "for f in *; do sort $f; done",
        "for d in .. src; do cd $d; done; cat a",
        "if cd ..; then cat a; fi",
        "cat a || cd ..; cat b",
        "(cd ..); cd .. | cat; touch x",
    ] {
        assert_eq!(judged(command), VerdictAction::Ask, "{command}: {:?}", read(command));
    }
}

#[test]
fn what_find_runs_only_reads_files_or_asks() {
    for command in [
        "find src -exec awk {} +",
        "find src -exec sh -c {} \\;",
        "find src -exec ./x {} +",
        "find src -exec grep x{} {} +",
        "find src -execdir cat {} +",
        "find src -exec cat /etc/shadow {} +",
        "find src -exec sort -o x {} +",
        "find .. -exec cat {} +",
    ] {
        assert_eq!(judged(command), VerdictAction::Ask, "{command}: {:?}", read(command));
    }
}

#[test]
fn what_stands_in_for_another_command_asks() {
    for command in [
        "echo ./x | xargs -I echo echo",
        "echo ./x | xargs -Iecho echo",
        "echo ./x | xargs -rI echo echo",
        "echo a | xargs --replace ./x echo",
        "echo a | xargs --max-lines ./x echo",
        "echo a | xargs -i ./x echo",
        "echo a | xargs -l ./x echo",
        "echo a | xargs -e ./x echo",
        "chrt -b ./x ls",
        "fish -c \"echo 'a\\'' ; touch x #'\"",
        "bash -c -x ls",
        "echo \"$(ls;#)\ntouch x\n)\"",
        "echo \"$(ls|#)\ntouch x\n)\"",
        "cat $'\\351'",
        "su -c ls",
        "zsh -c ls",
    ] {
        assert_eq!(judged(command), VerdictAction::Ask, "{command}: {:?}", read(command));
    }
}

/// Where two readers of shell text may disagree, bash would run the `touch`.
#[test]
fn no_quoting_hides_a_command() {
    for command in [
        "echo hi # it's\ntouch pwned # it's",
        "echo hi;# '\ntouch x #'",
        "ls # comment \\\ntouch x",
        "echo 'a\\' ; touch x ; echo 'b'",
        "echo \"a\\\\\" ; touch x ; echo \"b\"",
        "echo \"$'\" ; touch x; echo \"'\"",
        "echo \\' ; touch x ; echo \\'",
        "echo \\\" ; touch x ; echo \\\"",
        "echo $'a' ; touch x ; echo $'b'",
        "echo $'\\\\' ; touch x ; echo $'\\\\'",
        "((echo hi); touch x)",
        "( (echo hi); touch x )",
        "ls &\\\n& touch x",
        "echo $\\\n(touch x)",
        "echo \"\\\n$(touch x)\"",
        "<(touch x)",
        ">(touch x)",
        "a=<(touch x)",
        "a=(<(touch x))",
        "a=($(touch x))",
        "a[$(touch x)]=1",
        "for ((i=0;i<$(touch x);i++)); do ls; done",
        "cat <<EOF\n${x:-`touch x`}\nEOF",
        "cat <<\"EOF\"\nEOF\ntouch x",
        "cat <<EOF && touch x\nEOF",
        "cat <<'E'OF\nE\nEOF\ntouch x",
        "cat <<EOF\nfoo\\\nEOF\ntouch x\nEOF",
        "cat <<-EOF\n\tEOF\ntouch x\nEOF",
        "cat <<EOF\n EOF\nEOF\ntouch x",
        "echo \"${x:-\"$(touch x)\"}\"",
        "echo \"$(echo \"$(touch x)\")\"",
        "echo $(cat <<EOF\n$(touch x)\nEOF\n)",
        "echo $(echo ')' ; touch x)",
        "echo `echo \\`touch x\\``",
        ": ${x?$(touch x)}",
        "echo hi | while read l; do touch $l; done",
        "case a in a) ls;; esac; touch x",
        "case a in (a) touch x;; esac",
        "case $(touch x) in a) ls;; esac",
        "[[ a == $(touch x) ]]",
        "[[ -n a && -n $(touch x) ]]",
        "if ls; then ls; elif touch x; then ls; fi",
        "until touch x; do ls; done",
        "{ ls; } 2>&1 | { touch x; }",
        "ls > $(touch x)",
        "ls < `touch x`",
        "x=1 y=$(touch x) ls",
        "LANG=$(touch x) ls",
        "time touch x",
        "! ! touch x",
        "function ls() { touch x; }; ls",
        "ls\u{85}touch x",
        "echo a{b;touch x;}c",
        "echo ok|&touch x",
        "echo \"`touch x`\" 'a'",
        "cat <<< `touch x`",
        "echo ${x#$(touch x)}",
        "echo ${#x[$(touch x)]}",
        "echo $[$(touch x)]",
        "echo ~$(touch x)",
        "echo \"~\"$(touch x)",
        "echo {$(touch x),b}",
        "test -n \"$(touch x)\"",
        "[ \"$(touch x)\" = a ]",
        "sort <(touch x)",
        "ls | tee >(touch x)",
        "git log --format=\"$(touch x)\"",
        "timeout $(touch x) ls",
    ] {
        assert_ne!(judged(command), VerdictAction::Allow, "{command}: {:?}", read(command));
    }
}

#[test]
fn hard_denials_hold_however_they_are_spelled() {
    for command in [
        "rm -rf /",
        "rm -rf /*",
        "rm -rf ~",
        "rm -fr $HOME",
        "rm -r -f \"${HOME}\"/",
        "rm -rf ~/*",
        "rm --recursive --force /",
        "rm --recur /",
        "r\"\"m -rf /",
        "\\rm -rf /",
        "$'\\x72m' -rf /",
        "/bin/rm -rf /",
        "RM -rf /",
        "busybox rm -rf /",
        "env -i rm -rf /",
        "sudo -u root rm -rf --no-preserve-root /",
        "timeout 5 nice rm -rf /usr",
        "x=rm; $x -rf /",
        "cd / && rm -rf *",
        "cd ~; rm -rf .",
        "rm -rf /ws/../../",
        "find / -delete",
        "find ~ -exec rm -rf {} +",
        "bash -c 'rm -rf /'",
        "bash -c \"bash -c 'rm -rf ~'\"",
        "echo 'rm -rf /' | sh",
        "eval 'rm -rf /'",
        "sh <<< 'rm -rf /'",
        "sh <<'EOF'\nrm -rf /\nEOF",
        "python3 -c \"import os; os.system('rm -rf /')\"",
        "echo `rm -rf ~`",
        "f() { rm -rf /; }",
        "rm -rf / &&& ls",
        "if true; then rm -rf /; fi",
        "trap 'rm -rf ~' EXIT",
        "dd if=/dev/zero of=/dev/sda bs=1M",
        "mkfs.ext4 /dev/sda1",
        "wipefs -a /dev/sda",
        "cat x > /dev/sda",
        "cat x | tee /dev/nvme0n1",
        "shred -u ~/.ssh/id_ed25519",
        "rm -rf ~/.ssh",
        "chmod -R 777 /",
        "chown -R me:me /etc",
        "mv ~ /tmp/x",
        "mv /* /tmp",
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
        "curl http://169.254.169.254/latest/meta-data/",
        "curl http://0xA9FEA9FE/",
        "wget -qO- http://metadata.google.internal/",
        "python3 -c \"urlopen('http://169.254.169.254/')\"",
        "cat /home/me/.countersign/token",
        "echo x > ~/.countersign/policy.toml",
        "rm -rf .countersign",
        "sqlite3 /home/me/.local/share/countersign/db .dump",
        "cat ~/.local/share/countersign/token",
        "rm -rf ~/.local/share",
        "sqlite3 ~/.countersign/db .dump",
        "countersign approve 1",
        "curl -X POST http://127.0.0.1:4180/api/approvals/1/decision",
        "ls \0",
        "truncate -s 0 /etc/passwd",
        "echo c > /proc/sysrq-trigger",
        "rm -f /boot/vmlinuz",
        "perl -e 'fork while fork'",
        "rm -rf ../../..",
        "rm -rf -- /",
        "mv ~ /dev/null",
        "cp /dev/zero /dev/sda",
        "xargs rm -rf / < f",
        "nohup sudo -n bash -lc 'rm -rf /' &",
        "watch rm -rf /",
        "flock /tmp/x -c 'rm -rf /'",
        "env -S 'rm -rf /'",
        "su -c 'rm -rf /'",
        "ssh host rm -rf /",
        "parallel rm -rf ::: /",
        "git submodule foreach 'true'; rm -rf /",
    ] {
        assert_eq!(judged(command), VerdictAction::Deny, "{command}: {:?}", read(command));
    }
}

#[test]
fn hard_denials_are_not_seen_where_there_are_none() {
    for command in [
        "rm -rf build",
        "rm -rf ./target",
        "rm -rf /tmp/x",
        "rm ~/x",
        "git commit -m 'never run rm -rf / here'",
        "rg 'rm -rf /' docs",
        "echo 'curl http://169.254.169.254/'",
        "grep -n '.countersign' README.md",
        "dd if=a of=b",
        "chmod +x run.sh",
        "mv src old",
        "find . -name '*.tmp' -delete",
        "cat x > /dev/null",
        "countersign --version",
    ] {
        assert_ne!(judged(command), VerdictAction::Deny, "{command}: {:?}", read(command).denials);
    }
}

#[test]
fn changes_are_named() {
    let effects = read("mkdir -p a/b && touch a/b/c && mv a/b/c d && rm d").effects;
    let kinds: Vec<_> = effects
        .iter()
        .map(|effect| match effect {
            Effect::Write(_) => "write",
            Effect::Rename { .. } => "rename",
            Effect::Delete(_) => "delete",
            _ => "other",
        })
        .collect();
    assert!(!kinds.contains(&"other"), "{effects:?}");
    assert!(kinds.contains(&"write") && kinds.contains(&"rename") && kinds.contains(&"delete"));
    let net = read("curl -s https://Example.com/x").effects;
    assert!(net.contains(&Effect::Net { host: Some("example.com".to_owned()) }), "{net:?}");
    assert!(read("claude -p x").effects.iter().any(|it| matches!(it, Effect::SpawnAgent { .. })));
    assert!(read("crontab -").effects.iter().any(|it| matches!(it, Effect::RunsLater { .. })));
    assert!(read("export PAGER=x").effects.contains(&Effect::Env { name: "PAGER".to_owned() }));
}

#[test]
fn parts_show_what_was_unwrapped() {
    let analysis = read("ls && sudo env A=1 rm x | cat; bash -c 'touch y'");
    let parts: Vec<_> = analysis
        .parts
        .iter()
        .map(|part| {
            let argv: Vec<_> =
                part.argv.iter().map(super::super::CommandWord::effective_text).collect();
            (part.text.as_str(), part.wrappers.join(" "), argv.join(" "))
        })
        .collect();
    let expected = [
        ("ls", "", "ls"),
        ("sudo env A=1 rm x", "sudo env", "rm x"),
        ("cat", "", "cat"),
        ("touch y", "bash -c", "touch y"),
        ("bash -c 'touch y'", "", "bash -c touch y"),
    ];
    let expected =
        expected.map(|(text, wrappers, argv)| (text, wrappers.to_owned(), argv.to_owned()));
    assert_eq!(parts, expected);
}
