//! Texts with `{{gaps}}`, checked when they are read and filled when they are said.

use std::collections::BTreeMap;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// A text with gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextTemplate(Vec<TemplatePiece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Literal(String),
    Prompt,
    PromptGroup(String),
    Result,
    ResultGroup(String),
    CallField(String),
    WorkingDirectory,
    Index,
}

/// A JSON value whose strings have gaps.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonTemplate {
    Text(TextTemplate),
    List(Vec<JsonTemplate>),
    Table(Vec<(String, JsonTemplate)>),
    Plain(Value),
}

/// A gap that nothing fills.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownPlaceholder(pub(super) String);

/// The names that a template may use, beside those that are always there.
#[derive(Debug, Default)]
pub(super) struct PlaceholderNames {
    prompt: Vec<String>,
    result: Vec<String>,
}

impl PlaceholderNames {
    /// Returns the names of the groups in these expressions.
    pub(super) fn from_patterns<'a>(
        prompt: Option<&Regex>,
        results: impl IntoIterator<Item = &'a Regex>,
    ) -> Self {
        Self {
            prompt: prompt.map(groups_in).unwrap_or_default(),
            result: results.into_iter().flat_map(groups_in).collect(),
        }
    }
}

/// The groups that an expression found, by number and by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CaptureGroups(BTreeMap<String, String>);

impl CaptureGroups {
    /// Returns what `regex` found.
    pub(super) fn from_captures(regex: &Regex, found: &Captures<'_>) -> Self {
        let text = |group: Option<regex::Match<'_>>| group.map_or("", |it| it.as_str()).to_owned();
        let numbered = found.iter().enumerate().map(|(n, group)| (n.to_string(), text(group)));
        let named = regex.capture_names().flatten();
        let named = named.map(|name| (name.to_owned(), text(found.name(name))));
        Self(numbered.chain(named).collect())
    }

    /// Returns these groups, and the others where these have none.
    pub(super) fn or(mut self, others: Self) -> Self {
        for (name, text) in others.0 {
            self.0.entry(name).or_insert(text);
        }
        self
    }

    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

/// What fills the gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct TemplateValues {
    pub(super) prompt: String,
    pub(super) prompt_groups: CaptureGroups,
    pub(super) result: String,
    pub(super) result_groups: CaptureGroups,
    /// The input of the call before.
    pub(super) call: Value,
    pub(super) cwd: String,
    pub(super) index: u32,
}

impl TextTemplate {
    /// Reads a text; every gap in it must have a name that something gives a value to.
    pub(super) fn parse(text: &str, names: &PlaceholderNames) -> Result<Self, UnknownPlaceholder> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                break;
            };
            pieces.push(TemplatePiece::Literal(before.to_owned()));
            pieces.push(
                piece(name.trim(), names).ok_or_else(|| UnknownPlaceholder(name.to_owned()))?,
            );
            rest = after;
        }
        pieces.push(TemplatePiece::Literal(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// Returns the text with its gaps filled.
    pub(super) fn render(&self, context: &TemplateValues) -> String {
        self.0.iter().map(|piece| piece.render(context)).collect()
    }
}

fn piece(name: &str, names: &PlaceholderNames) -> Option<TemplatePiece> {
    Some(match name {
        "prompt" => TemplatePiece::Prompt,
        "result" => TemplatePiece::Result,
        "cwd" => TemplatePiece::WorkingDirectory,
        "i" => TemplatePiece::Index,
        _ => match name.split_once('.') {
            Some(("call", field)) if !field.is_empty() => {
                TemplatePiece::CallField(field.to_owned())
            }
            Some(("prompt", group)) if has(&names.prompt, group) => {
                TemplatePiece::PromptGroup(group.to_owned())
            }
            None if has(&names.result, name) => TemplatePiece::ResultGroup(name.to_owned()),
            _ => return None,
        },
    })
}

impl TemplatePiece {
    fn render(&self, context: &TemplateValues) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            Self::Prompt => context.prompt.clone(),
            Self::PromptGroup(group) => context.prompt_groups.get(group).to_owned(),
            Self::Result => context.result.clone(),
            Self::ResultGroup(group) => context.result_groups.get(group).to_owned(),
            Self::CallField(field) => match context.call.get(field) {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            },
            Self::WorkingDirectory => context.cwd.clone(),
            Self::Index => context.index.to_string(),
        }
    }
}

impl JsonTemplate {
    /// Reads a JSON value, with the gaps in its strings.
    pub(super) fn parse(
        value: Value,
        names: &PlaceholderNames,
    ) -> Result<Self, UnknownPlaceholder> {
        Ok(match value {
            Value::String(text) => Self::Text(TextTemplate::parse(&text, names)?),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| Self::parse(item, names));
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let fields =
                    fields.into_iter().map(|(key, value)| Ok((key, Self::parse(value, names)?)));
                Self::Table(fields.collect::<Result<_, _>>()?)
            }
            plain => Self::Plain(plain),
        })
    }

    /// Returns the value with its gaps filled.
    pub(super) fn render(&self, context: &TemplateValues) -> Value {
        match self {
            Self::Text(template) => Value::String(template.render(context)),
            Self::List(items) => items.iter().map(|item| item.render(context)).collect(),
            Self::Table(fields) => {
                let fields = fields.iter().map(|(key, shape)| (key.clone(), shape.render(context)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Self::Plain(value) => value.clone(),
        }
    }
}

fn groups_in(regex: &Regex) -> Vec<String> {
    let numbers = (0..regex.captures_len()).map(|n| n.to_string());
    numbers.chain(regex.capture_names().flatten().map(str::to_owned)).collect()
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gaps_are_filled() {
        let regex = Regex::new(r"call it (?<name>\S+)( please)?").unwrap();
        let groups =
            CaptureGroups::from_captures(&regex, &regex.captures("call it b.txt").unwrap());
        let context = TemplateValues {
            prompt: "hi".into(),
            result: "no".into(),
            result_groups: groups,
            call: json!({"file_path": "a.txt", "limit": 3}),
            cwd: "/w".into(),
            index: 7,
            ..TemplateValues::default()
        };
        let names = PlaceholderNames::from_patterns(None, [&regex]);
        let check = |text: &str, filled: &str| {
            assert_eq!(TextTemplate::parse(text, &names).unwrap().render(&context), filled);
        };
        check("plain", "plain");
        check("{{prompt}}, {{result}}: {{1}} = {{name}}{{2}}!", "hi, no: b.txt = b.txt!");
        check("{{call.file_path}} {{call.limit}} {{call.none}}", "a.txt 3 ");
        check("{{ cwd }}/{{i}}", "/w/7");
        check("{{ open", "{{ open");
    }

    #[test]
    fn a_gap_that_nothing_fills_is_an_error() {
        let names = PlaceholderNames::default();
        for name in ["1", "nmae", "prompt.1", "call.", "", "result.1"] {
            let text = format!("a {{{{{name}}}}} b");
            assert_eq!(
                TextTemplate::parse(&text, &names),
                Err(UnknownPlaceholder(name.to_owned()))
            );
        }
    }

    #[test]
    fn every_string_in_an_input_may_have_gaps() {
        let input = json!({"a": ["{{i}}", 1], "b": {"c": "n{{i}}"}, "d": true});
        let shape = JsonTemplate::parse(input, &PlaceholderNames::default()).unwrap();
        let context = TemplateValues { index: 2, ..TemplateValues::default() };
        assert_eq!(shape.render(&context), json!({"a": ["2", 1], "b": {"c": "n2"}, "d": true}));
    }
}
