//! What is compiled for whom: how many crates, under which licences, from where, and whether they are used.
#![expect(clippy::disallowed_methods, reason = "cargo itself is asked")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use regex::Regex;
use serde_json::Value;

use super::{read, repository, sources};

/// The most crates that an agent in memory may need: ours, those of its build, and the program itself.
const MOST_CRATES: usize = 150;

/// Where the product runs: what only other systems compile is not counted.
const TARGET: &str = "x86_64-unknown-linux-gnu";

#[test]
fn an_agent_in_memory_compiles_few_crates() {
    let tree = cargo(&[
        "tree",
        "--manifest-path=examples/embedded/Cargo.toml",
        "--edges=normal,build",
        "--prefix=none",
        "--format={p}",
        "--target",
        TARGET,
    ]);
    // A line is a name, a version, and perhaps that it was listed before or where it lies.
    let crates: BTreeSet<_> = tree.lines().filter_map(|line| line.split(" (").next()).collect();
    let names: Vec<_> = crates.iter().copied().collect();
    assert!(crates.len() > 50, "the tree was not read: {tree}");
    assert!(crates.len() <= MOST_CRATES, "{} crates: {}", crates.len(), names.join(", "));
}

#[test]
fn every_licence_and_origin_is_one_that_we_let_in() {
    let rules: toml::Table = read("deny.toml").parse().unwrap();
    let allowed: Vec<String> = rules["licenses"]["allow"].clone().try_into().unwrap();
    let origins: Vec<String> = rules["sources"]["allow-registry"].clone().try_into().unwrap();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(permits(licence, &allowed), "`{name}` has the licence `{licence}`");
        let Some(source) = package["source"].as_str() else { continue };
        let known = source.strip_prefix("registry+").is_some_and(|it| origins.contains(&it.into()));
        assert!(known, "`{name}` comes from `{source}`");
    }
}

#[test]
fn no_crate_is_there_that_is_banned_or_must_be_there_once() {
    let rules: toml::Table = read("deny.toml").parse().unwrap();
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for package in packages() {
        *versions.entry(package["name"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for rule in rules["bans"]["deny"].as_array().unwrap() {
        let name = rule["crate"].as_str().unwrap();
        let most = usize::from(rule.get("deny-multiple-versions").is_some());
        let found = versions.get(name).copied().unwrap_or_default();
        assert!(found <= most, "`{name}` is there in {found} versions, {most} are allowed");
    }
}

/// A dependency that is only there to choose its version says so, in the words of cargo-machete.
#[test]
fn every_dependency_is_used() {
    let root: toml::Table = read("Cargo.toml").parse().unwrap();
    let mut inherited = BTreeSet::new();
    for name in root["workspace"]["metadata"]["house"]["may-use"].as_table().unwrap().keys() {
        let folder = format!("crates/{name}");
        let manifest: toml::Table = read(&format!("{folder}/Cargo.toml")).parse().unwrap();
        let ignored = manifest["package"].get("metadata").map(|it| &it["cargo-machete"]["ignored"]);
        let ignored: Vec<String> =
            ignored.map(|it| it.clone().try_into().unwrap()).unwrap_or_default();
        for (section, below) in [("dependencies", "/src"), ("dev-dependencies", "")] {
            let code = code_below(&format!("{folder}{below}"));
            let wanted = manifest.get(section).and_then(toml::Value::as_table);
            for other in wanted.into_iter().flat_map(toml::Table::keys) {
                inherited.insert(other.clone());
                let is_named = format!(r"\b{}(::|!|;| as )", other.replace('-', "_"));
                let is_used = Regex::new(&is_named).unwrap().is_match(&code);
                assert!(is_used || ignored.contains(other), "`{name}` does not use `{other}`");
            }
        }
    }
    for other in root["workspace"]["dependencies"].as_table().unwrap().keys() {
        assert!(inherited.contains(other), "no crate uses `{other}` of the workspace");
    }
}

#[test]
fn a_licence_is_read_as_it_is_written() {
    let allowed = ["MIT".to_owned(), "Apache-2.0".to_owned(), "Unicode-3.0".to_owned()];
    for licence in ["MIT", "MIT/GPL-3.0", "(MIT OR GPL-3.0) AND Unicode-3.0", "GPL-3.0 OR MIT"] {
        assert!(permits(licence, &allowed), "{licence}");
    }
    for licence in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT AND GPL-3.0) OR ISC", "MIT WITH x"] {
        assert!(!permits(licence, &allowed), "{licence}");
    }
}

/// Returns whether a licence expression can be met by allowed licences alone.
fn permits(licence: &str, allowed: &[String]) -> bool {
    let mut licence = licence.replace('/', " OR ");
    // Brackets first, from the inside; `+` and `-` stand for what was found in them.
    while let Some((before, rest)) = licence.rsplit_once('(') {
        let Some((inner, after)) = rest.split_once(')') else { return false };
        let met = if permits(inner, allowed) { "+" } else { "-" };
        licence = format!("{before}{met}{after}");
    }
    let is_met = |one: &str| one == "+" || allowed.iter().any(|it| it == one);
    licence.split(" OR ").any(|all| all.split(" AND ").all(|one| is_met(one.trim())))
}

/// Returns every package that the product, its tests and all its features need on its systems.
fn packages() -> Vec<Value> {
    let filter = format!("--filter-platform={TARGET}");
    let told = cargo(&["metadata", "--format-version=1", "--all-features", &filter]);
    let told: Value = serde_json::from_str(&told).unwrap();
    let nodes = told["resolve"]["nodes"].as_array().unwrap();
    let needed: BTreeSet<_> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
    let packages = told["packages"].as_array().unwrap().iter();
    packages.filter(|it| needed.contains(it["id"].as_str().unwrap())).cloned().collect()
}

/// Returns the code below a folder, without comments on lines of their own.
fn code_below(folder: &str) -> String {
    let files = sources(folder).into_iter().map(|file| std::fs::read_to_string(file).unwrap());
    let lines: Vec<_> =
        files.flat_map(|it| it.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.into_iter().filter(|it| !it.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    let asked = command.args(arguments).args(["--offline", "--locked"]).current_dir(repository());
    let output = asked.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
