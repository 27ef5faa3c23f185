//! Masking: what is stored for people to read later shows no secrets.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
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

/// What stands in the place of a secret in what a model reads again: it must not take it for a value.
const MODEL_MASK: &str = "[secret_removed]";

/// The shortest secret that is looked for by its letters where nothing else gives it away.
const SHORTEST: usize = 6;

/// Returns a tool's input with values masked that are secret by name or by look.
pub fn mask_input(input: &Value) -> Value {
    Secrets::default().hide_in(input)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase().replace('-', "_");
    SECRET_NAMES.iter().any(|secret| name == *secret || name.ends_with(&format!("_{secret}")))
}

/// Returns a text with everything masked that is a secret by its look.
///
/// Words that are keys, private keys as a whole, passwords in addresses, and what follows a name like
/// `token=` where it has the look of a value rather than of code.
pub fn mask_text(text: &str) -> String {
    Secrets::default().hide_in_text(text)
}

/// The secrets of one record: what gives itself away in one place is hidden in all others, too.
///
/// Not to be printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The longest first, so that no part of one is left standing.
    known: Vec<String>,
    for_model: bool,
}

impl Secrets {
    /// Returns the secrets that a value holds, by name or by look.
    pub fn find_in(value: &Value) -> Self {
        let mut found = Self::default();
        found.learn(value);
        found
    }

    /// Returns the same, to hide them from a model that reads its own words again.
    #[must_use]
    pub fn for_model(self) -> Self {
        Self { for_model: true, ..self }
    }

    /// Looks for more secrets.
    pub fn learn(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
                Value::String(text) if is_secret_name(name) => self.know(text),
                value => self.learn(value),
            }),
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::String(text) => self.learn_text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Looks for more secrets in a text.
    pub fn learn_text(&mut self, text: &str) {
        let by_look = words(text).map(|(_, word)| word).filter(|word| looks_like_a_key(word));
        by_look.for_each(|word| self.know(word));
        for pattern in PATTERNS.iter() {
            let found = pattern.captures_iter(text).filter_map(|it| it.name("secret"));
            found.for_each(|secret| self.know(secret.as_str()));
        }
    }

    /// Remembers a secret, unless it is so plain that hiding it would hide other things.
    fn know(&mut self, secret: &str) {
        let is_plain = secret.len() < 2 * SHORTEST && secret.chars().all(char::is_alphabetic);
        if secret.len() >= SHORTEST && !is_plain && !self.known.iter().any(|it| it == secret) {
            self.known.push(secret.to_owned());
            self.known.sort_by_key(|it| std::cmp::Reverse(it.len()));
        }
    }

    /// Returns a value without these secrets, nor any other that gives itself away.
    pub fn hide_in(&self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, value)| {
                        let hidden = if is_secret_name(name) {
                            self.mask().into()
                        } else {
                            self.hide_in(value)
                        };
                        (name.clone(), hidden)
                    })
                    .collect(),
            ),
            Value::Array(items) => Value::Array(items.iter().map(|it| self.hide_in(it)).collect()),
            Value::String(text) => Value::String(self.hide_in_text(text)),
            other => other.clone(),
        }
    }

    /// Returns a text without these secrets, nor any other that gives itself away.
    pub fn hide_in_text(&self, text: &str) -> String {
        let mut shown = Cow::Borrowed(text);
        for secret in self.known.iter().filter(|secret| text.contains(secret.as_str())) {
            shown = Cow::Owned(shown.replace(secret, self.mask()));
        }
        let mut shown = self.hide_words(&shown);
        for pattern in PATTERNS.iter() {
            let hidden = pattern.replace_all(&shown, |found: &Captures<'_>| self.hide_match(found));
            if let Cow::Owned(changed) = hidden {
                shown = changed;
            }
        }
        shown
    }

    /// Replaces each word that looks like a key, wherever it stands.
    fn hide_words(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut end = 0;
        for (start, word) in words(text) {
            shown.push_str(text.get(end..start).unwrap_or_default());
            shown.push_str(if looks_like_a_key(word) { self.mask() } else { word });
            end = start + word.len();
        }
        shown + text.get(end..).unwrap_or_default()
    }

    /// Returns what a pattern has found, with the mask in the place of the secret.
    fn hide_match(&self, found: &Captures<'_>) -> String {
        let whole = found.get_match();
        let Some(secret) = found.name("secret") else { return self.mask().to_owned() };
        let (start, end) = (secret.start() - whole.start(), secret.end() - whole.start());
        let (before, after) = (whole.as_str().get(..start), whole.as_str().get(end..));
        [before.unwrap_or_default(), self.mask(), after.unwrap_or_default()].concat()
    }

    fn mask(&self) -> &'static str {
        if self.for_model { MODEL_MASK } else { MASK }
    }
}

/// Secrets that are more than one word.
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let names = "password|passwd|secret|token|api[_-]?key|access[_-]?key|credential";
    let patterns = [
        "(?s)(?<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))"
            .to_owned(),
        r"(?i)authorization\s*[:=]\s*(?:(?:bearer|basic|token)\s+)?(?<secret>[^\s'\x22]{8,})"
            .to_owned(),
        r"://[^/\s:@'\x22]+:(?<secret>[^@\s/'\x22]+)@".to_owned(),
        // A value, not code: no brackets, at least eight characters, a digit among them.
        format!(
            r"(?i)(?:{names})[a-z0-9_-]*['\x22]?\s*[=:]\s*['\x22]?(?<secret>[a-z_+/.~!@#%^&*-]{{0,64}}[0-9][a-z0-9_+/.~!@#%^&*=-]{{3,}})"
        ),
        format!(r"(?i)--[a-z-]*(?:{names})[ =](?<secret>[^\s'\x22-][^\s'\x22]{{3,}})"),
    ];
    patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

/// Returns the words of a text in which a key could be, each with where it starts.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(is_word)?;
        let rest = text.get(start..)?;
        let word = rest.get(..rest.find(|c| !is_word(c)).unwrap_or(rest.len()))?;
        from = start + word.len();
        Some((start, word))
    })
}

/// Returns whether a text could be what another was before its secrets were masked.
pub(crate) fn fits_mask(kept: &str, given: &str) -> bool {
    let Some((first, masked)) = kept.split_once(MASK) else { return kept == given };
    let (between, last) = masked.rsplit_once(MASK).unwrap_or(("", masked));
    let Some(mut rest) = given.strip_prefix(first) else { return false };
    for part in between.split(MASK) {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns whether a changed input still holds the mask of a secret that it was shown without.
pub fn holds_mask(shown: &Value, changed: &Value) -> bool {
    *shown != mask_input(shown) && canonical_json(changed).contains(MASK)
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
        assert_eq!(mask_input(&input), expected);
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
            assert_eq!(mask_text(text), expected);
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
    fn a_secret_that_one_place_gives_away_is_hidden_in_all() {
        let call = json!({"api_key": "hunter2-x", "command": "mysql --password s3cret-pass db"});
        let secrets = Secrets::find_in(&call);
        assert_eq!(
            secrets.hide_in_text("'--password' 's3cret-pass' said hunter2-x"),
            "'--password' '***' said ***"
        );
        let secrets = secrets.for_model();
        assert_eq!(
            secrets.hide_in(&call),
            json!({"api_key": "[secret_removed]", "command": "mysql --password [secret_removed] db"})
        );
        // Too plain to be looked for: that would hide half of the text.
        let plain = Secrets::find_in(&json!({"token": "string"}));
        assert_eq!(plain.hide_in_text("a string"), "a string");
    }

    #[test]
    fn what_was_masked_is_known_again_by_what_is_left() {
        for (kept, given, fits) in [
            ("a *** b *** c", "a x b y c", true),
            ("***", "anything", true),
            ("plain", "plain", true),
            ("plain", "plainer", false),
            ("a *** c", "a x d", false),
            ("a *** b *** c", "a x c", false),
        ] {
            assert_eq!(fits_mask(kept, given), fits, "{kept} {given}");
        }
    }

    #[test]
    fn hiding_twice_is_hiding_once() {
        let text = "TOKEN=ghp_0123456789abcdefghij --password s3cret https://a:b1c2@h/ x";
        for secrets in [Secrets::default(), Secrets::default().for_model()] {
            let once = secrets.hide_in_text(text);
            assert_eq!(secrets.hide_in_text(&once), once);
        }
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        let text = "sk-short naïve — ünïcode, sk- and \u{0} too";
        assert_eq!(mask_input(&json!(text)), json!(text));
    }
}
