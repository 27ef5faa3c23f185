//! What programs reach on a real file system: more than their operands say.

mod changes;
mod handed_on;

use std::path::{Path, PathBuf};

use countersign_core::shell::{CommandAnalysis, Machine, PartFinding, ShellContext, analyse};
use countersign_core::{Effect, EffectTarget, SensitiveKind, WorkspaceSide};

use super::LocalMachine;
use crate::files::workspace::Workspace;
use crate::machine::Environment;

/// A workspace beside a folder that is not part of it.
struct World {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl World {
    /// Makes the usual files, these, and links where `->` says where they lead.
    fn with(files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        let world = Self { folder, environment: Environment::from(vec![path]) };
        for name in ["../outside/marker", "README.md", "src/a.rs", "docs/b.md", "sub/c"] {
            world.write(name, "x\n");
        }
        for file in files {
            match (file.split_once(" -> "), file.split_once(": ")) {
                (Some((name, to)), _) => {
                    world.write(&format!("{name}.parent"), "");
                    std::fs::remove_file(world.root().join(format!("{name}.parent"))).unwrap();
                    std::os::unix::fs::symlink(to, world.root().join(name)).unwrap();
                }
                (None, Some((name, text))) => world.write(name, text),
                (None, None) => world.write(file, "x\n"),
            }
        }
        world
    }

    fn root(&self) -> PathBuf {
        let root = self.folder.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir_all(&root).unwrap();
        root
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.root().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn analysis(&self, command: &str) -> CommandAnalysis {
        let workspace = Workspace::new([self.root()]).unwrap();
        let machine = LocalMachine::new(&workspace, &self.environment);
        let cwd = self.root();
        let context = ShellContext { cwd: &cwd, home: None, env: &[], own: &[], machine: &machine };
        analyse(command, &context)
    }

    /// Whether nobody is asked in the default mode.
    fn reads(&self, command: &str) -> bool {
        let analysis = self.analysis(command);
        analysis.is_read_only() && analysis.effects.iter().all(is_open)
    }

    /// Returns the text that is executed.
    fn canonical(&self, command: &str) -> Option<String> {
        self.analysis(command).canonical.map(|it| it.text)
    }

    /// Whether nobody is asked where edits are accepted.
    fn changes(&self, command: &str) -> bool {
        let analysis = self.analysis(command);
        let proven = |it: &PartFinding| matches!(it, PartFinding::ReadOnly | PartFinding::Changes);
        analysis.denials.is_empty()
            && analysis.parts.iter().all(|part| proven(&part.finding))
            && analysis.effects.iter().all(|effect| is_open(effect) || is_edit(effect))
    }
}

fn is_open(effect: &Effect) -> bool {
    match effect {
        Effect::Read(target) | Effect::ReadAll(target) => {
            target.place.side == WorkspaceSide::Inside
                && target.place.special != Some(SensitiveKind::Secret)
        }
        _ => false,
    }
}

fn is_edit(effect: &Effect) -> bool {
    let ordinary = |target: &&EffectTarget| {
        let guarded =
            matches!(target.place.special, Some(SensitiveKind::Secret | SensitiveKind::Protected));
        target.place.side == WorkspaceSide::Inside && !guarded
    };
    match effect {
        Effect::Write(_) | Effect::Delete(_) | Effect::Rename { .. } => {
            effect.changed_targets().iter().all(ordinary)
        }
        _ => false,
    }
}

#[track_caller]
fn asks(files: &[&str], commands: &[&str]) {
    let world = World::with(files);
    for command in commands {
        assert!(!world.reads(command), "{command}: {:?}", world.analysis(command));
    }
}

#[track_caller]
fn runs(files: &[&str], commands: &[&str]) {
    let world = World::with(files);
    for command in commands {
        assert!(world.reads(command), "{command}: {:?}", world.analysis(command));
    }
}

#[test]
fn two_folders_are_compared_file_by_file() {
    asks(
        &[".env", "sub/.env"],
        &["diff . sub", "diff -qN . src", "diff -y -N docs .", "diff -r sub src"],
    );
    asks(
        &["sub/l -> ../../outside/marker"],
        &["diff sub src", "diff -rN src sub", "diff sub/l src"],
    );
    asks(
        &["sub/README.md -> ../../outside/marker"],
        &["diff README.md sub", "diff sub/ ./README.md"],
    );
    asks(&["sub/d -> ../../outside"], &["diff -r sub src"]);
    asks(&[".env"], &["diff -uN . nowhere", "diff -q -N nowhere .", "diff -rN . sub/nowhere"]);
    runs(&[".env"], &["diff -r sub src", "diff src/a.rs docs", "diff -u README.md sub/c"]);
    runs(&[".env"], &["diff -uN src nowhere"]);
    runs(&["sub/l -> ../README.md"], &["diff sub src", "diff -r sub src"]);
}

#[test]
fn a_search_opens_what_its_ignore_files_and_patterns_say() {
    asks(
        &[".env"],
        &["rg -g .env x", "rg --iglob .ENV x", "rg -g '.e*' x", "rg -g '*' x", "rg -t sh x"],
    );
    asks(&[".env", ".rgignore: !.env\n"], &["rg x", "rg -n x ."]);
    asks(&[".env", ".git/HEAD", ".gitignore: !.env\n"], &["rg x"]);
    asks(&["sub/.env", "sub/.ignore: !.en*\n"], &["rg x", "rg x sub"]);
    asks(&["server.pem"], &["rg x"]);
    let quiet = [".env", ".git/HEAD", ".gitignore: !.env.example\n*.pem\n", "server.pem"];
    runs(&quiet, &["rg x", "rg -g '*.{rs,md}' x", "rg -t rust x", "rg -g '!*.md' x", "rg --files"]);
}

#[test]
fn links_are_followed_where_the_program_follows_them() {
    let files = ["sub/l -> ../../outside", "sub/m -> ../../outside/marker"];
    asks(
        &files,
        &["ls -RL sub", "ls --recursive --dereference sub", "ls -L sub", "ls -LR", "ls sub/l"],
    );
    runs(&files, &["ls -R sub", "ls -l sub", "find sub", "du -s sub", "grep -rn x sub"]);
}

#[test]
fn a_module_of_the_folder_is_not_run() {
    asks(&["argparse.py"], &["python3 -m json.tool README.md"]);
    asks(&["json/__init__.py"], &["python3 -m json.tool README.md"]);
    runs(&["json/a.json"], &["python3 -m json.tool json/a.json"]);
}

#[test]
fn a_dash_is_a_file_for_most() {
    let files = ["- -> ../outside/marker"];
    asks(&files, &["column -", "rev -", "hexdump -C -", "ls -", "ls -R -", "du -"]);
    runs(&files, &["cat -", "grep x -", "sort -", "jq . -", "xxd -"]);
    asks(&[], &["tee -", "tee -a -- -"]);
}

#[test]
fn a_name_with_another_ending_is_opened_instead() {
    asks(&["foo.gz -> ../outside/marker"], &["zcat foo", "gzip -l foo"]);
    asks(&["foo.zip -> ../outside/marker"], &["unzip -l foo"]);
    asks(&["a.zip"], &["unzip a.zip -l", "unzip -l 'a*'"]);
    runs(&["foo.gz", "a.zip"], &["zcat foo", "gzip -l foo.gz", "unzip -l a"]);
}

#[test]
fn what_looks_like_an_option_behind_a_file_is_a_file_for_some() {
    asks(
        &["-p -> ../outside/marker", "-v -> ../outside/marker"],
        &["xxd README.md -p", "awk 1 README.md -v x"],
    );
    runs(&[], &["xxd -p README.md", "cat README.md -n"]);
}

#[test]
fn a_tree_that_is_too_large_is_not_judged() {
    let world = World::with(&[]);
    for folder in 0..101 {
        for file in 0..100 {
            let folder = world.root().join(format!("big/{folder}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(file.to_string()), "").unwrap();
        }
    }
    for command in ["grep -rn x .", "diff -r . src", "rg x"] {
        let analysis = world.analysis(command);
        assert!(!analysis.is_read_only(), "{command}");
        assert!(format!("{analysis:?}").contains("too large to be judged"), "{command}");
    }
    let nested = "for a in 1 2 3 4; do for b in 1 2 3 4; do grep -rn x .; diff -r . .; done; done";
    assert!(!world.reads(nested));
    assert!(world.reads("grep -rn x src"));
    // What was looked at once costs nothing the second time.
    let workspace = Workspace::new([world.root()]).unwrap();
    let here = LocalMachine::new(&workspace, &world.environment);
    assert!(here.tree(&world.root().join("big/1")).is_some());
    assert!(here.tree(&world.root()).is_none());
    assert!(here.tree(&world.root()).is_none() && here.tree(&world.root().join("big/1")).is_some());
    assert!(here.tree(&world.root().join("src")).is_none(), "the budget is used up");
}

#[test]
fn programs_of_the_user_are_trusted_where_nobody_else_writes() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with(&[]);
    // The folder for temporary files is everybody's: the programs of a toolchain are elsewhere.
    let shared = world.folder.path().join("bin");
    std::fs::create_dir(&shared).unwrap();
    std::fs::write(shared.join("tool"), "").unwrap();
    std::fs::set_permissions(shared.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    let workspace = Workspace::new([world.root()]).unwrap();
    let trusted = |path: &str, name: &str| {
        let environment = Environment::from(vec![("PATH".to_owned(), path.to_owned())]);
        LocalMachine::new(&workspace, &environment).trusted_program(name).is_some()
    };
    assert!(!trusted(&format!("{}:/usr/bin", shared.display()), "tool"));
    // A folder of the workspace may get a program of that name at any time.
    let inside = world.root().join("bin").display().to_string();
    assert!(trusted("/usr/bin:/bin", "ls") && !trusted(&format!("{inside}:/usr/bin:/bin"), "ls"));
}

#[test]
fn variables_that_change_how_arguments_are_read_trust_nothing() {
    let world = World::with(&[]);
    let workspace = Workspace::new([world.root()]).unwrap();
    let trusted = |name: &str, program: &str| {
        let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        let environment = Environment::from(vec![path, (name.to_owned(), "1".to_owned())]);
        LocalMachine::new(&workspace, &environment).trusted_program(program).is_some()
    };
    assert!(trusted("LANG", "ls") && trusted("RIPGREP_CONFIG_PATH", "ls"));
    assert!(!trusted("POSIXLY_CORRECT", "ls") && !trusted("TAR_OPTIONS", "tar"));
}

#[test]
fn files_above_are_found_as_far_as_the_workspace_goes() {
    let world = World::with(&["rust-toolchain.toml", "../go.mod"]);
    let workspace = Workspace::new([world.root()]).unwrap();
    let here = LocalMachine::new(&workspace, &world.environment);
    let above = |folder: &str, name| here.has_file_above(&world.root().join(folder), &[name]);
    assert_eq!(above("sub", "rust-toolchain.toml"), Some(true));
    assert_eq!(above("sub", "go.mod"), Some(false));
    assert_eq!(here.has_file_above(Path::new("/"), &["etc"]), Some(false));
}
