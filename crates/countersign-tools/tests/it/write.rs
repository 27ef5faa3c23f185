use std::fs;

use countersign_core::{Digest, Effect, Preview, WorkspaceSide};
use countersign_tools::ToolError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::world::{World, assert_has};

#[tokio::test]
async fn a_new_file_is_written_with_its_folders() {
    let world = World::new();
    let path = world.path("new/deep/test.txt").display().to_string();
    let answer = world.ok("Write", write(&path, "hello world")).await;
    assert_eq!(answer, format!("Wrote 11 characters to {path}"));
    assert_eq!(world.text("new/deep/test.txt"), "hello world");
    assert_eq!(world.names(), ["new"], "no temporary file is left");
}

#[tokio::test]
async fn characters_are_counted_not_bytes() {
    let world = World::new();
    assert_eq!(world.ok("Write", write("a", "é試🦀")).await, "Wrote 3 characters to a");
}

#[test]
fn the_preview_is_a_diff_bound_to_the_file() {
    let world = World::new();
    let Preview::Diff(new) =
        world.preview("Write", write("/none/test.txt", "hello world")).unwrap()
    else {
        panic!("no diff")
    };
    assert!(new.is_new_file);
    let lines = ["--- a//none/test.txt", "+++ b//none/test.txt", "@@ -0,0 +1 @@", "+hello world"];
    assert_eq!(new.diff.lines, lines);
    assert_eq!(new.preimage.digest, None);
    world.write("a.txt", "old\n");
    let Preview::Diff(change) = world.preview("Write", write("a.txt", "new\n")).unwrap() else {
        panic!("no diff")
    };
    assert_eq!((change.diff.added, change.diff.removed), (1, 1));
    assert_eq!(change.preimage.path, world.path("a.txt"));
    assert_eq!(change.preimage.digest, Some(Digest::for_bytes(b"old\n")));
}

#[tokio::test]
async fn what_was_seen_is_what_runs() {
    let world = World::with_file("a.txt", "old");
    let permit = world.approve("Write", write("a.txt", "new"));
    world.run_permit(permit).await.unwrap();
    assert_eq!(world.text("a.txt"), "new");
}

#[tokio::test]
async fn a_file_that_changed_since_is_left_alone() {
    let world = World::with_file("a.txt", "old");
    let permit = world.approve("Write", write("a.txt", "new"));
    world.write("a.txt", "someone else's");
    let error = world.run_permit(permit).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`a.txt` has changed since it was approved; read it again and repeat the change"
    );
    assert_eq!(world.text("a.txt"), "someone else's");
}

#[tokio::test]
async fn a_file_that_came_or_went_since_is_drift() {
    let world = World::with_file("gone", "old");
    let permit = world.approve("Write", write("gone", "new"));
    fs::remove_file(world.path("gone")).unwrap();
    drifts(&world, permit).await;
    let permit = world.approve("Write", write("came", "new"));
    world.write("came", "");
    drifts(&world, permit).await;
    assert_eq!(world.names(), ["came"]);
    assert_eq!(world.text("came"), "");
}

#[tokio::test]
async fn a_link_put_in_the_way_since_is_not_followed() {
    let world = World::with_file("sub/a.txt", "same");
    fs::write(world.outside.join("a.txt"), "same").unwrap();
    let permit = world.approve("Write", write("sub/a.txt", "new"));
    fs::remove_file(world.path("sub/a.txt")).unwrap();
    fs::remove_dir(world.path("sub")).unwrap();
    world.link(&world.outside, "sub");
    let refused = world.run_permit(permit).await.unwrap_err();
    assert!(matches!(refused, ToolError::Moved), "{refused}");
    assert_eq!(fs::read_to_string(world.outside.join("a.txt")).unwrap(), "same");
}

#[tokio::test]
async fn a_link_is_written_through_and_stays() {
    let world = World::with_file("a.txt", "old");
    world.link("a.txt", "link");
    world.ok("Write", write("link", "new")).await;
    assert_eq!(world.text("a.txt"), "new");
    assert!(world.path("link").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_link_that_leaves_the_workspace_is_planned_as_outside() {
    let world = World::new();
    world.link(world.outside.join("a.txt"), "link");
    let plan = world.plan("Write", write("link", "x")).unwrap();
    let [Effect::Write(target)] = plan.effects.as_slice() else { panic!("{plan:?}") };
    assert_eq!(
        (target.path.clone(), target.place.side),
        (world.outside.join("a.txt"), WorkspaceSide::Outside)
    );
}

#[tokio::test]
async fn the_mode_is_kept() {
    let world = World::with_file("run.sh", "old");
    world.set_mode("run.sh", 0o751);
    world.ok("Write", write("run.sh", "new")).await;
    assert_eq!(world.mode("run.sh"), 0o751);
}

#[tokio::test]
async fn a_read_only_file_is_not_replaced() {
    let world = World::with_file("a.txt", "old");
    world.set_mode("a.txt", 0o444);
    assert_has(&world.fails("Write", write("a.txt", "new")).await, "is read-only");
    assert_has(&world.preview("Write", write("a.txt", "new")).unwrap_err().0, "is read-only");
    assert_eq!(world.text("a.txt"), "old");
}

#[tokio::test]
async fn only_regular_files_are_written() {
    let world = World::with_file("sub/a", "");
    world.fifo("pipe");
    assert_has(&world.fails("Write", write("sub", "x")).await, "is a folder");
    assert_has(&world.fails("Write", write("pipe", "x")).await, "is a FIFO");
    assert_has(&world.fails("Write", write("/dev/null", "x")).await, "is a device");
    assert_has(&world.fails("Write", write("sub/a/b", "x")).await, "could not");
}

#[tokio::test]
async fn the_encoding_is_kept_as_the_diff_does_not_show_it() {
    let world = World::with_file("a.txt", b"\xff\xfeo\0l\0d\0");
    let permit = world.approve("Write", write("a.txt", "né"));
    world.run_permit(permit).await.unwrap();
    assert_eq!(world.bytes("a.txt"), b"\xff\xfen\0\xe9\0");
}

#[tokio::test]
async fn what_cannot_be_shown_as_a_diff_is_bound_all_the_same() {
    let world = World::with_file("a.bin", b"\0\x01\x02");
    let preview = world.preview("Write", write("a.bin", "text")).unwrap();
    let Preview::Diff(change) = &preview else { panic!("{preview:?}") };
    assert!(change.is_binary && change.diff.lines.is_empty());
    assert_eq!((change.original_size, change.new_size), (Some(3), Some(4)));
    assert_eq!(change.new_content.as_deref(), Some("text"), "what will be there can be read");
    assert_eq!(preview.preimages().len(), 1);
    let permit = world.approve("Write", write("a.bin", "text"));
    world.write("a.bin", b"\0\x01\x03");
    drifts(&world, permit).await;
}

#[test]
fn a_change_of_line_ends_is_told() {
    let world = World::with_file("a.txt", "a\r\nb\r\n");
    let Preview::Diff(change) = world.preview("Write", write("a.txt", "a\nb")).unwrap() else {
        panic!("no diff")
    };
    let told = serde_json::to_value(change.line_endings).unwrap();
    assert_eq!(told, json!({"from": "CRLF", "to": "LF", "final_newline": "removed"}));
}

#[test]
fn a_file_with_a_second_name_is_not_judged_by_the_first() {
    let world = World::new();
    fs::write(world.outside.join("rc"), "a").unwrap();
    fs::hard_link(world.outside.join("rc"), world.path("hard.txt")).unwrap();
    let plan = world.plan("Write", write("hard.txt", "x")).unwrap();
    let [Effect::Write(_), Effect::Opaque { why }] = plan.effects.as_slice() else {
        panic!("{plan:?}")
    };
    assert_has(why, "`hard.txt` has another name (hard link)");
}

#[test]
fn names_that_deceive_are_no_paths() {
    let world = World::new();
    for path in ["a\nb", "a\u{1b}[2K", "", "~/.bashrc"] {
        assert!(world.plan("Write", write(path, "x")).is_err(), "{path:?}");
        assert!(world.plan("Read", json!({"file_path": path})).is_err(), "{path:?}");
    }
}

#[tokio::test]
async fn a_cancelled_write_does_not_start() {
    let world = World::new();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let error = world.run_cancellable("Write", write("a", "x"), cancel).await.unwrap_err();
    assert!(matches!(error, ToolError::Interrupted));
    assert_eq!(world.names(), Vec::<String>::new());
}

async fn drifts(world: &World, permit: countersign_core::Permit) {
    let error = world.run_permit(permit).await.unwrap_err();
    assert!(matches!(error, ToolError::Drift { .. }), "{error}");
}

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}
