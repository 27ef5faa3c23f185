//! What programs reach on a real file system: more than their operands say.

use std::path::{Path, PathBuf};

use countersign_core::shell::{CommandAnalysis, Machine, PartFinding, ShellContext, analyse};
use countersign_core::{Effect, EffectTarget, SensitiveKind, WorkspaceSide};

use super::LocalMachine;
use crate::process::Environment;
use crate::workspace::Workspace;

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
        analysis.floors.is_empty()
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
fn what_find_hands_on_is_opened() {
    let files = [".env", "sub/l -> ../../outside/marker"];
    asks(
        &files,
        &[
            "find . -exec cat {} +",
            "find sub -exec head -1 {} ';'",
            "find . -name '*v' -exec cat {} +",
            "find . -exec cat {} + -name '*.rs'",
            "find . -exec grep -e -name '*.rs' {} +",
        ],
    );
    runs(
        &files,
        &[
            "find . -type f -name '*.rs' -exec wc -l {} +",
            "find sub -type f -exec cat {} +",
            "find src -exec cat {} +",
        ],
    );
}

#[test]
fn names_handed_on_by_xargs_are_opened() {
    let files = [".env", "sub/l -> ../../outside/marker"];
    asks(
        &files,
        &[
            "find . | xargs cat",
            "find sub | xargs head -1",
            "find . -name '*v' | xargs cat",
            "find . -not -name '*.rs' -print0 | xargs -0 cat",
            "find . -name '*.rs' -o -name '*v' | xargs cat",
            "find -L . -name '*.rs' | xargs cat",
            "grep -rl x . | xargs cat",
            "rg -l --hidden x | xargs cat",
            // Without a name it searches everything.
            "find src -name '*.none' | xargs grep -rn x",
            "find src/none -print0 | xargs -0 grep x -rl",
        ],
    );
    runs(
        &files,
        &[
            "find . -type f -name '*.rs' | xargs wc -l",
            "find . -type f -not -path './target/*' -name '*.rs' | xargs wc -l",
            "find src -name '*.rs' -print0 | xargs -0 grep -n fn",
            "find src -name b -prune -o -name '*.rs' -print 2>/dev/null | xargs -n 1 basename",
            "find src docs | xargs -I {} head -1 {}",
            "grep -rl fn src | xargs grep -n main",
            "rg -l fn | xargs wc -l",
            "find src -name '*.none' | xargs -r grep -rn x",
            "find src -name '*.none' | xargs -I {} grep -rn x {}",
        ],
    );
}

#[test]
fn what_xargs_makes_of_other_words_asks() {
    asks(
        &["list: /etc/passwd\n"],
        &[
            "cat list | xargs cat",
            "find src -printf '/etc/passwd\\n' | xargs cat",
            "find src -print | sort | xargs cat",
            "find src -exec echo /etc/passwd ';' | xargs cat",
            "find src < list | xargs cat < list",
            "find src > out | xargs cat",
            "find src -print0 | xargs cat",
            "find src | xargs -0 cat",
            "find src | xargs -a list cat",
            "find src | xargs -I{} cat ../{}",
            "find src | xargs rm",
            "find src | xargs sh -c 'cat'",
            "find src | xargs uniq",
            "find src | xargs xxd",
            "find src | X=1 xargs cat {}",
            "grep -l --label=/etc/passwd -r x - | xargs cat",
            "grep -rlc x src | xargs cat",
            "grep -l x src/a.rs | xargs cat",
        ],
    );
    asks(&["-x"], &["rg -l fn | xargs wc -l"]);
}

#[test]
fn names_handed_on_are_ended_by_nul() {
    let world = World::with(&["src/a b.rs"]);
    for (written, runs) in [
        ("find src | xargs wc -l", "'find' 'src' '-print0' | 'xargs' '-0' 'wc' '-l'"),
        (
            "find src -maxdepth 2 -name a -o -name b | xargs cat",
            "'find' 'src' '-maxdepth' '2' '(' '-name' 'a' '-o' '-name' 'b' ')' '-print0' | 'xargs' '-0' 'cat'",
        ),
        (
            "grep -rl fn src | xargs -r head -1",
            "'grep' '--null' '-rl' 'fn' 'src' | 'xargs' '-0' '-r' 'head' '-1'",
        ),
        ("find src -print0 | xargs -0 wc -l", "find src -print0 | xargs -0 wc -l"),
    ] {
        assert_eq!(world.canonical(written).as_deref(), Some(runs));
    }
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
fn a_backup_of_what_is_replaced_asks() {
    let world = World::with(&["src/c"]);
    for command in ["mv -b sub/c src", "cp -b sub/c src/c", "mv --backup sub/c src"] {
        assert!(!world.changes(command), "{command}");
    }
    assert!(world.changes("mv sub/c src/d"));
}

#[test]
fn a_folder_arrives_with_everything_in_it() {
    let moved = |files: &[&str], command: &str| World::with(files).changes(command);
    for (file, command) in [
        ("p/.git/hooks/pre-commit", "cp -rT p ."),
        ("p/.git/hooks/pre-commit", "cp -r p/. ."),
        ("gh/workflows/x.yml", "cp -r gh .github"),
        ("gh/workflows/x.yml", "cp -a gh .github/"),
        ("gh/workflows/x.yml", "mv gh .github/"),
        ("gh/workflows/x.yml", "mkdir .github && cp -r gh/workflows .github"),
        ("cfg/git/config", "mv cfg .config"),
        ("w/wrapper/gradle-wrapper.properties", "mv w gradle"),
        (".github/workflows/ci.yml", "mv .github gh"),
        ("keys/.env", "mv keys src"),
        ("keys/.env", "cp -r keys copy"),
        ("sub/l -> ../../outside", "mv sub new"),
        ("sub/l -> ../../outside", "cp -a sub new"),
        ("l -> ../outside", "mv l m"),
        ("l -> ../outside", "cp -r src/. l"),
        ("sub/a.rs -> ../../outside/marker", "cp -r src/. sub"),
        ("sub/a.rs -> ../../outside/marker", "cp src/a.rs sub"),
        ("sub/.git/hooks/x", "chmod -R +x sub"),
        (".vscode -> src", "rm .vscode"),
        (".git/config", "ln .git/config x"),
        (".git/config", "cp -l .git/config x"),
    ] {
        assert!(!moved(&[file], command), "{file}: {command}");
    }
    for (file, command) in [
        ("p/x.rs", "mv p q"),
        ("p/x.rs", "cp -r p q"),
        ("p/x.rs", "cp -r p src"),
        ("p/x.rs", "mv p/x.rs src/"),
        ("a.txt", "cp a.txt b.txt && mv b.txt docs"),
        ("a.txt", "chmod +x a.txt && chmod -R g+w src"),
        ("a.txt", "cp *.txt src"),
    ] {
        assert!(
            moved(&[file], command),
            "{file}: {command}: {:?}",
            World::with(&[file]).analysis(command)
        );
    }
}

#[test]
fn a_folder_is_not_removed_with_all_it_holds_unasked() {
    let world = World::with(&["empty/x", ".github/workflows/ci.yml", "l -> ../outside"]);
    std::fs::remove_file(world.root().join("empty/x")).unwrap();
    let root = world.root().display().to_string();
    for command in
        ["rm -rf src", "rm -r ./sub/", "rm -rf .", "rm -rf l/", "rm -rf .github", "rm -rf *"]
    {
        assert!(!world.changes(command), "{command}");
    }
    assert!(!world.changes(&format!("rm -rf {root}")));
    for command in
        ["rm -rf empty", "rm README.md", "rm -f docs/*.md", "rmdir empty", "rm -rf missing"]
    {
        assert!(world.changes(command), "{command}: {:?}", world.analysis(command));
    }
    let gone = world.analysis("rm -rf .github").effects;
    assert!(gone.iter().any(|it| matches!(it, Effect::DeleteAll(_))), "{gone:?}");
    let ci = world.root().join(".github/workflows/ci.yml");
    assert!(gone.iter().any(|it| matches!(it, Effect::Delete(at) if at.path == ci)), "{gone:?}");
}

#[test]
fn a_link_is_judged_by_where_its_text_leads_from_its_own_folder() {
    let world = World::with(&["a.txt", ".env"]);
    for command in [
        "cd sub && ln -s .. ../l",
        "ln -s ../../outside sub/l",
        "ln -s ../outside/marker l",
        "ln -s src l",
        "ln -s missing l",
        "ln -s .env l",
        "ln .env l",
        "ln -s /etc/hostname l",
        "ln -s a.txt sub/l",
    ] {
        assert!(!world.changes(command), "{command}");
    }
    for command in ["ln -s a.txt l", "ln a.txt l", "ln -s ../a.txt sub/l", "ln -sr a.txt sub/l"] {
        assert!(world.changes(command), "{command}: {:?}", world.analysis(command));
    }
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
