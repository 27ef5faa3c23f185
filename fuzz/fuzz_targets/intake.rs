//! Feeds `fuzzed::intake`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::intake::try_one(text));
