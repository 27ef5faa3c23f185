use std::fmt::Write;

use proptest::prelude::*;
use serde_json::json;

use crate::world::{World, assert_has};

#[tokio::test]
async fn lines_come_with_their_numbers() {
    let world = World::with_file("a.txt", "one\ntwo\r\nthree");
    assert_eq!(read(&world, "a.txt").await, "     1\tone\n     2\ttwo\n     3\tthree\n");
}

#[tokio::test]
async fn a_long_file_says_how_to_go_on() {
    let text: String = (1..=4500).map(|number| format!("line {number}\n")).collect();
    let world = World::with_file("a.txt", text);
    let first = read(&world, "a.txt").await;
    assert_has(&first, "  2000\tline 2000\n");
    assert!(first.ends_with("\n[Lines 1 to 2000 of 4500. Go on with offset=2001]\n"));
    let next = world.ok("Read", json!({"file_path": "a.txt", "offset": 4499, "limit": 10})).await;
    assert_eq!(next, "  4499\tline 4499\n  4500\tline 4500\n");
}

#[tokio::test]
async fn long_lines_are_cut_and_the_cut_is_marked() {
    let world = World::with_file("a.txt", format!("{}\nshort\n", "é".repeat(2500)));
    let answer = read(&world, "a.txt").await;
    assert_has(&answer, &format!("{}… [500 characters cut]\n     2\tshort\n", "é".repeat(2000)));
    let exact = World::with_file("a.txt", format!("{}\r\n", "x".repeat(2000)));
    assert!(!read(&exact, "a.txt").await.contains("cut"));
}

#[tokio::test]
async fn what_there_is_not_to_read_is_said() {
    let world = World::with_file("empty", "");
    assert_eq!(read(&world, "empty").await, "(`empty` exists but is empty)");
    world.write("three", "1\n2\n3\n");
    let behind = world.fails("Read", json!({"file_path": "three", "offset": 4})).await;
    assert_has(&behind, "`three` has 3 lines: there is nothing from line 4 on");
    assert_has(&fails(&world, ".").await, "is a folder; list it with Glob");
    assert_has(&fails(&world, "none/at/all").await, "`none/at/all` does not exist");
}

#[tokio::test]
async fn a_missing_file_brings_up_the_one_that_was_meant() {
    let world = World::with_file("src/main.rs", "");
    assert_has(&fails(&world, "src/mian.rs").await, "did you mean `main.rs`?");
    assert_has(&fails(&world, "src/Main.rs").await, "did you mean `main.rs`?");
    assert_has(&fails(&world, "src/main.ts").await, "did you mean `main.rs`?");
    assert_has(&fails(&world, "src/other.rs").await, "find it with Glob");
}

#[tokio::test]
async fn names_outside_the_workspace_are_not_given_away() {
    let world = World::new();
    std::fs::write(world.outside.join("secret.txt"), "").unwrap();
    let path = world.outside.join("secrets.txt");
    assert!(!fails(&world, path.to_str().unwrap()).await.contains("did you mean"));
}

#[tokio::test]
async fn binary_files_are_not_shown() {
    let world = World::with_file("a.bin", b"\x7fELF\0\0\0\0");
    assert_has(&fails(&world, "a.bin").await, "is a binary file (8 bytes)");
}

#[tokio::test]
async fn old_encodings_are_shown_as_far_as_they_go() {
    let world = World::with_file("a.txt", b"caf\xe9\nplain text\n");
    let answer = read(&world, "a.txt").await;
    assert_has(&answer, "     1\tcaf\u{fffd}\n     2\tplain text\n");
    assert_has(&answer, "Not all of it is valid text");
}

#[tokio::test]
async fn byte_order_marks_are_understood() {
    let world = World::with_file("bom", b"\xef\xbb\xbfone\ntwo\n");
    let expected = "     1\tone\n     2\ttwo\n";
    assert_eq!(read(&world, "bom").await, expected);
    let units = || "one\r\ntwo\r\n".encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    world.write("le", [b"\xff\xfe", little.as_slice()].concat());
    world.write("be", [b"\xfe\xff", big.as_slice()].concat());
    assert_eq!(read(&world, "le").await, expected);
    assert_eq!(read(&world, "be").await, expected);
}

#[tokio::test]
async fn only_regular_files_are_read_and_none_hangs() {
    let world = World::new();
    world.fifo("pipe");
    assert_has(&fails(&world, "pipe").await, "is a FIFO");
    assert_has(&fails(&world, "/dev/zero").await, "is a device");
}

#[tokio::test]
async fn a_huge_file_is_read_in_part_without_holding_it() {
    let world = World::with_file("huge", "first\n");
    let file = std::fs::OpenOptions::new().write(true).open(world.path("huge")).unwrap();
    // Sparse: eight gigabytes of nothing behind the first line would take minutes to count.
    file.set_len(8 << 30).unwrap();
    let answer = fails(&world, "huge").await;
    assert_has(&answer, "is a binary file (8.5 GB)");
    let mut text = String::new();
    for number in 0..100_000 {
        writeln!(text, "{number} {}", "x".repeat(800)).unwrap();
    }
    world.write("long", &text);
    let answer = world.ok("Read", json!({"file_path": "long", "limit": 1})).await;
    assert_has(&answer, "[Lines 1 to 1 of more than ");
}

#[tokio::test]
async fn an_answer_has_an_end() {
    let world = World::with_file("wide", format!("{}\n", "x".repeat(1999)).repeat(1000));
    let answer = read(&world, "wide").await;
    assert!(answer.len() < 210_000);
    assert_has(&answer, "of 1000. Go on with offset=");
}

#[tokio::test]
async fn links_are_followed_by_the_plan_not_by_the_run() {
    let world = World::with_file("a.txt", "inside\n");
    world.link("a.txt", "link");
    assert_has(&read(&world, "link").await, "inside");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn parts_make_up_the_whole(
        lines in proptest::collection::vec("[a-z é]{0,12}", 1..30),
        limit in 1_usize..8,
        final_end in any::<bool>(),
    ) {
        let mut text = lines.join("\n");
        if final_end || lines.last().unwrap().is_empty() {
            text.push('\n');
        }
        let world = World::with_file("a.txt", &text);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut seen = Vec::new();
        for offset in (1..=lines.len()).step_by(limit) {
            let input = json!({"file_path": "a.txt", "offset": offset, "limit": limit});
            let part = runtime.block_on(world.ok("Read", input));
            seen.extend(part.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())));
        }
        prop_assert_eq!(seen, lines);
    }
}

async fn read(world: &World, path: &str) -> String {
    world.ok("Read", json!({"file_path": path})).await
}

async fn fails(world: &World, path: &str) -> String {
    world.fails("Read", json!({"file_path": path})).await
}

/// Judged inside, run outside: the link that makes the difference is noticed.
#[tokio::test]
async fn a_link_swapped_after_the_judging_is_not_followed() {
    let world = World::with_file("inside.txt", "harmless");
    std::fs::write(world.outside.join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(world.path("inside.txt"), world.path("link")).unwrap();
    let permit = world.permitted("Read", json!({"file_path": "link"})).unwrap();
    std::fs::remove_file(world.path("link")).unwrap();
    std::os::unix::fs::symlink(world.outside.join("secret.txt"), world.path("link")).unwrap();
    let refused = world.run_permit(permit).await.unwrap_err();
    assert!(refused.to_string().contains("has changed since it was judged"), "{refused}");
}
