//! Any text is read, twice alike, and never found to do nothing at all.
#![no_main]

libfuzzer_sys::fuzz_target!(|command: &str| {
    let analysis = fuzzed::read(command);
    assert!(!analysis.effects.is_empty(), "no effects");
    assert_eq!(analysis, fuzzed::read(command), "read differently the second time");
});
