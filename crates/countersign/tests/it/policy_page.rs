//! `docs/policy.md` cannot lie: its rules are loaded, its lines judged, its explanation compared.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{countersign, stderr};

const PAGE: &str = include_str!("../../../../docs/policy.md");

/// A fenced block: what stands behind the fence, and what is in it.
struct Block {
    kind: String,
    body: String,
}

#[test]
fn every_line_of_the_page_gets_the_verdict_it_says() {
    let world = world();
    let mut rules: Option<String> = None;
    let mut judged = 0;
    for Block { kind, body } in blocks() {
        match kind.as_str() {
            "toml" => rules = Some(body),
            "verdicts" => {
                let lines: Vec<_> =
                    body.lines().map(|line| line.split_once(' ').unwrap()).collect();
                let verdicts = check(world.path(), rules.as_deref(), &lines);
                for ((said, call), verdict) in lines.iter().zip(&verdicts) {
                    assert_eq!(
                        verdict["verdict"],
                        *said,
                        "{}: {}",
                        call.trim(),
                        verdict["reasons"]
                    );
                }
                judged += lines.len();
            }
            _ => {}
        }
    }
    assert!(judged > 50, "{judged}");
}

#[test]
fn the_explanation_is_what_the_command_prints() {
    let world = world();
    let blocks = blocks();
    let at = blocks.iter().position(|block| block.kind == "explain").unwrap();
    let rules = blocks.iter().find(|block| block.kind == "toml").unwrap();
    fs::write(world.path().join("rules.toml"), &rules.body).unwrap();
    let home = tempfile::tempdir().unwrap();
    let out = countersign(home.path())
        .args(["policy", "explain", "--rules", "rules.toml", "--", blocks[at].body.trim()])
        .current_dir(world.path())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", stderr(&out));
    let root = world.path().canonicalize().unwrap();
    let printed = String::from_utf8(out.stdout).unwrap().replace(root.to_str().unwrap(), "/ws");
    assert_eq!(printed.trim_end(), blocks[at + 1].body.trim_end());
}

fn check(root: &Path, rules: Option<&str>, lines: &[(&str, &str)]) -> Vec<Value> {
    let mut args = vec!["policy", "check", "--jsonl", "-"];
    if let Some(rules) = rules {
        fs::write(root.join("rules.toml"), rules).unwrap();
        args.extend(["--rules", "rules.toml"]);
    }
    let home = tempfile::tempdir().unwrap();
    let mut child = countersign(home.path())
        .args(&args)
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let rows: String = lines.iter().map(|(_, call)| format!("{}\n", row(call.trim()))).collect();
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let found: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), lines.len());
    found
}

/// A line is a command, or a tool and the one thing its call is about.
fn row(call: &str) -> Value {
    let (first, about) = call.split_once(' ').unwrap_or((call, ""));
    let (tool, input) = match first {
        "Read" => ("Read", json!({ "file_path": about })),
        "Write" => ("Write", json!({ "file_path": about, "content": "x" })),
        "Edit" => ("Edit", json!({ "file_path": about, "old_string": "a", "new_string": "b" })),
        "WebFetch" => ("WebFetch", json!({ "url": about, "prompt": "x" })),
        tool if tool.starts_with("mcp__") || tool == "NoSuchTool" => (tool, json!({ "x": about })),
        _ => ("Bash", json!({ "command": call })),
    };
    json!({ "id": call, "tool": tool, "input": input })
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let body: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(Block { kind: kind.to_owned(), body: body.join("\n") });
    }
    blocks
}

/// A small project, with what the page speaks of.
fn world() -> TempDir {
    let world = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("src/main.rs", "a"),
        ("vendor/src/main.rs", "a"),
        ("vendor/secrets/key.txt", "a"),
        ("secrets/key.txt", "a"),
        ("migrations/1.sql", "a"),
        (".github/workflows/ci.yml", "a"),
        (".env", "KEY=1"),
        ("build.py", ""),
        ("package.json", "{}"),
    ] {
        let file = world.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    world
}
