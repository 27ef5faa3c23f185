//! `countersign policy`: what the rules say, on the command line.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::world::{countersign, stderr};

const RULES: &str = r#"
[permissions]
allow = ["Bash(cargo test:*)"]
deny = ["Bash(git push:*)"]

[[rule]]
id = "publish"
effect = "ask"
tool = "Bash"
argv = ["npm", "publish"]
rest = "any"
match = ["npm publish --tag next"]
not_match = ["npm pack"]
"#;

#[test]
fn one_call_gets_a_sentence_or_an_object() {
    let here = tempfile::tempdir().unwrap();
    let check = |input: &str, more: &[&str]| {
        let args = ["policy", "check", "--tool", "Bash", "--input", input];
        stdout(&policy(here.path(), &[&args[..], more].concat()))
    };
    assert_eq!(check(r#"{"command": "ls"}"#, &[]), "allow (LOW): reads inside the workspace\n");
    assert!(check(r#"{"command": "touch x"}"#, &[]).starts_with("ask (MEDIUM): "));
    assert!(check(r#"{"command": "touch x"}"#, &["--mode", "dontAsk"]).starts_with("deny "));
    let denied = check(r#"{"command": "rm -rf /"}"#, &["--json", "--mode", "bypassPermissions"]);
    let denied: Value = serde_json::from_str(&denied).unwrap();
    assert_eq!((&denied["verdict"], &denied["risk"]), (&json!("deny"), &json!("HIGH")));
    assert!(denied["reasons"][0].is_string() && denied["effects"][0]["kind"].is_string());
    for wrong in [r#"{"command": 1}"#, r#"{"command": "ls", "command": "rm x"}"#, "{", "[]", ""] {
        assert!(check(wrong, &[]).starts_with("deny (HIGH): "), "{wrong}");
    }
}

/// `git diff` compares all of its repository, from whichever folder it is run.
#[test]
fn git_in_a_folder_of_a_repository_reads_all_of_it() {
    let home = tempfile::tempdir().unwrap();
    let top = home.path().canonicalize().unwrap().join("repository");
    fs::create_dir_all(top.join("part")).unwrap();
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n\trepositoryformatversion = 0\n"),
        (".git/objects/k", ""),
        (".git/refs/k", ""),
    ] {
        fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
        fs::write(top.join(path), text).unwrap();
    }
    let check = |root: &Path, command: &str| -> Value {
        let (input, root) = (json!({ "command": command }).to_string(), root.to_str().unwrap());
        let args =
            ["policy", "check", "--tool", "Bash", "--root", root, "--json", "--input", &input];
        serde_json::from_str(&stdout(&policy(home.path(), &args))).unwrap()
    };
    for command in ["git -C part diff", "cd part && git status"] {
        let whole = check(&top, command);
        assert_eq!(whole["verdict"], "allow", "{whole}");
        let reads = |effect: &Value| effect["path"] == top.to_str().unwrap();
        assert!(whole["effects"].as_array().unwrap().iter().any(reads), "{whole}");
    }
    // What lies above the workspace is shown, too.
    for command in ["git diff", "git log -p -1", "git status"] {
        assert_eq!(check(&top.join("part"), command)["verdict"], "ask", "{command}");
    }
    assert_eq!(check(&top.join("part"), "git branch --show-current")["verdict"], "allow");
}

#[test]
fn what_a_workspace_allows_counts_once_exactly_that_is_trusted() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("ws");
    fs::create_dir(&root).unwrap();
    let run =
        |args: &[&str]| countersign(home.path()).args(args).current_dir(&root).output().unwrap();
    let says = || {
        let input = r#"{"command": "npm test"}"#;
        stdout(&run(&["policy", "check", "--tool", "Bash", "--input", input]))
    };
    fs::write(root.join("countersign.toml"), "[permissions]\nallow = ['Bash(npm test)']").unwrap();
    assert!(says().starts_with("ask "), "{}", says());
    let unsure = run(&["policy", "trust"]);
    assert!(!unsure.status.success() && stderr(&unsure).contains("Bash(npm test)"));
    assert!(stderr(&unsure).contains("hint: say --yes"), "{}", stderr(&unsure));
    assert!(run(&["policy", "trust", "--yes"]).status.success());
    assert!(says().starts_with("allow "), "{}", says());
    let more = "[permissions]\nallow = ['Bash(npm test)', 'Bash(npm *)']";
    fs::write(root.join("countersign.toml"), more).unwrap();
    assert!(says().starts_with("ask "), "{}", says());
}

#[test]
fn rules_come_from_a_file_or_from_the_workspace_which_may_only_tighten() {
    let here = tempfile::tempdir().unwrap();
    let check = |command: &str, more: &[&str]| {
        let input = json!({ "command": command }).to_string();
        let args = ["policy", "check", "--tool", "Bash", "--input", &input];
        stdout(&policy(here.path(), &[&args[..], more].concat()))
    };
    fs::write(here.path().join("countersign.toml"), RULES).unwrap();
    assert!(check("git push", &[]).starts_with("deny "));
    assert!(check("cargo test", &[]).starts_with("ask "), "nobody has trusted it");
    fs::rename(here.path().join("countersign.toml"), here.path().join("mine.toml")).unwrap();
    assert!(check("git push", &["--rules", "mine.toml"]).starts_with("deny "));
    assert!(check("cargo test --all", &["--rules", "mine.toml"]).starts_with("allow "));
    fs::write(here.path().join("countersign.toml"), "[permissions\n").unwrap();
    assert!(check("ls", &[]).starts_with("ask "), "what cannot be read makes everything ask");
}

#[test]
fn every_row_gets_its_verdict_in_order() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("a.txt"), "a").unwrap();
    let rows = [
        (json!({"id": 1, "tool": "Read", "input": {"file_path": "{{WS}}/a.txt"}}), "allow"),
        (json!({"id": "b", "tool": "Nothing", "input": {}}), "deny"),
        (json!({"id": 3, "tool": "__approval", "input": {"event": "approve"}}), "deny"),
        (bash("touch x", &json!({"rules": {"allow": ["Bash(touch:*)"]}})), "allow"),
        (bash("touch x", &json!({"rules": {"allow": "all"}})), "ask"),
        (
            bash(
                "touch x",
                &json!({"rules": {"deny": ["Bash(touch:*)"]}, "mode": "bypassPermissions"}),
            ),
            "deny",
        ),
        (bash("touch x", &json!({"mode": "acceptEdits"})), "allow"),
        (bash("touch x", &json!({"mode": "acceptEverything"})), "ask"),
        (bash("touch x", &json!({"mode": 7})), "deny"),
        (bash("ls", &json!({"env": {"PATH": ".:/usr/bin"}})), "ask"),
        (bash("ls", &json!({"env": {"LANG": "C"}})), "allow"),
        (bash("ls", &json!({"env": {"LD_PRELOAD": "{{WS}}/x.so"}})), "ask"),
        (bash("touch x", &json!({"sandbox": true})), "ask"),
        (bash("touch y", &json!({"learned_from": "touch x"})), "allow"),
        (bash("rm y", &json!({"learned_from": "touch x"})), "ask"),
        (
            json!({"tool": "Read", "input": {"__raw_json": "{\"file_path\": \"{{WS}}/a.txt\"}"}}),
            "allow",
        ),
        (
            json!({"tool": "Read", "input": {"__raw_json": "{\"file_path\": \"a\", \"file_path\": \"b\"}"}}),
            "deny",
        ),
        (json!({"tool": "Read"}), "deny"),
    ];
    let mut text: String = rows.iter().map(|(row, _)| format!("{row}\n\n")).collect();
    text.push_str("nonsense\n{\"id\": 9, \"tool\": \"Read\", \"input\": {\"file_path\": \"a\", \"file_path\": \"b\"}}");
    let output = fed(here.path(), &["policy", "check", "--jsonl", "-"], &text);
    assert!(output.status.success(), "{}", stderr(&output));
    let answers = lines(&output);
    for ((row, verdict), answer) in rows.iter().zip(&answers) {
        assert_eq!(&answer["verdict"], verdict, "{row} {answer}");
        assert_eq!(answer["id"], row["id"]);
    }
    let last: Vec<_> = answers[rows.len()..].iter().map(|it| (&it["id"], &it["verdict"])).collect();
    assert_eq!(last, [(&Value::Null, &json!("deny")), (&json!(9), &json!("deny"))]);
    let file = here.path().join("rows.jsonl");
    fs::write(&file, &text).unwrap();
    let again = policy(here.path(), &["policy", "check", "--jsonl", file.to_str().unwrap()]);
    assert_eq!(again.stdout, output.stdout, "a file is read like stdin");
}

/// What the workspace's file allows counts where the row says that it is trusted.
#[test]
fn trust_is_given_by_the_row() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("countersign.toml"), RULES).unwrap();
    let rows = [json!({}), json!({"trusted": false}), json!({"trusted": true})];
    let text: String =
        rows.iter().map(|given| format!("{}\n", bash("cargo test", given))).collect();
    let answers = lines(&fed(here.path(), &["policy", "check", "--jsonl", "-"], &text));
    let verdicts: Vec<_> = answers.iter().map(|it| it["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["ask", "ask", "allow"]);
    assert_eq!(answers[2]["rules"][0]["rule"], "Bash(cargo test:*)");
}

#[test]
fn an_explanation_points_at_the_parts_and_at_what_would_change_it() {
    let here = tempfile::tempdir().unwrap();
    let said =
        stdout(&policy(here.path(), &["policy", "explain", "--", "git status && rm -rf build"]));
    assert!(said.starts_with("ask: a person is asked"), "{said}");
    assert!(
        said.contains("^^^^^^^^^^^^ deletes") && said.contains("what would change it"),
        "{said}"
    );
    assert!(!said.contains('\u{1b}'), "no colours where no terminal is");
    let said = policy(here.path(), &["policy", "explain", "--json", "touch x"]);
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said["parts"][0]["verdict"], "ask");
    assert_eq!(said["always"][0]["rules"][0], "Bash(touch x)");
    let by_tool = ["policy", "explain", "--tool", "Nothing", "--input", "{}"];
    assert!(stdout(&policy(here.path(), &by_tool)).contains("no tool is called `Nothing`"));
}

#[test]
fn rules_are_tried_on_their_own_examples() {
    let here = tempfile::tempdir().unwrap();
    let none = policy(here.path(), &["policy", "test"]);
    assert_eq!(stdout(&none), "there are no rules to test\n");
    let file = here.path().join("countersign.toml");
    fs::write(&file, RULES).unwrap();
    let good = policy(here.path(), &["policy", "test"]);
    assert_eq!(stdout(&good), "3 rules, 2 examples hold; 0 failed, 0 warned of\n");
    let wrong = RULES.replace("npm pack", "npm publish").replace("cargo test:*", "cargo*");
    fs::write(&file, format!("{wrong}\n[[rule]]\neffect = \"deny\"\nargv = 1\n")).unwrap();
    let bad = policy(here.path(), &["policy", "test"]);
    assert_eq!(bad.status.code(), Some(1));
    let said = String::from_utf8(bad.stdout.clone()).unwrap();
    assert!(said.contains("must not match `npm publish`, and does"), "{said}");
    assert!(said.contains("warning: ") && said.contains("2 failed, 1 warned of"), "{said}");
    assert!(
        stderr(&bad).contains("error: 2 rules cannot be followed")
            && stderr(&bad).contains("hint: ")
    );
    let json = policy(here.path(), &["policy", "test", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["failures"].as_array().unwrap().len(), 2);
}

#[test]
fn wrong_usage_and_missing_files_are_said() {
    let here = tempfile::tempdir().unwrap();
    for wrong in [
        &["policy", "check"][..],
        &["policy", "check", "--tool", "Bash"],
        &["policy", "check", "--jsonl", "-", "--tool", "Bash", "--input", "{}"],
        &["policy", "check", "--tool", "Bash", "--input", "{}", "--mode", "fast"],
        &["policy", "explain"],
    ] {
        assert_eq!(policy(here.path(), wrong).status.code(), Some(2), "{wrong:?}");
    }
    for missing in ["--jsonl", "--rules", "--root"] {
        let mut args = vec!["policy", "check"];
        if missing != "--jsonl" {
            args.extend(["--tool", "Bash", "--input", "{}"]);
        }
        let output = policy(here.path(), &[&args[..], &[missing, "not/there"]].concat());
        assert_eq!(output.status.code(), Some(1), "{missing}");
        let said = stderr(&output);
        assert!(said.contains("`not/there`") && said.contains("\nhint: "), "{said}");
    }
}

fn bash(command: &str, given: &Value) -> Value {
    json!({"id": command, "tool": "Bash", "input": {"command": command}, "given": given})
}

fn policy(here: &Path, args: &[&str]) -> Output {
    fed(here, args, "")
}

fn fed(here: &Path, args: &[&str], text: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = countersign(home.path());
    command.args(args).current_dir(here).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that does not want it goes away before it is written.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = stdout(output);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
