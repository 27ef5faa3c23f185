//! Feeds `fuzzed::rule`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::rule::try_one(text));
