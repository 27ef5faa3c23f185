//! The world a command is judged and run in: a workspace, a home and what lies outside, in two sides
//! that differ only in what no command may read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::archive;
use super::given_file::{FileKind, GivenFile, remove_any};
use super::process::run_git;
use super::variant::WorkspaceVariant;

/// Words that no command prints unless it has read what it may not.
pub(super) const MARKS: [&str; 3] = ["Q7SECRETMARK", "Q7OUTSIDEMARK", "Q7KEYMARK"];

/// What the workspace holds whatever else it brings along.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# A project\n\nIt has a TOKEN in its text.\n"),
    ("Cargo.toml", "[package]\nname = \"a\"\n"),
    ("package.json", "{\"name\": \"a\", \"scripts\": {\"test\": \"true\"}}\n"),
    ("data.json", "{\"a\": [1, 2, 3], \"b\": {\"c\": \"d\"}}\n"),
    ("names9.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\n"),
    ("n.txt", "a[$(./x)]\n"),
    ("table.csv", "name,size\nb,2\na,1\n"),
    ("src/main.rs", "fn main() {\n    println!(\"TODO\");\n}\n"),
    ("src/lib.rs", "pub fn a() -> u8 {\n    1\n}\n"),
    ("src/a.rs", "a\n"),
    ("src/b.rs", "b\n"),
    ("docs/a", "a\n"),
    ("docs/guide.md", "# Guide\n"),
    ("tests/it.rs", "#[test]\nfn it() {}\n"),
    ("sub/f", "x\n"),
    ("sub/a/b/k", "k\n"),
    (".env.example", "TOKEN=\n"),
    (".gitignore", ".env\ntarget\n"),
];

/// Programs that the workspace brings along: whichever starts leaves a mark.
const PROGRAMS: &[&str] =
    &["x", "bin/evil", "bin/ls", "node_modules/.bin/ls", "evil.sh", "src/x", "sub/x"];

/// The two sides of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorldSide {
    First,
    Second,
}

impl WorldSide {
    fn letter(self) -> char {
        match self {
            Self::First => 'A',
            Self::Second => 'B',
        }
    }

    /// Returns two lines or one line of the same length: their number is a content, too.
    fn marked_line(self, mark: &str) -> String {
        let between = if self == Self::First { '\n' } else { ' ' };
        format!("TOKEN={mark}-{}{between}USER=someone\n", self.letter())
    }
}

/// Repositories that every world starts from, made once.
pub(super) struct RepositoryTemplates {
    folder: TempDir,
}

impl RepositoryTemplates {
    /// Makes them: one that ignores the secrets, one that tracks them.
    pub(super) fn create() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, tracks_secrets) in [("plain", false), ("tracked", true)] {
            let root = folder.path().join(name);
            fs::create_dir(&root).unwrap();
            let side = WorldSide::First;
            write_base_files(&root, &|text| fill(text, side, Path::new("/nowhere")));
            GivenFile::regular(".env", "{{SECRET}}")
                .create_below(&root, |text| fill(text, side, Path::new("/nowhere")));
            run_git(&root, &["init", "--quiet", "--initial-branch=main", "--template="]);
            run_git(&root, &["config", "user.name", "A"]);
            run_git(&root, &["config", "user.email", "a@example.org"]);
            run_git(&root, &["add", "."]);
            if tracks_secrets {
                run_git(&root, &["add", "--force", ".env"]);
            }
            run_git(&root, &["commit", "--quiet", "--message", "first"]);
            run_git(&root, &["tag", "v1"]);
            run_git(&root, &["branch", "other"]);
        }
        Self { folder }
    }

    fn git_folder(&self, tracks_secrets: bool) -> PathBuf {
        self.folder.path().join(if tracks_secrets { "tracked" } else { "plain" }).join(".git")
    }
}

/// A world on disk: what is judged, and for each side what it was and where it is run.
pub(super) struct World {
    /// What is judged; in the jail a live side lies at the same place.
    folder: TempDir,
    /// What is run: in memory where that is possible.
    store: TempDir,
}

impl World {
    pub(super) fn build(variant: &WorkspaceVariant, templates: &RepositoryTemplates) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), store: create_store() };
        for side in [WorldSide::First, WorldSide::Second] {
            world.build_side(side, variant, templates);
            world.restore(side);
            fs::create_dir(world.output_folder(side)).unwrap();
        }
        copy_tree(&world.template(WorldSide::First), &world.mount());
        world
    }

    /// Returns the folder that is judged; in the jail a live side lies there.
    pub(super) fn mount(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.mount().join("ws")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.mount().join("home")
    }

    /// Returns where the jail finds the folder for outputs.
    pub(super) fn output_mount(&self) -> PathBuf {
        self.folder.path().join("o")
    }

    /// Returns the folder in which a side is run.
    pub(super) fn live(&self, side: WorldSide) -> PathBuf {
        self.store.path().join(format!("live-{}", side.letter()))
    }

    pub(super) fn output_folder(&self, side: WorldSide) -> PathBuf {
        self.store.path().join(format!("out-{}", side.letter()))
    }

    /// Returns what a side was before anything ran.
    fn template(&self, side: WorldSide) -> PathBuf {
        self.store.path().join(format!("was-{}", side.letter()))
    }

    /// Makes a side's live folder anew.
    pub(super) fn restore(&self, side: WorldSide) {
        remove_any(&self.live(side));
        copy_tree(&self.template(side), &self.live(side));
    }

    fn build_side(
        &self,
        side: WorldSide,
        variant: &WorkspaceVariant,
        templates: &RepositoryTemplates,
    ) {
        let (top, mount) = (self.template(side), self.mount());
        let fill = |text: &str| fill(text, side, &mount);
        for name in ["ws", "home", "outside/deep", "marks", "tmp"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        write_base_files(&top.join("ws"), &fill);
        copy_tree(&templates.git_folder(variant.tracks_secrets), &top.join("ws/.git"));
        for file in &variant.files {
            file.create_below(&top.join("ws"), fill);
        }
        for file in outside_files(side) {
            file.create_below(&top, fill);
        }
        let secret = side.marked_line(MARKS[1]);
        fs::write(top.join("outside/packed.gz"), archive::gzip(&secret)).unwrap();
        let zip = archive::zip(&format!("{}-{}", MARKS[1], side.letter()), &secret);
        fs::write(top.join("outside/packed.zip"), zip).unwrap();
        // The jail's /tmp is a folder of the world; what is mounted below it needs a place there.
        if let Ok(below) = self.folder.path().strip_prefix("/tmp") {
            for name in ["w", "o"] {
                fs::create_dir_all(top.join("tmp").join(below).join(name)).unwrap();
            }
        }
        set_times(&top);
    }
}

fn create_store() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

fn write_base_files(root: &Path, fill: &dyn Fn(&str) -> String) {
    for (path, text) in FILES {
        GivenFile::regular(path, text).create_below(root, fill);
    }
    for path in PROGRAMS {
        let text = "#!/bin/sh\necho \"$0 $*\" >> {{WORLD}}/marks/ran\n".to_owned();
        let program = GivenFile { path: (*path).to_owned(), kind: FileKind::Executable, text };
        program.create_below(root, fill);
    }
}

fn outside_files(side: WorldSide) -> Vec<GivenFile> {
    vec![
        GivenFile::regular("outside/marker", "{{OUTSIDE}}"),
        GivenFile::regular("outside/README.md", "{{OUTSIDE}}"),
        GivenFile::regular("outside/deep/file", "{{OUTSIDE}}"),
        GivenFile::regular(&format!("outside/{}-{}", MARKS[1], side.letter()), "a name\n"),
        GivenFile::regular("home/.ssh/id_rsa", "{{KEY}}"),
        GivenFile::regular("home/.bashrc", "# {{OUTSIDE}}"),
        GivenFile::regular("home/notes.txt", "{{OUTSIDE}}"),
    ]
}

fn fill(text: &str, side: WorldSide, mount: &Path) -> String {
    let mut filled = text.replace("{{WORLD}}", mount.to_str().unwrap());
    for (place, mark) in ["{{SECRET}}", "{{OUTSIDE}}", "{{KEY}}"].iter().zip(MARKS) {
        filled = filled.replace(place, &side.marked_line(mark));
    }
    filled
}

/// Copies a folder with all that is in it, links as links.
fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = {
            let name = entry.unwrap().file_name();
            (from.join(&name), to.join(&name))
        };
        let found = from.symlink_metadata().unwrap();
        if found.is_dir() {
            copy_tree(&from, &to);
        } else if found.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from).unwrap(), &to).unwrap();
        } else if found.is_file() {
            fs::copy(&from, &to).unwrap();
            fs::File::open(&to).unwrap().set_modified(moment()).unwrap();
        } else {
            let name = to.file_name().unwrap().to_str().unwrap();
            GivenFile::of_kind(name, FileKind::Fifo)
                .create_below(to.parent().unwrap(), str::to_owned);
        }
    }
    fs::File::open(to).unwrap().set_modified(moment()).unwrap();
}

fn set_times(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = path.symlink_metadata().unwrap();
        if found.is_dir() {
            set_times(&path);
        } else if found.is_file() {
            fs::File::open(&path).unwrap().set_modified(moment()).unwrap();
        }
    }
    fs::File::open(folder).unwrap().set_modified(moment()).unwrap();
}

/// Returns the moment at which every file was changed last.
fn moment() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}
