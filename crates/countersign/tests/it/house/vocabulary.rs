//! Names that a reader can search for: the countable part of `CONTRIBUTING.md`, "Names".

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::{repository, sources};

/// Names of associated types that traits prescribe, and words that every code base repeats.
const CONVENTIONAL: &[&str] = &[
    "Config",
    "Err",
    "Error",
    "Future",
    "Item",
    "Output",
    "Rejection",
    "Response",
    "Result",
    "Target",
    "Value",
];

/// Past forms and other verbs that do not end like participles.
const IRREGULAR: &[&str] = &[
    "Begun", "Does", "Found", "Given", "Held", "Kept", "Known", "Left", "Lent", "Made", "Ran",
    "Said", "Shown", "Stands", "Told",
];

/// English nouns that only look like participles.
const NOUNS: &[&str] = &["Screen", "Setting", "String", "Thing", "Token", "Warning"];

/// In per mille of all types.
const MOST_IN_SEVERAL_FILES: usize = 80;
const MOST_ONE_WORD: usize = 250;
const MOST_PARTICIPLES: usize = 10;

#[test]
fn types_can_be_searched_by_their_names() {
    let types = declared_types();
    let one_word = names_that(&types, |name, _| is_one_word(name));
    let several = names_that(&types, |_, files| files.len() > 1);
    let participles = names_that(&types, |name, _| is_participle(name));
    check("declared in several files", &several, types.len(), MOST_IN_SEVERAL_FILES);
    check("of one word", &one_word, types.len(), MOST_ONE_WORD);
    check("that are bare participles", &participles, types.len(), MOST_PARTICIPLES);
}

#[test]
fn constructors_say_what_they_take() {
    let of = Regex::new(r"\bfn of\b").unwrap();
    for file in own_sources() {
        assert!(!of.is_match(&product_code(&file)), "`fn of` in {}", file.display());
    }
}

#[test]
fn the_glossary_names_what_is_in_the_code() {
    let glossary = std::fs::read_to_string(repository().join("docs/glossary.md")).unwrap();
    let code: String = own_sources().iter().map(|file| product_code(file)).collect();
    let type_name = Regex::new(r"`([A-Z][A-Za-z]+)(?:::[A-Za-z]+)?`").unwrap();
    let names: BTreeSet<_> =
        type_name.captures_iter(&glossary).map(|it| it[1].to_owned()).collect();
    assert!(names.len() > 30, "the names were not found");
    for name in names {
        let is_there = Regex::new(&format!(r"\b{name}\b")).unwrap().is_match(&code);
        assert!(is_there, "`{name}` is in docs/glossary.md and not in the code");
    }
}

fn check(what: &str, names: &[&str], all: usize, most: usize) {
    let share = names.len() * 1000 / all;
    assert!(share <= most, "{share} of 1000 types have a name {what}, at most {most}: {names:?}");
}

fn names_that(
    types: &BTreeMap<String, BTreeSet<String>>,
    is_meant: impl Fn(&str, &BTreeSet<String>) -> bool,
) -> Vec<&str> {
    let meant = types.iter().filter(|(name, files)| is_meant(name, files));
    meant.map(|(name, _)| name.as_str()).collect()
}

fn is_one_word(name: &str) -> bool {
    name.bytes().skip(1).all(|letter| letter.is_ascii_lowercase())
}

fn is_participle(name: &str) -> bool {
    let ends = ["ed", "en", "ing"].iter().any(|ending| name.ends_with(ending));
    is_one_word(name) && (ends || IRREGULAR.contains(&name)) && !NOUNS.contains(&name)
}

/// Every type of the product, with the files that declare one of that name.
fn declared_types() -> BTreeMap<String, BTreeSet<String>> {
    let declaration = Regex::new(
        r"(?m)^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|type) ([A-Z][A-Za-z0-9]+)",
    )
    .unwrap();
    let mut types: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in own_sources() {
        for found in declaration.captures_iter(&product_code(&file)) {
            if !CONVENTIONAL.contains(&&found[1]) {
                types.entry(found[1].to_owned()).or_default().insert(file.display().to_string());
            }
        }
    }
    assert!(types.len() > 500, "the declarations were not found");
    types
}

fn own_sources() -> Vec<std::path::PathBuf> {
    let is_product = |file: &std::path::PathBuf| {
        let path = file.strip_prefix(repository()).unwrap().display().to_string();
        path.contains("/src/") && !path.contains("/tests/") && !path.ends_with("tests.rs")
    };
    sources("crates").into_iter().filter(is_product).collect()
}

/// What stands before the tests of a file.
fn product_code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}
