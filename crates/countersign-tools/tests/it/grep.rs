use std::fs::File;
use std::time::{Duration, SystemTime};

use countersign_tools::ToolError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::{World, assert_has};

#[tokio::test]
async fn files_with_a_match_come_newest_first() {
    check(json!({"pattern": "fn \\w+"}), "Found 2 files\nsrc/b.rs\nsrc/a.rs").await;
    check(json!({"pattern": "nowhere"}), "No files found").await;
}

#[tokio::test]
async fn content_comes_with_path_and_number() {
    check(
        json!({"pattern": "fn", "output_mode": "content"}),
        "src/a.rs:1:fn one() {}\nsrc/a.rs:7:fn two() {}\nsrc/b.rs:1:FN; fn three()",
    )
    .await;
    check(
        json!({"pattern": "fn o", "output_mode": "content", "-n": false}),
        "src/a.rs:fn one() {}",
    )
    .await;
    check(json!({"pattern": "nowhere", "output_mode": "content"}), "No matches found").await;
}

#[tokio::test]
async fn context_is_set_apart() {
    check(
        json!({"pattern": "fn (one|two|three)", "output_mode": "content", "-A": 1}),
        "src/a.rs:1:fn one() {}\nsrc/a.rs-2-\n--\nsrc/a.rs:7:fn two() {}\n--\nsrc/b.rs:1:FN; fn three()",
    )
    .await;
    check(
        json!({"pattern": "two", "output_mode": "content", "-C": 1}),
        "src/a.rs-6-\nsrc/a.rs:7:fn two() {}",
    )
    .await;
}

#[tokio::test]
async fn counts_are_of_lines() {
    check(
        json!({"pattern": "fn", "output_mode": "count"}),
        "Found 3 matching lines in 2 files\nsrc/a.rs:2\nsrc/b.rs:1",
    )
    .await;
}

#[tokio::test]
async fn case_kind_glob_and_path_narrow_it_down() {
    check(json!({"pattern": "FN ", "-i": true}), "Found 2 files\nsrc/b.rs\nsrc/a.rs").await;
    check(json!({"pattern": "hello"}), "Found 2 files\nnotes.txt\nREAL.md").await;
    check(json!({"pattern": "hello", "type": "md"}), "Found 1 file\nREAL.md").await;
    check(json!({"pattern": "hello", "glob": "*.{txt,rs}"}), "Found 1 file\nnotes.txt").await;
    check(json!({"pattern": "hello", "glob": "!*.txt"}), "Found 1 file\nREAL.md").await;
    check(json!({"pattern": "hello", "path": "notes.txt"}), "Found 1 file\nnotes.txt").await;
    let unknown = world().fails("Grep", json!({"pattern": "x", "type": "klingon"})).await;
    assert_has(&unknown, "`klingon` is not known");
    let missing = world().fails("Grep", json!({"pattern": "x", "path": "none"})).await;
    assert_has(&missing, "`none` does not exist");
}

#[tokio::test]
async fn a_match_may_span_lines_when_asked_to() {
    check(
        json!({"pattern": "one.*?two", "multiline": true, "output_mode": "content", "head_limit": 1}),
        "src/a.rs:1:fn one() {}\n[6 more entries; go on with offset=1, or narrow the search]",
    )
    .await;
}

#[tokio::test]
async fn line_ends_of_windows_do_not_hide_the_end() {
    let world = World::with_file("a.txt", "word\r\n");
    let answer = world.ok("Grep", json!({"pattern": "word$", "output_mode": "content"})).await;
    assert_eq!(answer, "a.txt:1:word");
}

#[tokio::test]
async fn ignored_binary_linked_and_git_files_are_left_out() {
    let world = world();
    world.write("out.log", "needle");
    world.write(".git/config", "needle");
    world.write("bin", b"needle\0");
    std::fs::write(world.outside.join("x"), "needle").unwrap();
    world.link(&world.outside, "door");
    world.link(world.outside.join("x"), "linked");
    world.fifo("pipe");
    world.write(".hidden", "needle");
    assert_eq!(world.ok("Grep", json!({"pattern": "needle"})).await, "Found 1 file\n.hidden");
}

#[tokio::test]
async fn secrets_are_searched_only_by_name() {
    let world = World::with_file(".env", "TOKEN=needle");
    let answer = world.ok("Grep", json!({"pattern": "needle"})).await;
    assert_has(&answer, "No files found\n[1 files that may hold secrets were left out");
    let named = json!({"pattern": "needle", "path": ".env", "output_mode": "content"});
    assert_eq!(world.ok("Grep", named).await, ".env:1:TOKEN=needle");
}

#[tokio::test]
async fn other_encodings_are_searched_as_text() {
    let wide: Vec<u8> = "needle é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let world = World::with_file("wide.txt", [b"\xff\xfe", wide.as_slice()].concat());
    let answer = world.ok("Grep", json!({"pattern": "needle é", "output_mode": "content"})).await;
    assert_eq!(answer, "wide.txt:1:needle é");
}

#[tokio::test]
async fn a_long_answer_goes_on_where_it_was_cut() {
    let text: String = (1..=600).map(|number| format!("line {number}\n")).collect();
    let world = World::with_file("a", text);
    let mut input = json!({"pattern": "line", "output_mode": "content"});
    let first = world.ok("Grep", input.clone()).await;
    assert_eq!(first.lines().count(), 251);
    assert_has(&first, "[350 more entries; go on with offset=250");
    input["offset"] = 598.into();
    assert_eq!(world.ok("Grep", input.clone()).await, "a:599:line 599\na:600:line 600");
    input["offset"] = 600.into();
    assert_has(&world.ok("Grep", input.clone()).await, "none from offset=600 on");
    let wide = World::with_file("a", format!("line {}\n", "x".repeat(3000)).repeat(500));
    let input = json!({"pattern": "line", "output_mode": "content", "head_limit": 0});
    let answer = wide.ok("Grep", input).await;
    assert!(answer.len() < 31_000, "{}", answer.len());
    assert_has(&answer, "characters cut]");
    assert_has(&answer, "more entries; go on with offset=");
}

#[tokio::test]
async fn files_of_all_lengths_are_searched_to_their_end() {
    for length in [0, 1, 100, 65_535 - 8, 65_536 - 7, 65_536, 65_537, 200_000] {
        let text = "x\n".repeat(length / 2) + "needle\r\n";
        let world = World::with_file("a", &text);
        world.write("binary", text.clone() + "\0");
        for (mode, told) in [
            ("files_with_matches", "Found 1 file\na".to_owned()),
            ("count", "Found 1 matching lines in 1 files\na:1".to_owned()),
            ("content", format!("a:{}:needle", length / 2 + 1)),
        ] {
            let input = json!({"pattern": "^needle$", "output_mode": mode});
            assert_eq!(world.ok("Grep", input).await, told, "{length}");
        }
        let input = json!({"pattern": "needle\r\n", "multiline": true, "path": "a"});
        assert_eq!(world.ok("Grep", input).await, "Found 1 file\na", "{length}");
    }
}

#[tokio::test]
async fn secrets_are_left_out_folder_by_folder() {
    let world = World::new();
    let files = ["a/x.txt", "a/.env", "b/.env.example", ".docker/config.json", ".ssh/x.pub"];
    for name in files {
        world.write(name, "needle");
    }
    let answer = world.ok("Grep", json!({"pattern": "needle", "output_mode": "count"})).await;
    assert_has(
        &answer,
        "a/x.txt:1\nb/.env.example:1\n[3 files that may hold secrets were left out",
    );
}

#[tokio::test]
async fn a_cancelled_search_says_so() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = world().run_cancellable("Grep", json!({"pattern": "x"}), cancel).await;
    assert!(matches!(result, Err(ToolError::Interrupted)));
}

fn world() -> World {
    let world = World::new();
    for (age, (name, text)) in (0..).zip([
        ("src/a.rs", "fn one() {}\n\n\n\n\n\nfn two() {}\n"),
        ("src/b.rs", "FN; fn three()"),
        ("REAL.md", "hello\n"),
        ("notes.txt", "hello\n"),
    ]) {
        world.write(name, text);
        let file = File::options().write(true).open(world.path(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age)).unwrap();
    }
    world.write(".gitignore", "*.log\n");
    world
}

async fn check(input: Value, expected: &str) {
    assert_eq!(world().ok("Grep", input.clone()).await, expected, "{input}");
}
