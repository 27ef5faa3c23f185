//! Digests: a decision is bound to exactly what was shown.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A BLAKE3 digest, written as hexadecimal text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// Returns the digest of some bytes.
    pub fn for_bytes(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).to_hex().to_string())
    }

    /// Returns the digest of several parts, each kept apart by its length.
    pub fn for_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // The length in front keeps `ab`+`c` apart from `a`+`bc`.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().to_hex().to_string())
    }

    /// Returns the hexadecimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Digest {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the JSON text of a value with the keys of every object in order.
///
/// Two inputs that mean the same give the same text, whatever order a model wrote them in.
pub fn canonical_json(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            fields.sort_by(|(left, _), (right, _)| left.cmp(right));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_anything_else_does() {
        let one = json!({"b": [1, {"y": 1, "x": 2}], "a": "t"});
        let same = json!({"a": "t", "b": [1, {"x": 2, "y": 1}]});
        let other = json!({"a": "t", "b": [{"x": 2, "y": 1}, 1]});
        assert_eq!(canonical_json(&one), canonical_json(&same));
        assert_ne!(canonical_json(&one), canonical_json(&other));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let digest = |parts: &[&str]| Digest::for_parts(parts.iter().map(|part| part.as_bytes()));
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["ab"]), digest(&["ab", ""]));
    }
}
