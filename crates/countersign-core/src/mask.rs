//! Masking: what is stored for people to read later shows no secrets.

use serde_json::Value;

/// Names of fields whose value is never shown.
const SECRET_NAMES: &[&str] =
    &["password", "passwd", "secret", "token", "api_key", "apikey", "authorization", "credential"];

/// Starts of words that are keys by their look.
const SECRET_STARTS: &[&str] = &[
    "sk-ant-",
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "eyJhbGciOi",
    "npm_",
    "pypi-",
    "hf_",
];

/// What stands in the place of a secret.
const MASK: &str = "***";

/// Returns a tool's input with values masked that are secret by name or by look.
pub fn masked(input: &Value) -> Value {
    match input {
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| {
                    (name.clone(), if is_secret_name(name) { MASK.into() } else { masked(value) })
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(masked).collect()),
        Value::String(text) => Value::String(masked_text(text)),
        other => other.clone(),
    }
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase().replace('-', "_");
    SECRET_NAMES.iter().any(|secret| name == *secret || name.ends_with(&format!("_{secret}")))
}

/// Replaces each word that looks like a key, wherever it stands.
fn masked_text(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (gap, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_word(c)).unwrap_or(from.len()));
        shown.push_str(gap);
        shown.push_str(if looks_like_a_key(word) { MASK } else { word });
        rest = after;
    }
    shown + rest
}

fn looks_like_a_key(word: &str) -> bool {
    word.len() >= 16 && SECRET_STARTS.iter().any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_masked_by_name_and_by_look_the_rest_stays() {
        let input = json!({
            "command": "curl -H 'x-api-key: glpat-0123456789abcdef' https://e.example",
            "env": {"DB_PASSWORD": "hunter2", "HOME": "/home/me"},
            "list": ["ghp_0123456789abcdefghij", "plain"],
            "count": 3,
        });
        let expected = json!({
            "command": "curl -H 'x-api-key: ***' https://e.example",
            "env": {"DB_PASSWORD": "***", "HOME": "/home/me"},
            "list": ["***", "plain"],
            "count": 3,
        });
        assert_eq!(masked(&input), expected);
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        let text = "sk-short naïve — ünïcode, sk- and \u{0} too";
        assert_eq!(masked(&json!(text)), json!(text));
    }
}
