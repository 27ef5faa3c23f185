use std::fs::File;
use std::time::{Duration, SystemTime};

use countersign_tools::ToolError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{World, assert_has};

#[tokio::test]
async fn patterns_match_paths() {
    let world = world();
    check(&world, "**/*.rs", &["src/deep/b.rs", "src/a.rs"]).await;
    check(&world, "*.rs", &["src/deep/b.rs", "src/a.rs"]).await;
    check(&world, "src/*.rs", &["src/a.rs"]).await;
    check(&world, "./src/*.{rs,ts}", &["src/c.ts", "src/a.rs"]).await;
    check(&world, "*.none", &[]).await;
}

#[tokio::test]
async fn hidden_files_are_found_ignored_ones_and_git_are_not() {
    let world = world();
    check(&world, "**/*.yml", &[".github/ci.yml"]).await;
    check(&world, "*.log", &[]).await;
    check(&world, "**/config", &[]).await;
}

#[tokio::test]
async fn an_absolute_pattern_and_a_path_name_the_folder() {
    let world = world();
    let pattern = world.path("src/*.rs").display().to_string();
    check(&world, &pattern, &["src/a.rs"]).await;
    let answer = world.ok("Glob", json!({"pattern": "*.rs", "path": "src/deep"})).await;
    assert_eq!(answer, world.path("src/deep/b.rs").display().to_string());
    let fails = world.fails("Glob", json!({"pattern": "*", "path": "none"})).await;
    assert_has(&fails, "`none` does not exist");
    let fails = world.fails("Glob", json!({"pattern": "*", "path": "src/a.rs"})).await;
    assert_has(&fails, "is a file");
}

#[tokio::test]
async fn folders_behind_links_are_not_walked() {
    let world = world();
    std::fs::write(world.outside.join("out.rs"), "").unwrap();
    world.link(&world.outside, "door");
    check(&world, "**/out.rs", &[]).await;
}

#[tokio::test]
async fn of_many_the_newest_hundred_are_told() {
    let world = World::new();
    for number in 0..130 {
        file(&world, &format!("{number}.txt"), number);
    }
    let answer = world.ok("Glob", json!({"pattern": "*.txt"})).await;
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(lines.len(), 101);
    assert!(lines[0].ends_with("/129.txt") && lines[99].ends_with("/30.txt"));
    assert_has(lines[100], "30 more files match");
}

#[tokio::test]
async fn a_cancelled_search_says_so() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = world().run_cancellable("Glob", json!({"pattern": "*"}), cancel).await;
    assert!(matches!(result, Err(ToolError::Interrupted)));
}

/// From oldest to newest.
fn world() -> World {
    let world = World::new();
    for (age, name) in (0..).zip([
        "src/a.rs",
        "src/deep/b.rs",
        "src/c.ts",
        "out/x.log",
        "debug.log",
        ".github/ci.yml",
        ".git/config",
    ]) {
        file(&world, name, age);
    }
    world.write(".gitignore", "*.log\n");
    world
}

fn file(world: &World, name: &str, age: u64) {
    world.write(name, "");
    let file = File::options().write(true).open(world.path(name)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age)).unwrap();
}

async fn check(world: &World, pattern: &str, expected: &[&str]) {
    let answer = world.ok("Glob", json!({"pattern": pattern})).await;
    let expected: Vec<_> =
        expected.iter().map(|name| world.path(name).display().to_string()).collect();
    let expected = if expected.is_empty() { "No files found".into() } else { expected.join("\n") };
    assert_eq!(answer, expected, "{pattern}");
}
