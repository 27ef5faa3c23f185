//! A command that was rehearsed and kept leaves the very tree that running it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::{kept, rehearsed};
use crate::world::World;

const NAMES: [&str; 7] = ["a", "b", "dir", "dir/a", "dir/deep", "dir/deep/x", "new"];

#[test]
fn what_is_kept_is_what_running_it_leaves() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let Some(_) = runtime.block_on(World::in_sandbox()) else { return };
    proptest!(ProptestConfig::with_cases(24), |(steps in prop::collection::vec(step(), 1..8))| {
        // Each may fail: then it does so in both.
        let command = format!("{}; true", steps.join("; "));
        let (run, tried) = runtime.block_on(both(&command));
        prop_assert_eq!(run, tried, "{}", command);
    });
}

/// Runs a command in one world, rehearses and keeps it in another, and returns what each is then.
async fn both(command: &str) -> (Tree, Tree) {
    let (run, tried) = (world().await, world().await);
    let output = run.run("Bash", json!({"command": command})).await.unwrap();
    let staged = rehearsed(&tried, command).await;
    if let Some(why) = &staged.rehearsal_result().runs_again {
        assert!(why.contains("in the place of a "), "{command}: {why}");
        return (Tree::new(), Tree::new());
    }
    let said = kept(&tried, command, staged).await.unwrap();
    assert_eq!(said, output, "{command}");
    (tree(&run.root), tree(&tried.root))
}

async fn world() -> World {
    let world = World::in_sandbox().await.unwrap();
    for name in ["a", "dir/a", "dir/deep/x"] {
        world.write(name, format!("{name}\n"));
    }
    world
}

fn step() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&NAMES[..]);
    prop_oneof![
        (name(), 0..9_u8).prop_map(|(name, n)| format!("echo {n} > {name}")),
        (name(), 0..9_u8).prop_map(|(name, n)| format!("echo {n} >> {name}")),
        name().prop_map(|name| format!("rm -r {name}")),
        name().prop_map(|name| format!("mkdir {name}")),
        (name(), name()).prop_map(|(from, to)| format!("mv {from} {to}")),
        (name(), name()).prop_map(|(from, to)| format!("cp {from} {to}")),
        name().prop_map(|name| format!("if [ -f {name} ]; then chmod 700 {name}; fi")),
    ]
}

/// What there is: the mode and the content of each file, the mode of each folder.
type Tree = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = metadata.is_file().then(|| fs::read(&path).unwrap());
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.insert(name, (metadata.permissions().mode(), content));
            if metadata.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}
