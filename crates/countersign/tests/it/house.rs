//! The house keeps its own rules: who may use whom, and what the papers promise.

mod dependencies;
mod vocabulary;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn crates_use_only_whom_they_may() {
    let root: toml::Table = read("Cargo.toml").parse().unwrap();
    let may: BTreeMap<String, Vec<String>> =
        root["workspace"]["metadata"]["house"]["may-use"].clone().try_into().unwrap();
    for (name, may) in &may {
        let manifest: toml::Table = read(&format!("crates/{name}/Cargo.toml")).parse().unwrap();
        let used = manifest.get("dependencies").and_then(|it| it.as_table());
        let used = used.into_iter().flat_map(toml::Table::keys);
        for other in used.filter(|other| other.starts_with("countersign")) {
            assert!(may.contains(other), "`{name}` may not use `{other}`");
        }
    }
    let crates = std::fs::read_dir(repository().join("crates")).unwrap().count();
    assert_eq!(crates, may.len(), "every crate is in the table");
}

/// Whoever can name the seal can give leave to run a call.
#[test]
fn only_the_gate_and_the_client_hold_the_seal() {
    let holders =
        ["countersign-client", "countersign-core", "countersign-gate", "countersign-test-permits"];
    for entry in std::fs::read_dir(repository().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let manifest: toml::Table = read(&format!("crates/{name}/Cargo.toml")).parse().unwrap();
        let uses = |section: &str, other: &str| {
            let used = manifest.get(section).and_then(|it| it.as_table());
            used.is_some_and(|used| used.contains_key(other))
        };
        let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
        let holds = sections.iter().any(|section| uses(section, "countersign-seal"));
        assert_eq!(holds, holders.contains(&name.as_str()), "`{name}` and the seal");
        assert!(!uses("dependencies", "countersign-test-permits"), "`{name}` forges permits");
    }
    for file in sources("crates").into_iter().filter(|file| !file.ends_with("house.rs")) {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("pub use countersign_seal"), "{}", file.display());
    }
}

/// Core never waits, and only the gate's store speaks SQL.
#[test]
fn what_must_be_absent_is_absent() {
    for file in sources("crates/countersign-core/src") {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("async fn") && !text.contains("std::fs::"), "{}", file.display());
    }
    for file in sources("crates").into_iter().filter(|file| !in_store(file)) {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("rusqlite::"), "{}", file.display());
    }
}

fn in_store(file: &Path) -> bool {
    let path = file.display().to_string();
    path.contains("countersign-gate/src/store") || path.contains("/tests/")
}

fn sources(folder: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![repository().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
