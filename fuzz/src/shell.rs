//! Any text is read, twice alike, and never found to do nothing at all.

/// Tries one text.
pub fn try_one(command: &str) {
    let analysis = crate::read(command);
    assert!(!analysis.effects.is_empty(), "no effects");
    assert_eq!(analysis, crate::read(command), "read differently the second time");
}
