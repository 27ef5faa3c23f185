use serde_json::json;

use crate::world::{World, assert_has};

#[tokio::test]
async fn a_folder_is_listed_with_what_each_entry_is() {
    let world = World::with_file("b.txt", "12345");
    world.write("a/inner.txt", "");
    world.write(".hidden", "x");
    world.link("b.txt", "link");
    world.fifo("pipe");
    let listed = world.ok("ListDir", json!({"path": "."})).await;
    let root = world.root.display();
    assert_eq!(
        listed,
        format!(
            "{root}/\n  .hidden (1 byte)\n  a/\n  b.txt (5 bytes)\n  link -> b.txt\n  pipe (no \
             regular file)\n"
        )
    );
}

#[tokio::test]
async fn deeper_levels_leave_out_what_git_ignores() {
    let world = World::with_file("src/deep/er/x.rs", "");
    world.write(".gitignore", "target\n");
    world.write("target/debug/out", "");
    world.write(".git/config", "");
    let listed = world.ok("ListDir", json!({"path": ".", "depth": 3})).await;
    let (_, entries) = listed.split_once('\n').unwrap();
    assert_eq!(
        entries,
        "  .git/\n  .gitignore (7 bytes)\n  src/\n    deep/\n      er/\n  target/\n"
    );
}

#[tokio::test]
async fn patterns_leave_names_out_at_every_level() {
    let world = World::with_file("a/x.o", "");
    world.write("a/x.c", "");
    world.write("y.o", "");
    world.write("node_modules/z", "");
    let input = json!({"path": ".", "depth": 2, "ignore": ["*.o", "node_modules/"]});
    let listed = world.ok("ListDir", input).await;
    assert!(listed.ends_with("/\n  a/\n    x.c (0 bytes)\n"), "{listed}");
    let broken = json!({"path": ".", "ignore": ["a["]});
    assert_has(&world.plan("ListDir", broken).unwrap_err().0, "`ignore`");
}

#[tokio::test]
async fn a_folder_of_many_is_cut_and_says_so() {
    let world = World::new();
    for number in 0..1_005 {
        world.write(&format!("{number:04}"), "");
    }
    let listed = world.ok("ListDir", json!({"path": "."})).await;
    assert_has(&listed, "  0999 (0 bytes)\n[5 more entries;");
    assert!(!listed.contains("  1000 "));
}

#[tokio::test]
async fn what_cannot_be_listed_is_said() {
    let world = World::with_file("file", "");
    std::fs::create_dir(world.path("empty")).unwrap();
    assert_has(&world.ok("ListDir", json!({"path": "empty"})).await, "(empty)");
    assert_has(&world.fails("ListDir", json!({"path": "file"})).await, "is a file; use Read");
    assert_has(&world.fails("ListDir", json!({"path": "none"})).await, "does not exist");
    assert_has(&world.fails("ListDir", json!({"path": ".", "depth": 11})).await, "at most 10");
    assert_has(&world.fails("ListDir", json!({"path": ".", "depth": 0})).await, "positive integer");
}

#[tokio::test]
async fn names_that_deceive_are_spelled_out() {
    let world = World::with_file("a\u{202e}txt.exe", "");
    assert_has(&world.ok("ListDir", json!({"path": "."})).await, "a\\u{202e}txt.exe");
}
