//! The red team's calls that are no command lines: data, judged and never run.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use countersign_core::{CallPlan, Effect, Risk, ToolCall, parse_input, risk};
use serde_json::Value;

use crate::world::World;

/// Rows that fail until more names are protected in `countersign_core::PathClass`.
const PENDING: &[&str] = &[];

#[test]
fn no_attack_is_allowed_and_no_read_is_asked() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in rows() {
        let (id, must) = (text(&row["id"]), text(&row["must"]));
        let judged = judge(&row);
        let passes = match (must, &judged) {
            ("allow_ok", Some((risk, forbidden))) => *risk == Risk::Low && !forbidden,
            ("allow_ok", None) => false,
            ("deny", Some((_, forbidden))) => *forbidden,
            ("ask" | "not_allow", Some((risk, forbidden))) => *risk != Risk::Low || *forbidden,
            ("deny" | "ask" | "not_allow", None) => true,
            other => panic!("{other:?}"),
        };
        count += 1;
        if passes == PENDING.contains(&id) {
            wrong.push(format!("{id} {} {}: {must}, {judged:?}", row["tool"], row["technique"]));
        }
    }
    assert!(count > 60, "{count} rows");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the risk of a row's call and whether it is forbidden; none if it is refused as invalid.
fn judge(row: &Value) -> Option<(Risk, bool)> {
    let world = furnished(&row["given"]);
    let tool = text(&row["tool"]);
    let input = row["input"].to_string().replace("{{WS}}", world.root.to_str().unwrap());
    let input: Value = serde_json::from_str(&input).unwrap();
    let raw = input.get("__raw_json").map_or_else(|| input.to_string(), |it| text(it).to_owned());
    let call = ToolCall { input: parse_input(&raw).ok()?, ..world.call(tool, Value::Null) };
    let CallPlan { effects, .. } = world.catalogue.planner(tool)?.plan(&call).ok()?;
    let forbidden = effects.iter().any(|effect| matches!(effect, Effect::Forbidden { .. }));
    Some((risk::assess(&effects), forbidden))
}

/// Returns every row that needs no rules, no mode and no approval, and is no command line.
fn rows() -> Vec<Value> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../countersign-core/tests/fixtures/redteam");
    let mut rows = Vec::new();
    for name in ["commands.jsonl", "contextual.jsonl"] {
        let content = fs::read_to_string(folder.join(name)).unwrap();
        rows.extend(content.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    rows.retain(|row| !matches!(text(&row["tool"]), "Bash" | "__approval"));
    rows.retain(|row| !has_rules(&row["given"]) && row["given"].get("mode").is_none());
    rows
}

fn has_rules(given: &Value) -> bool {
    let rules = given["rules"].as_object();
    rules
        .is_some_and(|rules| rules.values().any(|it| it.as_array().is_none_or(|it| !it.is_empty())))
}

/// Returns a workspace with a little of everything in it, and what the row asks for.
fn furnished(given: &Value) -> World {
    let world = World::with_file("src/a.rs", "a");
    world.write("src/main.rs", "fn main() {}\n");
    world.write(".env.example", "KEY=\n");
    world.write("docs/index.md", "# docs\n");
    world.write("n.ipynb", r#"{"cells": [{"cell_type": "code", "source": ["1"]}], "nbformat": 4}"#);
    world.write(".github/workflows/ci.yml", "on: push\n");
    for file in given["files"].as_array().into_iter().flatten() {
        let path = world.path(text(&file["path"]));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let target = file["target"].as_str().unwrap_or_default();
        match text(&file["kind"]) {
            "file" => fs::write(path, target).unwrap(),
            "symlink" => symlink(at_home(&world, target), path).unwrap(),
            "fifo" => drop(world.fifo(text(&file["path"]))),
            "hardlink" => {
                let target = at_home(&world, target);
                fs::write(&target, "a").unwrap();
                fs::hard_link(target, path).unwrap();
            }
            other => panic!("{other}"),
        }
    }
    world
}

/// Returns a path with `~` as the folder next to the workspace.
fn at_home(world: &World, path: &str) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => world.outside.join(rest),
        None => PathBuf::from(path.replace("{{WS}}", world.root.to_str().unwrap())),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
