use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn file(content: &str) -> FileState {
    FileState::File { digest: Digest::for_bytes(content.as_bytes()), mode: 0o644 }
}

fn change(path: &str, before: FileState, after: FileState) -> FileChange {
    FileChange { path: path.into(), before, after: Some(after) }
}

fn only(changes: &[FileChange], now: &FileState) -> FileReversal {
    let mut all = plan_reversals(changes, |_| now.clone());
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn a_path_goes_back_to_where_the_first_call_found_it() {
    let changes = [change("/w/a", file("1"), file("2")), change("/w/a", file("2"), file("3"))];
    let reversal = only(&changes, &file("3"));
    assert_eq!((reversal.before, reversal.hindrance), (file("1"), None));
}

#[test]
fn what_somebody_changed_since_stays() {
    let changes = [change("/w/a", file("1"), file("2"))];
    assert_eq!(only(&changes, &file("mine")).hindrance, Some(RestoreObstacle::ChangedSince));
    assert_eq!(only(&changes, &FileState::Absent).hindrance, Some(RestoreObstacle::ChangedSince));
}

#[test]
fn another_mode_is_a_change_too() {
    let changes = [change("/w/a", file("1"), file("2"))];
    let now = FileState::File { digest: Digest::for_bytes(b"2"), mode: 0o755 };
    assert_eq!(only(&changes, &now).hindrance, Some(RestoreObstacle::ChangedSince));
}

#[test]
fn what_somebody_changed_between_two_calls_stays() {
    let changes = [change("/w/a", file("1"), file("2")), change("/w/a", file("mine"), file("3"))];
    assert_eq!(only(&changes, &file("3")).hindrance, Some(RestoreObstacle::ChangedBetween));
}

#[test]
fn what_is_as_it_was_needs_nothing_whatever_happened_on_the_way() {
    let changes = [change("/w/a", file("1"), file("2")), change("/w/a", file("mine"), file("3"))];
    let reversal = only(&changes, &file("1"));
    assert!(reversal.is_done() && reversal.hindrance.is_none());
}

#[test]
fn a_call_that_was_broken_off_is_not_guessed_at() {
    let changes = [FileChange { path: "/w/a".into(), before: file("1"), after: None }];
    assert_eq!(only(&changes, &file("2")).hindrance, Some(RestoreObstacle::OutcomeUnknown));
}

#[test]
fn what_was_not_kept_cannot_come_back() {
    let before = FileState::NotKept { why: "it is too large".into() };
    let hindrance = only(&[change("/w/a", before, file("2"))], &file("2")).hindrance;
    assert_eq!(hindrance, Some(RestoreObstacle::NotKept("it is too large".into())));
}

#[test]
fn what_cannot_be_told_apart_is_not_overwritten() {
    let folder = FileState::NotKept { why: "it is a folder".into() };
    let reversal = only(&[change("/w/a", file("1"), folder.clone())], &folder);
    assert_eq!(reversal.hindrance, Some(RestoreObstacle::LeftNoFile("it is a folder".into())));
}

type World = BTreeMap<PathBuf, FileState>;

fn at(world: &World, path: &Path) -> FileState {
    world.get(path).cloned().unwrap_or(FileState::Absent)
}

proptest! {
    /// Whatever calls did to whichever files: undone, the world is what it was before them.
    #[test]
    fn undoing_any_calls_gives_the_world_before_them(
        start in prop::collection::vec(0u8..4, 3),
        writes in prop::collection::vec((0usize..3, 0u8..4), 0..12),
    ) {
        let side = |content: u8| if content == 0 { FileState::Absent } else { file(&content.to_string()) };
        let path = |index: usize| PathBuf::from(format!("/w/{index}"));
        let world: World = start.iter().enumerate().map(|(i, c)| (path(i), side(*c))).collect();
        let mut after = world.clone();
        let mut changes = Vec::new();
        for (index, content) in writes {
            let (path, left) = (path(index), side(content));
            let before = at(&after, &path);
            changes.push(FileChange { path: path.clone(), before, after: Some(left.clone()) });
            after.insert(path, left);
        }
        for FileReversal { path, before, hindrance, .. } in plan_reversals(&changes, |path| at(&after, path)) {
            prop_assert_eq!(hindrance, None);
            after.insert(path, before);
        }
        prop_assert_eq!(after, world);
    }
}
