//! Masking: what is stored for people to read later shows no secrets.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::canonical_json;

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

/// Returns a text with everything masked that is a secret by its look.
///
/// Words that are keys, private keys as a whole, passwords in addresses, and what follows a name like
/// `token=` where it has the look of a value rather than of code.
pub fn masked_text(text: &str) -> String {
    let mut shown = by_word(text);
    for (pattern, replacement) in PATTERNS.iter() {
        if let Cow::Owned(changed) = pattern.replace_all(&shown, *replacement) {
            shown = changed;
        }
    }
    shown
}

/// Secrets that are more than one word, each with what stands in its place.
static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let names = "password|passwd|secret|token|api[_-]?key|access[_-]?key|credential";
    let patterns = [
        (
            "(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)"
                .to_owned(),
            "***",
        ),
        (
            r"(?i)(authorization\s*[:=]\s*)((?:bearer|basic|token)\s+)?[^\s'\x22]{8,}".to_owned(),
            "$1$2***",
        ),
        (r"(://[^/\s:@'\x22]+:)[^@\s/'\x22]+@".to_owned(), "$1***@"),
        // A value, not code: no brackets, at least eight characters, a digit among them.
        (
            format!(
                r"(?i)((?:{names})[a-z0-9_-]*['\x22]?\s*[=:]\s*['\x22]?)[a-z_+/.~!@#%^&*-]{{0,64}}[0-9][a-z0-9_+/.~!@#%^&*=-]{{3,}}"
            ),
            "$1***",
        ),
        (format!(r"(?i)(--[a-z-]*(?:{names})[ =])[^\s'\x22-][^\s'\x22]{{3,}}"), "$1***"),
    ];
    let compiled =
        patterns.into_iter().map(|(pattern, to)| Regex::new(&pattern).map(|it| (it, to)));
    compiled.filter_map(Result::ok).collect()
});

/// Replaces each word that looks like a key, wherever it stands.
fn by_word(text: &str) -> String {
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

/// Returns whether a changed input still holds the mask of a secret that it was shown without.
pub fn holds_mask(shown: &Value, changed: &Value) -> bool {
    *shown != masked(shown) && canonical_json(changed).contains(MASK)
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
    fn secrets_are_found_in_text_and_code_is_left_alone() {
        for (text, expected) in [
            ("export API_TOKEN=abc123def456", "export API_TOKEN=***"),
            ("curl -H 'Authorization: Bearer abcdefgh.ijk'", "curl -H 'Authorization: Bearer ***'"),
            (
                "git clone https://me:hunter22@example.org/x",
                "git clone https://me:***@example.org/x",
            ),
            ("mysql --password s3cret-pass db", "mysql --password *** db"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx", "***\nx"),
            ("{\"api_key\": \"a1b2c3d4e5\"}", "{\"api_key\": \"***\"}"),
            ("let token = self.next_token();", "let token = self.next_token();"),
            ("pub password: Option<String>,", "pub password: Option<String>,"),
            ("the secret: it is easy", "the secret: it is easy"),
            ("npm run test --token-file x", "npm run test --token-file x"),
        ] {
            assert_eq!(masked_text(text), expected);
        }
    }

    #[test]
    fn a_mask_that_was_shown_must_not_come_back() {
        let shown = json!({"command": "curl -H 'x: glpat-0123456789abcdef'"});
        assert!(holds_mask(&shown, &json!({"command": "curl -H 'x: ***' -v"})));
        assert!(!holds_mask(&shown, &json!({"command": "curl -v"})));
        assert!(!holds_mask(&json!({"command": "ls"}), &json!({"command": "echo ***"})));
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        let text = "sk-short naïve — ünïcode, sk- and \u{0} too";
        assert_eq!(masked(&json!(text)), json!(text));
    }
}
