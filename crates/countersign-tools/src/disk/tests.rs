use std::fs;
use std::os::unix::fs::symlink;

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
    assert!(Standing::read(&folder.path("real/a")).is_err());
    assert_eq!(fs::read_dir(folder.path("other")).unwrap().count(), 0);
}

#[test]
fn a_file_too_large_to_hold_is_refused() {
    let folder = Folder::new();
    folder.write("a", "");
    File::options().write(true).open(folder.path("a")).unwrap().set_len(WHOLE_LIMIT + 1).unwrap();
    let error = Standing::read(&folder.path("a")).unwrap_err();
    assert!(matches!(error, DiskError::TooLarge(_)), "{error:?}");
    let words = error.at("a").to_string();
    assert!(words.contains("too large to be changed as a whole (67.1 MB"), "{words}");
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

    fn standing(&self, name: &str) -> Standing {
        Standing::read(&self.path(name)).unwrap()
    }

    /// Asserts that replacing is refused and leaves nothing behind.
    #[track_caller]
    fn check_changed(&self, standing: &Standing, names: &[&str]) {
        let error = standing.replace(b"new").unwrap_err();
        assert!(matches!(error, DiskError::Changed), "{error:?}");
        let left = fs::read_dir(&self.root).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), names);
    }
}
