//! Expanded words: what a word becomes, as it is judged and as it is executed.

use super::canonical::{CanonicalScript, CanonicalWord};
use super::lower::{Draft, Lowering};
use super::state::State;
use super::word::{self, Mode};
use super::{Value, Word, floor};
use crate::Effect;

/// Names of files that a pattern may stand for.
const MAX_MATCHES: usize = 256;

/// A word as it is judged, and as it is executed.
#[derive(Clone)]
pub(super) struct Expanded {
    pub(super) word: Word,
    pub(super) canonical: CanonicalWord,
    /// The pattern it comes from, with the first of the names that came of it.
    pub(super) pattern: Option<Word>,
}

impl Expanded {
    fn new(raw: &str, field: &word::Field, scripts: &[CanonicalScript]) -> Option<Self> {
        let value = field.literal().map_or(Value::Text, |text| Value::Literal(text.to_owned()));
        let word = Word { text: raw.to_owned(), value, expanded: field.expanded };
        Some(Self { word, canonical: field.to_canonical(scripts)?, pattern: None })
    }

    /// A word of which nothing is known.
    fn unknown(raw: &str) -> Self {
        let canonical = CanonicalWord::default();
        Self { word: Word::unknown_many(raw), canonical, pattern: None }
    }
}

impl Lowering<'_> {
    /// Expands a word into the words it becomes, judges the commands in it, and notes why it is not
    /// understood.
    pub(super) fn words(
        &mut self,
        raw: &str,
        mode: Mode,
        draft: &mut Draft,
        state: &State,
    ) -> Vec<Expanded> {
        let expansion = word::expand(raw, mode, state);
        let scripts: Vec<_> =
            expansion.inner.iter().map(|inner| self.text(inner, state.clone()).1).collect();
        let is_opaque = expansion.opaque.is_some();
        if let Some(why) = expansion.opaque {
            self.floors.extend(floor::of_variable(raw));
            self.cannot_express(why.clone());
            draft.opaque(why);
        }
        if is_opaque {
            return vec![Expanded::unknown(raw)];
        }
        let mut words = Vec::new();
        for field in &expansion.fields {
            match &field.pattern {
                Some(pattern) if mode == Mode::Word => {
                    let found = self.matching_names(pattern, draft, state);
                    words.extend(self.matched(raw, field, found, draft));
                }
                _ => words.extend(Expanded::new(raw, field, &scripts)),
            }
        }
        words
    }

    /// Expands what stays one word.
    pub(super) fn single(
        &mut self,
        raw: &str,
        mode: Mode,
        draft: &mut Draft,
        state: &State,
    ) -> Expanded {
        let mut words = self.words(raw, mode, draft, state);
        if let (Some(word), true) = (words.pop(), words.is_empty()) {
            return word;
        }
        self.cannot_express(format!("`{raw}` is not one word"));
        draft.opaque(format!("`{raw}` is not one word"));
        Expanded::unknown(raw)
    }

    /// The names that a pattern stands for: those of now, so that no others are met when it runs.
    fn matched(
        &mut self,
        raw: &str,
        field: &word::Field,
        names: Result<Vec<String>, String>,
        draft: &mut Draft,
    ) -> Vec<Expanded> {
        match names {
            Ok(names) if names.is_empty() => Expanded::new(raw, field, &[]).into_iter().collect(),
            Ok(names) => {
                let written = Word {
                    text: raw.to_owned(),
                    value: Value::Glob(field.pattern.clone().unwrap_or_default()),
                    expanded: field.expanded,
                };
                let expanded = |(number, name): (usize, String)| Expanded {
                    // What was written stays in sight: a name may turn out to be an option.
                    word: written.clone().with_literal(&name),
                    canonical: CanonicalWord::literal(name),
                    pattern: (number == 0).then(|| written.clone()),
                };
                names.into_iter().enumerate().map(expanded).collect()
            }
            Err(why) => {
                self.cannot_express(why.clone());
                draft.opaque(why);
                let value = Value::Glob(field.pattern.clone().unwrap_or_default());
                let word = Word { value, ..Expanded::unknown(raw).word };
                vec![Expanded { word, ..Expanded::unknown(raw) }]
            }
        }
    }

    /// Returns the names that match a pattern, and counts the folders that are listed for that as read.
    fn matching_names(
        &mut self,
        pattern: &str,
        draft: &mut Draft,
        state: &State,
    ) -> Result<Vec<String>, String> {
        let unknown = || format!("what `{pattern}` matches is unknown");
        let [folder] = state.folders.as_deref().unwrap_or_default() else { return Err(unknown()) };
        let climbs = |name: &str| name.starts_with('.') && name.contains(['*', '?', '[']);
        if pattern.split('/').any(climbs) {
            return Err(format!("whether `{pattern}` matches `..` differs between shells"));
        }
        if let Some(what) = &state.changed {
            return Err(format!("{what} comes before it and may change what `{pattern}` matches"));
        }
        let fixed = pattern.find(['*', '?', '[', '\\']).and_then(|at| pattern.get(..at));
        let listed = fixed.and_then(|fixed| fixed.rsplit_once('/')).map_or(".", |(it, _)| it);
        let listed = if listed.is_empty() { "/" } else { listed };
        let names = self.context.machine.expand_pattern(folder, pattern).ok_or_else(unknown)?;
        if names.len() > MAX_MATCHES {
            return Err(format!("`{pattern}` matches more than {MAX_MATCHES} names"));
        }
        let mut folders = vec![listed];
        for parent in names.iter().filter_map(|name| name.rsplit_once('/')).map(|(it, _)| it) {
            if folders.last() != Some(&parent) {
                folders.push(if parent.is_empty() { "/" } else { parent });
            }
        }
        for folder in folders {
            draft.effects.extend(self.targets(folder, state)?.into_iter().map(Effect::Read));
        }
        Ok(names)
    }
}
