//! Feeds `fuzzed::policy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzzed::policy::try_one(text));
