//! The rules of a file that somebody named.

use std::path::Path;

use anyhow::Context;
use countersign_core::rule::{Anchors, Format, Layer, RuleFile, Source};

use crate::hint::Hint;

/// Returns the rules of a file: they count as the user's own.
pub(super) fn of_file(file: &Path, anchors: &Anchors) -> anyhow::Result<Layer> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read `{}`", file.display()))
        .hint("give --rules a file like countersign.toml, or Claude Code's settings.json")?;
    let json = file.extension().is_some_and(|ending| ending == "json");
    let format = if json { Format::Json } else { Format::Toml };
    Ok(match RuleFile::parse(&text, format, anchors) {
        Ok(rules) => Layer::of_file(Source::User, true, rules),
        Err(error) => Layer::broken(Source::User, format!("`{}`: {error}", file.display()), &[]),
    })
}
