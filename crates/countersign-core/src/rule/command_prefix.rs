//! The start of a command: the words that say what it does, before those that say to what.

/// Programs whose second word says what they do, and those whose third does.
const WITH_SUBCOMMAND: &[&str] = &[
    "biome", "bun", "cabal", "cargo", "cmake", "deno", "dotnet", "go", "gradle", "just", "make",
    "mix", "mvn", "npm", "nox", "pnpm", "rake", "ruff", "stack", "swift", "tox", "yarn", "zig",
];
const WITH_THIRD: &[(&str, &str)] = &[
    ("npm", "run"),
    ("pnpm", "run"),
    ("yarn", "run"),
    ("bun", "run"),
    ("python", "-m"),
    ("python3", "-m"),
    ("cargo", "nextest"),
];

/// How many words say what a command does.
pub(crate) fn prefix_len(words: &[&str]) -> usize {
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let wanted = if WITH_THIRD.contains(&(first, second)) {
        3
    } else if WITH_SUBCOMMAND.contains(&first) && !second.starts_with('-') {
        2
    } else {
        1
    };
    wanted.min(words.len())
}
