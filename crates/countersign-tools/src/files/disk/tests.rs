use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

#[test]
fn a_file_that_changes_between_reading_and_replacing_stays() {
    let folder = Folder::new();
    folder.write("a", "old");
    let standing = folder.standing("a");
    folder.write("a", "other");
    folder.check_changed(&standing, &["a"]);
    assert_eq!(fs::read_to_string(folder.path("a")).unwrap(), "other");
}

#[test]
fn a_file_of_the_same_content_that_is_another_is_a_change() {
    let folder = Folder::new();
    folder.write("a", "old");
    let standing = folder.standing("a");
    folder.write("b", "old");
    fs::rename(folder.path("b"), folder.path("a")).unwrap();
    folder.check_changed(&standing, &["a"]);
}

#[test]
fn a_file_that_appears_where_none_was_stays() {
    let folder = Folder::new();
    let standing = folder.standing("a");
    folder.write("a", "");
    folder.check_changed(&standing, &["a"]);
    fs::remove_file(folder.path("a")).unwrap();
    symlink("/nowhere", folder.path("a")).unwrap();
    folder.check_changed(&standing, &["a"]);
}

#[test]
fn a_folder_that_becomes_a_link_is_not_entered() {
    let folder = Folder::new();
    fs::create_dir(folder.path("real")).unwrap();
    fs::create_dir(folder.path("other")).unwrap();
    let standing = folder.standing("real/a");
    fs::remove_dir(folder.path("real")).unwrap();
    symlink(folder.path("other"), folder.path("real")).unwrap();
    assert!(standing.replace(b"new").is_err());
    assert!(FileSnapshot::read(&folder.path("real/a")).is_err());
    assert_eq!(fs::read_dir(folder.path("other")).unwrap().count(), 0);
}

#[test]
fn a_file_too_large_to_hold_is_refused() {
    let folder = Folder::new();
    folder.write("a", "");
    File::options().write(true).open(folder.path("a")).unwrap().set_len(WHOLE_LIMIT + 1).unwrap();
    let error = FileSnapshot::read(&folder.path("a")).unwrap_err();
    assert!(matches!(error, DiskError::TooLarge(_)), "{error:?}");
    let words = error.into_tool_error("a").to_string();
    assert!(words.contains("too large to be changed as a whole (67.1 MB"), "{words}");
}

#[test]
fn what_is_being_written_has_no_name_and_takes_its_place_whole() {
    let folder = Folder::new();
    folder.write("a", "old");
    fs::set_permissions(folder.path("a"), fs::Permissions::from_mode(0o640)).unwrap();
    let (standing, opened) = (folder.standing("a"), folder.open());
    // Not every file system can; there is nothing to see then.
    let Some(temporary) = TemporaryFile::unnamed(&opened, standing.metadata()) else { return };
    temporary.fill(b"new", standing.metadata(), None).unwrap();
    assert_eq!(folder.names(), ["a"], "who is killed here leaves nothing behind");
    assert_eq!(temporary.place("a".as_ref(), false).unwrap(), PlacementResult::Whole);
    assert_eq!(folder.names(), ["a"]);
    assert_eq!(fs::read_to_string(folder.path("a")).unwrap(), "new");
    assert_eq!(fs::metadata(folder.path("a")).unwrap().mode() & 0o7777, 0o640);
}

#[test]
fn with_a_name_or_without_the_outcome_is_the_same() {
    let usual = Folder::new();
    usual.write("a", "");
    let usual_mode = fs::metadata(usual.path("a")).unwrap().mode();
    for unnamed in [true, false] {
        let folder = Folder::new();
        let opened = folder.open();
        let made = || {
            let made = TemporaryFile::unnamed(&opened, None).filter(|_| unnamed);
            let made = made.unwrap_or_else(|| TemporaryFile::named(&opened, None).unwrap());
            made.fill(b"new", None, None).unwrap();
            made
        };
        drop(made());
        assert_eq!(folder.names(), [""; 0], "gone when dropped");
        assert_eq!(made().place("a".as_ref(), true).unwrap(), PlacementResult::Whole);
        assert_eq!(fs::metadata(folder.path("a")).unwrap().mode(), usual_mode, "as others make it");
        folder.write("a", "somebody's");
        let refused = made().place("a".as_ref(), true).unwrap_err();
        assert!(matches!(refused, DiskError::Changed), "{refused:?}");
        assert_eq!(fs::read_to_string(folder.path("a")).unwrap(), "somebody's");
        assert_eq!(made().place("a".as_ref(), false).unwrap(), PlacementResult::Whole);
        assert_eq!(fs::read_to_string(folder.path("a")).unwrap(), "new");
        fs::create_dir(folder.path("b")).unwrap();
        assert!(made().place("b".as_ref(), false).is_err(), "a folder stays");
        assert_eq!(folder.names(), ["a", "b"], "and nothing else is left");
    }
}

#[test]
fn what_cannot_be_given_a_name_is_known() {
    let folder = Folder::new();
    fs::create_dir(folder.path("gone")).unwrap();
    let opened = open_folder(&folder.path("gone"), MissingFolderPolicy::Report).unwrap();
    let Some(temporary) = TemporaryFile::unnamed(&opened, None) else { return };
    fs::remove_dir(folder.path("gone")).unwrap();
    assert_eq!(temporary.place("a".as_ref(), true).unwrap(), PlacementResult::Nameless);
    assert!(TemporaryFile::named(&opened, None).is_err(), "and the usual way says why");
}

struct Folder {
    _kept: tempfile::TempDir,
    root: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        Self { _kept: kept, root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn standing(&self, name: &str) -> FileSnapshot {
        FileSnapshot::read(&self.path(name)).unwrap()
    }

    fn open(&self) -> OwnedFd {
        open_folder(&self.root, MissingFolderPolicy::Report).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.root).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Asserts that replacing is refused and leaves nothing behind.
    #[track_caller]
    fn check_changed(&self, standing: &FileSnapshot, names: &[&str]) {
        let error = standing.replace(b"new").unwrap_err();
        assert!(matches!(error, DiskError::Changed), "{error:?}");
        assert_eq!(self.names(), names);
    }
}
