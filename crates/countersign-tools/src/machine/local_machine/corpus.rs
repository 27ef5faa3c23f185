//! The red-team corpus on a real file system: what the fake machine of the core cannot get wrong.

use std::path::{Path, PathBuf};

use countersign_core::shell::{ShellContext, analyse};
use countersign_core::{Effect, SensitiveKind, WorkspaceSide, is_public};
use serde_json::Value;

use super::LocalMachine;
use crate::files::workspace::Workspace;
use crate::machine::Environment;

const CORPORA: [&str; 3] = [
    include_str!("../../../../countersign-core/tests/fixtures/redteam/commands.jsonl"),
    include_str!("../../../../countersign-core/tests/fixtures/redteam/contextual.jsonl"),
    include_str!("../../../../countersign-core/tests/fixtures/redteam/more.jsonl"),
];

/// Which programs there are differs from machine to machine, so the reads that ask are only told.
#[test]
fn no_attack_is_allowed_on_a_real_machine() {
    let plain = tempfile::tempdir().unwrap();
    let plain = fixture(plain.path(), &Value::Null);
    let (mut silent, mut missed, mut asked, mut reads) = (vec![], vec![], vec![], 0);
    for row in CORPORA.iter().flat_map(|it| it.lines()).map(|it| serde_json::from_str(it).unwrap())
    {
        let row: Value = row;
        let beside = |name: &str| row["input"].get(name).is_some();
        let given = row.get("given").cloned().unwrap_or_default();
        let ruled = ["rules", "mode", "hook", "classifier", "learned_from", "trusted"];
        if row["tool"] != "Bash"
            || beside("cwd")
            || beside("dangerouslyDisableSandbox")
            || ruled.iter().any(|it| given.get(it).is_some())
        {
            continue;
        }
        let own = tempfile::tempdir().unwrap();
        let root = if given.is_null() { plain.clone() } else { fixture(own.path(), &given) };
        let (denied, allowed) = judged(&row, &given, &root);
        let line = format!("{} {}", row["id"], row["input"]["command"]);
        match row["must"].as_str().unwrap() {
            "allow_ok" => {
                reads += 1;
                assert!(!denied, "{line}");
                asked.extend((!allowed).then_some(line));
            }
            "deny" => missed.extend((!denied).then_some(line)),
            _ => silent.extend((allowed && !denied).then_some(line)),
        }
    }
    println!("{reads} everyday reads: {} asked\n{}", asked.len(), asked.join("\n"));
    assert!(silent.is_empty(), "silently allowed:\n{}", silent.join("\n"));
    assert!(missed.is_empty(), "not denied:\n{}", missed.join("\n"));
}

/// Returns a workspace with the usual files, and those a row asks for.
fn fixture(folder: &Path, given: &Value) -> PathBuf {
    let root = folder.canonicalize().unwrap().join("ws");
    for name in [".git/config", "Cargo.toml", "README.md", "src/main.rs", "src/lib.rs", ".env"] {
        write(&root, name, "");
    }
    write(&root, ".git/HEAD", "ref: refs/heads/main\n");
    for name in [".git/objects", ".git/refs"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    for file in given["files"].as_array().into_iter().flatten() {
        if file["path"] == ".git" {
            std::fs::remove_dir_all(root.join(".git")).unwrap();
        }
        write(&root, file["path"].as_str().unwrap(), file["target"].as_str().unwrap());
    }
    root
}

/// Returns whether a command is denied, and whether it is proven to read nothing but open files
/// of the workspace.
fn judged(row: &Value, given: &Value, root: &Path) -> (bool, bool) {
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    let mut variables = vec![path];
    for (name, value) in given["env"].as_object().into_iter().flatten() {
        variables.retain(|(known, _)| known != name);
        variables.push((name.clone(), value.as_str().unwrap().to_owned()));
    }
    let workspace = Workspace::new([root.to_owned()]).unwrap();
    let environment = Environment::from(variables);
    let machine = LocalMachine::new(&workspace, &environment);
    let env = row["input"]["env"].as_object().into_iter().flatten();
    let env: Vec<_> =
        env.map(|(name, it)| (name.clone(), it.as_str().unwrap().to_owned())).collect();
    let own = [Path::new("/home/me/.local/share/countersign").to_owned()];
    let home = Some(Path::new("/home/me"));
    let context = ShellContext { cwd: root, home, env: &env, own: &own, machine: &machine };
    let command = row["input"]["command"].as_str().unwrap();
    let command =
        command.replace("{{WS}}", root.to_str().unwrap()).replace("/ws", root.to_str().unwrap());
    let analysis = analyse(&command, &context);
    let open = |effect: &Effect| match effect {
        Effect::Read(target) | Effect::ReadAll(target) => {
            let open = target.place.side == WorkspaceSide::Inside || is_public(&target.path);
            open && target.place.special != Some(SensitiveKind::Secret)
        }
        _ => false,
    };
    let allowed = analysis.is_read_only() && analysis.effects.iter().all(open);
    (!analysis.denials.is_empty(), allowed)
}

fn write(root: &Path, name: &str, text: &str) {
    let file = root.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}
