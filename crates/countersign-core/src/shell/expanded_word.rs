//! Expanded words: what a word becomes, as it is judged and as it is executed.

use super::canonical::{CanonicalScript, CanonicalWord};
use super::lower::{CommandLowerer, PartDraft};
use super::shell_state::ShellState;
use super::word::{self, ExpansionMode};
use super::{CommandWord, WordValue, hard_denial};
use crate::Effect;

/// Names of files that a pattern may stand for.
const MAX_MATCHES: usize = 256;

/// A word as it is judged, and as it is executed.
#[derive(Clone)]
pub(super) struct ExpandedWord {
    pub(super) word: CommandWord,
    pub(super) canonical: CanonicalWord,
    /// The pattern it comes from, with the first of the names that came of it.
    pub(super) pattern: Option<CommandWord>,
}

impl ExpandedWord {
    fn new(raw: &str, field: &word::ExpandedField, scripts: &[CanonicalScript]) -> Option<Self> {
        let value =
            field.literal().map_or(WordValue::Text, |text| WordValue::Literal(text.to_owned()));
        let word = CommandWord { text: raw.to_owned(), value, expanded: field.expanded };
        Some(Self { word, canonical: field.to_canonical(scripts)?, pattern: None })
    }

    /// A word of which nothing is known.
    fn unknown(raw: &str) -> Self {
        let canonical = CanonicalWord::default();
        Self { word: CommandWord::unknown_many(raw), canonical, pattern: None }
    }
}

impl CommandLowerer<'_> {
    /// Expands a word into the words it becomes, judges the commands in it, and notes why it is not
    /// understood.
    pub(super) fn words(
        &mut self,
        raw: &str,
        mode: ExpansionMode,
        draft: &mut PartDraft,
        state: &ShellState,
    ) -> Vec<ExpandedWord> {
        let expansion = word::expand(raw, mode, state);
        let scripts: Vec<_> =
            expansion.inner.iter().map(|inner| self.lower_text(inner, state.clone()).1).collect();
        let is_opaque = expansion.opaque.is_some();
        if let Some(why) = expansion.opaque {
            self.denials.extend(hard_denial::check_variable(raw));
            self.cannot_express(why.clone());
            draft.opaque(why);
        }
        if is_opaque {
            return vec![ExpandedWord::unknown(raw)];
        }
        let mut words = Vec::new();
        for field in &expansion.fields {
            match &field.pattern {
                Some(pattern) if mode == ExpansionMode::Word => {
                    let found = self.matching_names(pattern, draft, state);
                    words.extend(self.matched(raw, field, found, draft));
                }
                _ => words.extend(ExpandedWord::new(raw, field, &scripts)),
            }
        }
        words
    }

    /// Expands what stays one word.
    pub(super) fn single(
        &mut self,
        raw: &str,
        mode: ExpansionMode,
        draft: &mut PartDraft,
        state: &ShellState,
    ) -> ExpandedWord {
        let mut words = self.words(raw, mode, draft, state);
        if let (Some(word), true) = (words.pop(), words.is_empty()) {
            return word;
        }
        self.cannot_express(format!("`{raw}` is not one word"));
        draft.opaque(format!("`{raw}` is not one word"));
        ExpandedWord::unknown(raw)
    }

    /// The names that a pattern stands for: those of now, so that no others are met when it runs.
    fn matched(
        &mut self,
        raw: &str,
        field: &word::ExpandedField,
        names: Result<Vec<String>, String>,
        draft: &mut PartDraft,
    ) -> Vec<ExpandedWord> {
        match names {
            Ok(names) if names.is_empty() => {
                ExpandedWord::new(raw, field, &[]).into_iter().collect()
            }
            Ok(names) => {
                let written = CommandWord {
                    text: raw.to_owned(),
                    value: WordValue::Glob(field.pattern.clone().unwrap_or_default()),
                    expanded: field.expanded,
                };
                let expanded = |(number, name): (usize, String)| ExpandedWord {
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
                let value = WordValue::Glob(field.pattern.clone().unwrap_or_default());
                let word = CommandWord { value, ..ExpandedWord::unknown(raw).word };
                vec![ExpandedWord { word, ..ExpandedWord::unknown(raw) }]
            }
        }
    }

    /// Returns the names that match a pattern, and counts the folders that are listed for that as read.
    fn matching_names(
        &mut self,
        pattern: &str,
        draft: &mut PartDraft,
        state: &ShellState,
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
