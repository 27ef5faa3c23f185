//! Feeds `fuzzed::shell`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::shell::try_one(text));
