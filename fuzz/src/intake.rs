//! What is accepted as input is an object that everybody else reads in the same way.

use countersign_core::{canonical_json, parse_input};
use serde_json::Value;

/// Tries one text.
pub fn try_one(raw: &str) {
    let Ok(value) = parse_input(raw) else { return };
    assert!(value.is_object());
    assert_eq!(serde_json::from_str::<Value>(raw).ok().as_ref(), Some(&value), "read otherwise");
    assert_eq!(parse_input(&canonical_json(&value)).ok(), Some(value), "written otherwise");
}
