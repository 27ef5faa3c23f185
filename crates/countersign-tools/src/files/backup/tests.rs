use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use countersign_core::{EffectTarget, FileReversal, PathClass, WorkspaceSide, plan_reversals};

use super::*;

struct World {
    _folder: tempfile::TempDir,
    keep: BackupStore,
    root: PathBuf,
}

impl World {
    fn with(limits: BackupLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let keep = BackupStore::open(&folder.path().join("kept"), limits).unwrap();
        Self { _folder: folder, keep, root }
    }

    fn new() -> Self {
        Self::with(BackupLimits::default())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), content).unwrap();
    }

    fn target(&self, name: &str) -> EffectTarget {
        EffectTarget::new(self.path(name), PathClass { side: WorkspaceSide::Inside, special: None })
    }

    fn plan(changes: &[FileChange]) -> Vec<FileReversal> {
        plan_reversals(changes, BackupStore::read_file_state)
    }

    fn undo(&self, changes: &[FileChange]) {
        for reversal in Self::plan(changes) {
            self.keep.restore(&reversal).unwrap();
        }
    }
}

fn names(changes: &[FileChange]) -> Vec<String> {
    let name =
        |change: &FileChange| change.path.file_name().unwrap().to_string_lossy().into_owned();
    changes.iter().map(name).collect()
}

#[test]
fn a_file_comes_back_with_its_content_and_mode() {
    let world = World::new();
    world.write("run.sh", "echo 1\n");
    std::fs::set_permissions(world.path("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    let kept = world.keep.back_up(&[Effect::Write(world.target("run.sh"))]).unwrap();
    std::fs::remove_file(world.path("run.sh")).unwrap();
    world.write("run.sh", "echo 2\n");
    world.undo(&world.keep.collect_changes(kept));
    assert_eq!(std::fs::read_to_string(world.path("run.sh")).unwrap(), "echo 1\n");
    let mode = world.path("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn a_file_that_came_goes() {
    let world = World::new();
    let kept = world.keep.back_up(&[Effect::Write(world.target("new"))]).unwrap();
    world.write("new", "x");
    world.undo(&world.keep.collect_changes(kept));
    assert!(!world.path("new").exists());
}

#[test]
fn what_was_moved_is_where_it_was() {
    let world = World::new();
    world.write("from", "a");
    world.write("to", "b");
    let moved = Effect::Rename { from: world.target("from"), to: world.target("to") };
    let kept = world.keep.back_up(&[moved]).unwrap();
    std::fs::rename(world.path("from"), world.path("to")).unwrap();
    world.undo(&world.keep.collect_changes(kept));
    assert_eq!(std::fs::read_to_string(world.path("from")).unwrap(), "a");
    assert_eq!(std::fs::read_to_string(world.path("to")).unwrap(), "b");
}

#[test]
fn a_folder_that_was_removed_comes_back_with_its_files() {
    let world = World::new();
    world.write("src/a", "a");
    world.write("src/deep/b", "b");
    let kept = world.keep.back_up(&[Effect::Delete(world.target("src"))]).unwrap();
    std::fs::remove_dir_all(world.path("src")).unwrap();
    world.undo(&world.keep.collect_changes(kept));
    assert_eq!(std::fs::read_to_string(world.path("src/a")).unwrap(), "a");
    assert_eq!(std::fs::read_to_string(world.path("src/deep/b")).unwrap(), "b");
}

#[test]
fn the_files_of_a_folder_that_came_go() {
    let world = World::new();
    let kept = world.keep.back_up(&[Effect::Write(world.target("out"))]).unwrap();
    world.write("out/a", "a");
    world.write("out/deep/b", "b");
    let mut changes = world.keep.collect_changes(kept);
    changes.sort_by(|left, right| left.path.cmp(&right.path));
    assert_eq!(names(&changes), ["a", "b"]);
    world.undo(&changes);
    assert!(!world.path("out/a").exists() && !world.path("out/deep/b").exists());
}

#[test]
fn what_is_as_it_was_is_no_change_and_reading_keeps_nothing() {
    let world = World::new();
    world.write("a", "a");
    let kept = world.keep.back_up(&[Effect::Write(world.target("a"))]).unwrap();
    assert_eq!(world.keep.collect_changes(kept), []);
    assert!(world.keep.back_up(&[Effect::Read(world.target("a"))]).is_none());
}

#[test]
fn what_somebody_changed_since_is_left_alone() {
    let world = World::new();
    world.write("a", "1");
    let kept = world.keep.back_up(&[Effect::Write(world.target("a"))]).unwrap();
    world.write("a", "2");
    let changes = world.keep.collect_changes(kept);
    let shown = World::plan(&changes).remove(0);
    world.write("a", "mine");
    assert!(matches!(world.keep.restore(&shown), Err(RestoreError::Changed)));
    let again = World::plan(&changes).remove(0);
    assert!(matches!(world.keep.restore(&again), Err(RestoreError::Hindered(_))));
    assert_eq!(std::fs::read_to_string(world.path("a")).unwrap(), "mine");
}

#[test]
fn the_diff_leads_from_what_is_to_what_was() {
    let world = World::new();
    world.write("a", "one\n");
    let kept = world.keep.back_up(&[Effect::Write(world.target("a"))]).unwrap();
    world.write("a", "two\n");
    let shown = world.keep.show(&World::plan(&world.keep.collect_changes(kept)).remove(0)).unwrap();
    let lines: Vec<_> = shown.diff.lines.iter().skip_while(|it| !it.starts_with("@@")).collect();
    assert_eq!(lines, ["@@ -1 +1 @@", "-two", "+one"]);
}

#[test]
fn a_link_is_neither_followed_nor_kept() {
    let world = World::new();
    world.write("real", "secret");
    std::os::unix::fs::symlink(world.path("real"), world.path("link")).unwrap();
    let kept = world.keep.back_up(&[Effect::Write(world.target("link"))]).unwrap();
    assert!(
        matches!(&kept.changes()[0].before, FileState::NotKept { why } if why == "it is a link")
    );
}

#[test]
fn too_much_is_not_kept_and_says_so() {
    let limits = BackupLimits { bytes_of_call: 3, files_of_call: 2, ..BackupLimits::default() };
    let world = World::with(limits);
    world.write("small", "ab");
    world.write("large", "abcd");
    let effects = [Effect::Write(world.target("large")), Effect::Write(world.target("small"))];
    let kept = world.keep.back_up(&effects).unwrap();
    let is_kept = |change: &FileChange| matches!(change.before, FileState::File { .. });
    assert_eq!(kept.changes().iter().map(is_kept).collect::<Vec<_>>(), [false, true]);
    for name in ["many/1", "many/2", "many/3"] {
        world.write(name, "");
    }
    let kept = world.keep.back_up(&[Effect::Delete(world.target("many"))]).unwrap();
    assert_eq!(names(kept.changes()), ["many"]);
}

#[test]
fn the_oldest_goes_when_there_is_too_much_and_all_of_it_after_a_while() {
    let limits = BackupLimits { bytes: 100, ..BackupLimits::default() };
    let world = World::with(limits);
    let change = |name: &str, byte: &str| {
        world.write(name, &byte.repeat(60));
        let kept = world.keep.back_up(&[Effect::Write(world.target(name))]).unwrap();
        world.write(name, "gone");
        World::plan(&world.keep.collect_changes(kept)).remove(0)
    };
    let (first, second) = (change("a", "a"), change("b", "b"));
    assert!(matches!(world.keep.restore(&first), Err(RestoreError::NoLongerKept)));
    assert!(world.keep.show(&second).is_ok());
    let later = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 200);
    world.keep.sweep(later).unwrap();
    assert!(matches!(world.keep.restore(&second), Err(RestoreError::NoLongerKept)));
}

#[test]
fn a_content_that_was_tampered_with_does_not_come_back() {
    let world = World::new();
    world.write("a", "1");
    let kept = world.keep.back_up(&[Effect::Write(world.target("a"))]).unwrap();
    world.write("a", "2");
    let shown = World::plan(&world.keep.collect_changes(kept)).remove(0);
    std::fs::write(world.keep.place(&Digest::for_bytes(b"1")), "evil").unwrap();
    assert!(matches!(world.keep.restore(&shown), Err(RestoreError::NoLongerKept)));
}

#[test]
fn nobody_else_can_read_what_is_kept() {
    let world = World::new();
    world.write("a", "1");
    world.keep.back_up(&[Effect::Write(world.target("a"))]).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let place = world.keep.place(&Digest::for_bytes(b"1"));
    assert_eq!((mode(&world.keep.folder), mode(&place)), (0o700, 0o600));
}

#[test]
fn what_two_calls_change_at_the_same_time_is_put_back_by_neither() {
    let world = World::new();
    world.write("both.txt", "0\n");
    world.write("mine.txt", "0\n");
    let write = |name: &str| Effect::Write(world.target(name));
    let mut first = world.keep.back_up(&[write("both.txt"), write("mine.txt")]).unwrap();
    let mut second = world.keep.back_up(&[write("both.txt")]).unwrap();
    second.contend(&mut first);
    world.write("both.txt", "1\n");
    world.write("mine.txt", "1\n");
    let refused = |changes: &[FileChange]| {
        let plan = World::plan(changes).into_iter();
        plan.map(|it| it.hindrance.map(|why| why.to_string())).collect::<Vec<_>>()
    };
    let why = "another call was changing it at the same time";
    let [Some(both), None] = &refused(&world.keep.collect_changes(first))[..] else {
        panic!("both")
    };
    assert!(both.contains(why), "{both}");
    let [Some(both)] = &refused(&world.keep.collect_changes(second))[..] else { panic!("second") };
    assert!(both.contains(why), "{both}");
}

#[test]
fn what_was_kept_is_found_again_in_its_record() {
    let world = World::new();
    world.write("folder/old.txt", "0\n");
    let effects = [Effect::Write(world.target("folder"))];
    let recorded = world.keep.back_up(&effects).unwrap().changes().to_vec();
    world.write("folder/old.txt", "1\n");
    world.write("folder/new.txt", "1\n");
    let changes = world.keep.collect_changes(FileBackup::recorded(&effects, recorded));
    assert_eq!(names(&changes), ["old.txt", "new.txt"]);
    world.undo(&changes);
    assert_eq!(std::fs::read_to_string(world.path("folder/old.txt")).unwrap(), "0\n");
    assert!(!world.path("folder/new.txt").exists());
}
