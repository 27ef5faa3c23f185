//! Patches over whole trees: applied they make the new tree, applied in reverse the old one.
//!
//! Files come, go, change, move and become executable, several in one patch. The unified form is what
//! git itself writes of the two trees.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::json;

use crate::world::World;

/// Where files may be; none is a folder of another.
const NAMES: [&str; 6] = ["a", "b c", "sub/a", "sub/b.rs", "sub/deep/é", "other/x"];

#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    text: String,
    executable: bool,
}

type Tree = BTreeMap<&'static str, File>;

proptest! {
    // Each takes a dozen processes.
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn what_git_writes_of_two_trees_leads_there_and_back((old, new) in trees()) {
        if old != new {
            there_and_back(&old, &new, by_git)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_patch_by_lines_leads_there_and_back((old, new) in trees()) {
        // This form knows neither modes nor returns, nor files that end without a line end.
        let plain = |tree: Tree| -> Tree {
            let plain = |File { text, .. }: File| {
                let text = text.replace("\r\n", "\n");
                let whole = text.is_empty() || text.ends_with('\n');
                File { text: if whole { text } else { text + "\n" }, executable: false }
            };
            tree.into_iter().map(|(name, file)| (name, plain(file))).collect()
        };
        let (old, new) = (plain(old), plain(new));
        if old != new {
            there_and_back(&old, &new, by_lines)?;
        }
    }
}

fn there_and_back(
    old: &Tree,
    new: &Tree,
    patch_of: fn(&Tree, &Tree) -> String,
) -> Result<(), TestCaseError> {
    let world = World::new();
    lay_out(&world.root, old);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (before, after) in [(old, new), (new, old)] {
        let patch = patch_of(before, after);
        let done = runtime.block_on(world.approved("ApplyPatch", json!({"patch": patch})));
        prop_assert!(done.is_ok(), "{:?}\n{}", done, patch);
        prop_assert_eq!(&found(&world.root), after, "{}", patch);
    }
    Ok(())
}

/// Two trees of which files are the same, changed, moved, there or not there.
fn trees() -> impl Strategy<Value = (Tree, Tree)> {
    let tree = || prop::collection::vec(prop::option::of(file()), NAMES.len());
    let turn = 0..NAMES.len();
    (tree(), tree(), prop::collection::vec(any::<bool>(), NAMES.len()), turn).prop_map(
        |(old, new, same, turn)| {
            let named = |files: Vec<Option<File>>, turn: usize| -> Tree {
                let names = NAMES.iter().cycle().skip(turn);
                names.zip(files).filter_map(|(name, file)| Some((*name, file?))).collect()
            };
            let new = new.into_iter().zip(&old).zip(same);
            let new = new.map(|((new, old), same)| if same { old.clone() } else { new }).collect();
            // What stays the same under another name has moved.
            (named(old, 0), named(new, turn))
        },
    )
}

/// A few lines out of a few, so that many are the same; the last may have no end.
fn file() -> impl Strategy<Value = File> {
    let line = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "",
        " x",
        "-y",
        "+z",
        "@@ -1 +1 @@",
        "é",
        "*** x",
    ]);
    let lines = prop::collection::vec(line, 0..12);
    (lines, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(lines, ended, returns, executable)| {
            let end = if returns { "\r\n" } else { "\n" };
            let last = if ended && !lines.is_empty() { end } else { "" };
            File { text: lines.join(end) + last, executable }
        },
    )
}

fn lay_out(root: &Path, tree: &Tree) {
    for (name, file) in tree {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.text).unwrap();
        let mode = if file.executable { 0o755 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn found(root: &Path) -> Tree {
    let at = |name: &'static str| {
        let text = fs::read_to_string(root.join(name)).ok()?;
        let mode = fs::metadata(root.join(name)).unwrap().permissions().mode();
        Some((name, File { text, executable: mode & 0o100 != 0 }))
    };
    NAMES.into_iter().filter_map(at).collect()
}

/// Returns what git says of the way from one tree to the other.
fn by_git(old: &Tree, new: &Tree) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "--quiet"]);
    let [old, new] = [old, new].map(|tree| {
        for name in NAMES {
            let _ = fs::remove_file(root.join(name));
        }
        lay_out(root, tree);
        git(root, &["add", "--all"]);
        git(root, &["write-tree"]).trim().to_owned()
    });
    git(root, &["diff-tree", "--patch", "--find-renames=40%", &old, &new])
}

fn git(root: &Path, arguments: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "the program whose work is to be understood")]
    let mut git = Command::new("git");
    git.current_dir(root).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", root);
    git.args(["-c", "core.quotePath=false", "-c", "core.autocrlf=false"]).args(arguments);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a patch of the other form; what goes and what comes are one file that moves, as often as
/// there are two.
fn by_lines(old: &Tree, new: &Tree) -> String {
    let gone: Vec<_> = old.keys().filter(|name| !new.contains_key(*name)).collect();
    let come: Vec<_> = new.keys().filter(|name| !old.contains_key(*name)).collect();
    let pairs = gone.len().min(come.len());
    let moves = gone.iter().zip(&come).map(|(from, to)| {
        let hunk = replaced(&old[**from].text, &new[**to].text);
        format!("*** Update File: {from}\n*** Move to: {to}\n{hunk}")
    });
    let deleted = gone[pairs..].iter().map(|name| format!("*** Delete File: {name}\n"));
    let added = come[pairs..].iter().map(|name| {
        let lines = marked('+', &new[**name].text);
        format!("*** Add File: {name}\n{lines}")
    });
    let changed = old.iter().filter_map(|(name, file)| {
        let new = new.get(name).filter(|new| *new != file)?;
        Some(format!("*** Update File: {name}\n{}", replaced(&file.text, &new.text)))
    });
    let body: String = moves.chain(deleted).chain(added).chain(changed).collect();
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

/// Returns a hunk that replaces all lines; nothing where they are the same.
fn replaced(old: &str, new: &str) -> String {
    if old == new { String::new() } else { format!("@@\n{}{}", marked('-', old), marked('+', new)) }
}

fn marked(mark: char, text: &str) -> String {
    text.split_inclusive('\n').map(|line| format!("{mark}{line}")).collect()
}
