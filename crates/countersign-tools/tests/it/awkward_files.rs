//! Files that are not plain, and every tool that changes files: each keeps what it does not change,
//! or refuses in words and leaves the file as it was.

use std::fs;

use countersign_core::{Effect, WorkspaceSide};
use countersign_tools::ToolError;
use serde_json::{Value, json};

use crate::world::{World, assert_has};

/// The same change by each tool: the first line, `old`, becomes `new`; the second, `keep`, stays.
fn changes(path: &str) -> Vec<(&'static str, Value)> {
    vec![("Write", json!({"file_path": path, "content": "new\nkeep\n"}))]
        .into_iter()
        .chain(careful(path))
        .collect()
}

/// The tools that look for what they change.
fn careful(path: &str) -> Vec<(&'static str, Value)> {
    let edit = json!({"old_string": "old", "new_string": "new"});
    let unified = format!("--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-old\n+new\n keep\n");
    let lines =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+new\n keep\n*** End Patch\n");
    vec![
        ("Edit", json!({"file_path": path, "old_string": "old", "new_string": "new"})),
        ("MultiEdit", json!({"file_path": path, "edits": [edit]})),
        ("ApplyPatch", json!({"patch": unified})),
        ("ApplyPatch", json!({"patch": lines})),
    ]
}

/// The ways to do away with a file.
fn removals(path: &str) -> Vec<(&'static str, Value)> {
    let whole = |body: &str| {
        ("ApplyPatch", json!({"patch": format!("*** Begin Patch\n{body}*** End Patch\n")}))
    };
    vec![
        whole(&format!("*** Delete File: {path}\n")),
        whole(&format!("*** Update File: {path}\n*** Move to: moved\n")),
    ]
}

#[tokio::test]
async fn line_ends_of_windows_stay() {
    keeps(b"old\r\nkeep\r\n", b"new\r\nkeep\r\n").await;
    keeps(b"old\nkeep\n\r\nmixed\r\n", b"new\nkeep\n\r\nmixed\r\n").await;
}

#[tokio::test]
async fn marks_and_encodings_stay() {
    keeps(b"\xef\xbb\xbfold\nkeep\n", b"\xef\xbb\xbfnew\nkeep\n").await;
    keeps(b"\xef\xbb\xbfold\r\nkeep", b"\xef\xbb\xbfnew\r\nkeep").await;
    let wide = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    keeps(&wide("old\nkeep\n"), &wide("new\nkeep\n")).await;
    for mark in [b"\xef\xbb\xbf".as_slice(), b""] {
        let world = World::with_file("a", [mark, b"old\nkeep\n"].concat());
        let (tool, input) = changes("a").remove(0);
        world.approved(tool, input).await.unwrap();
        assert_eq!(world.bytes("a"), [mark, b"new\nkeep\n"].concat(), "a whole new text too");
    }
}

#[tokio::test]
async fn what_is_no_text_is_left_alone_by_whoever_looks_for_text() {
    for bytes in [b"old\nkeep\n\xff\n".as_slice(), b"old\nkeep\n\xed\xa0\x80", b"old\nkeep\n\0"] {
        let world = World::with_file("a", bytes);
        for (tool, input) in careful("a") {
            let failed = world.fails(tool, input.clone()).await;
            let known = ["neither UTF-8 nor UTF-16", "is a binary file"];
            assert!(known.iter().any(|says| failed.contains(says)), "{tool}: {failed}");
            assert_eq!(world.preview(tool, input).unwrap_err().0, failed, "{tool}: as it is shown");
            assert_eq!(world.bytes("a"), bytes, "{tool}");
        }
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_by_their_size() {
    let world = World::with_file("a", "old\nkeep\n");
    let file = fs::File::options().write(true).open(world.path("a")).unwrap();
    file.set_len(100_000_000).unwrap();
    for (tool, input) in changes("a").into_iter().chain(removals("a")) {
        let failed = world.fails(tool, input.clone()).await;
        assert_has(&failed, "is too large to be changed as a whole (100.0 MB");
        assert_eq!(world.preview(tool, input).unwrap_err().0, failed, "{tool}");
        assert_eq!(file.metadata().unwrap().len(), 100_000_000, "{tool}");
    }
    assert_eq!(world.names(), ["a"]);
}

#[tokio::test]
async fn an_empty_file_lacks_what_is_looked_for() {
    let world = World::with_file("a", "");
    for (tool, input) in careful("a") {
        let failed = world.fails(tool, input).await;
        let known = ["old_string is not in `a`", "part 1 of the change to `a` does not fit"];
        assert!(known.iter().any(|says| failed.contains(says)), "{tool}: {failed}");
        assert_eq!(world.text("a"), "", "{tool}");
    }
    let grows = "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+one\n";
    world.approved("ApplyPatch", json!({"patch": grows})).await.unwrap();
    assert_eq!(world.text("a"), "one\n");
}

#[tokio::test]
async fn a_link_is_followed_stays_and_is_judged_by_where_it_leads() {
    for at in 0..changes("link").len() {
        let world = World::with_file("a", "old\nkeep\n");
        world.link("a", "link");
        let (tool, input) = changes("link").remove(at);
        world.approved(tool, input).await.unwrap();
        assert_eq!(world.text("a"), "new\nkeep\n", "{tool}");
        assert!(world.path("link").symlink_metadata().unwrap().is_symlink(), "{tool}");

        fs::write(world.outside.join("far"), "old\nkeep\n").unwrap();
        world.link(world.outside.join("far"), "away");
        let (tool, input) = changes("away").remove(at);
        let plan = world.plan(tool, input).unwrap();
        let written = plan.effects.iter().find_map(|effect| match effect {
            Effect::Write(target) => Some((target.path.clone(), target.place.side)),
            _ => None,
        });
        assert_eq!(written, Some((world.outside.join("far"), WorkspaceSide::Outside)), "{tool}");
    }
    let world = World::with_file("a", "old\nkeep\n");
    world.link("a", "link");
    for (tool, input) in removals("link") {
        assert_has(&world.fails(tool, input).await, "`link` is a link");
    }
    assert_eq!(world.names(), ["a", "link"]);
}

#[tokio::test]
async fn a_link_put_in_the_way_since_leads_nowhere() {
    for (tool, input) in changes("sub/a").into_iter().chain(removals("sub/a")) {
        let world = World::with_file("sub/a", "old\nkeep\n");
        fs::write(world.outside.join("a"), "old\nkeep\n").unwrap();
        let permit = world.approve(tool, input);
        fs::rename(world.path("sub"), world.path("was")).unwrap();
        world.link(&world.outside, "sub");
        let refused = world.run_permit(permit).await.unwrap_err();
        assert!(matches!(refused, ToolError::Moved), "{tool}: {refused}");
        assert_eq!(fs::read(world.outside.join("a")).unwrap(), b"old\nkeep\n", "{tool}");
        assert_eq!(world.text("was/a"), "old\nkeep\n", "{tool}");
    }
}

#[tokio::test]
async fn a_read_only_file_stays_as_it_is() {
    let world = World::with_file("a", "old\nkeep\n");
    world.set_mode("a", 0o444);
    for (tool, input) in changes("a").into_iter().chain(removals("a")) {
        let failed = world.fails(tool, input.clone()).await;
        assert_has(&failed, "`a` is read-only; ask the user before you change its mode");
        assert_eq!(world.preview(tool, input).unwrap_err().0, failed, "{tool}: nobody is asked");
        assert_eq!((world.text("a").as_str(), world.mode("a")), ("old\nkeep\n", 0o444), "{tool}");
        assert_eq!(world.names(), ["a"], "{tool}");
    }
}

#[tokio::test]
async fn a_file_that_vanished_does_not_come_back() {
    for (tool, input) in changes("a").into_iter().chain(removals("a")) {
        let world = World::with_file("a", "old\nkeep\n");
        let permit = world.approve(tool, input.clone());
        fs::remove_file(world.path("a")).unwrap();
        let refused = world.run_permit(permit).await.unwrap_err();
        assert!(matches!(refused, ToolError::Drift { .. }), "{tool}: {refused}");
        assert_eq!(world.names(), Vec::<String>::new(), "{tool}");
        if tool != "Write" {
            assert_has(&world.fails(tool, input).await, "`a` does not exist");
            assert_eq!(world.names(), Vec::<String>::new(), "{tool}");
        }
    }
}

async fn keeps(before: &[u8], after: &[u8]) {
    for (tool, input) in careful("a") {
        let world = World::with_file("a", before);
        world.approved(tool, input.clone()).await.unwrap();
        assert_eq!(world.bytes("a"), after, "{tool} {input}");
    }
}
