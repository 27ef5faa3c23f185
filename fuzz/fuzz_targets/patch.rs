//! Feeds `fuzzed::patch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::patch::try_one(text));
