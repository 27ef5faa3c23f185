use std::fs;
use std::os::unix::fs::symlink;

use countersign_core::{SensitiveKind, WorkspaceSide};

use super::*;

#[test]
fn a_relative_path_starts_from_the_working_directory() {
    let world = World::new();
    world.check("a.txt", "ws/a.txt", WorkspaceSide::Inside);
    world.check("./sub/../a.txt", "ws/a.txt", WorkspaceSide::Inside);
    world.check("~/a.txt", "ws/~/a.txt", WorkspaceSide::Inside);
    world.check("../ws-evil/a.txt", "ws-evil/a.txt", WorkspaceSide::Outside);
}

#[test]
fn what_is_missing_is_attached_to_what_is_there() {
    let world = World::new();
    world.link("outside", "ws/door");
    world.check("new/deep/a.txt", "ws/new/deep/a.txt", WorkspaceSide::Inside);
    world.check("door/new/a.txt", "outside/new/a.txt", WorkspaceSide::Outside);
    world.check("missing/../door/a.txt", "outside/a.txt", WorkspaceSide::Outside);
}

#[test]
fn up_goes_from_where_a_link_led() {
    let world = World::new();
    fs::create_dir(world.root.join("outside/deep")).unwrap();
    world.link("outside/deep", "ws/door");
    world.check("door/../a.txt", "outside/a.txt", WorkspaceSide::Outside);
    world.check("door/../../ws/a.txt", "ws/a.txt", WorkspaceSide::Inside);
}

#[test]
fn a_link_to_a_file_that_is_missing_leads_there() {
    let world = World::new();
    world.link("outside/none.txt", "ws/dangling");
    world.check("dangling", "outside/none.txt", WorkspaceSide::Outside);
    symlink("sub/inner.txt", world.root.join("ws/relative")).unwrap();
    world.check("relative", "ws/sub/inner.txt", WorkspaceSide::Inside);
}

#[test]
fn a_link_to_a_special_place_is_special() {
    let world = World::new();
    fs::create_dir(world.root.join("ws/.git")).unwrap();
    world.link("ws/.git", "ws/safe");
    let target = world.workspace.resolve(&world.root.join("ws"), "safe/config").unwrap();
    assert_eq!(target.place.special, Some(SensitiveKind::Protected));
}

#[test]
fn what_is_no_path_is_said_to_be_none() {
    let world = World::new();
    world.check_invalid("", "the path is empty");
    world.check_invalid("a\0b", "NUL");
    world.link("ws/loop", "ws/loop");
    world.check_invalid("loop", "too many links");
    let relative = world.workspace.resolve(Path::new("here"), "a.txt").unwrap_err();
    assert!(relative.0.contains("give an absolute path"), "{relative}");
}

#[test]
fn a_root_must_be_a_folder() {
    let world = World::new();
    fs::write(world.root.join("file"), "").unwrap();
    assert!(Workspace::new([world.root.join("file")]).is_err());
    assert!(Workspace::new([world.root.join("none")]).is_err());
}

struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("ws/sub")).unwrap();
        fs::create_dir_all(root.join("outside")).unwrap();
        let workspace = Workspace::new([root.join("ws")]).unwrap();
        Self { _folder: folder, root, workspace }
    }

    fn link(&self, to: &str, at: &str) {
        symlink(self.root.join(to), self.root.join(at)).unwrap();
    }

    #[track_caller]
    fn check(&self, path: &str, expected: &str, side: WorkspaceSide) {
        let target = self.workspace.resolve(&self.root.join("ws"), path).unwrap();
        assert_eq!(target.path, self.root.join(expected), "{path}");
        assert_eq!(target.place.side, side, "{path}");
    }

    #[track_caller]
    fn check_invalid(&self, path: &str, expected: &str) {
        let invalid = self.workspace.resolve(&self.root.join("ws"), path).unwrap_err();
        assert!(invalid.0.contains(expected), "{invalid}");
    }
}
