//! The rules of a file that somebody named.

use std::path::Path;

use anyhow::Context;
use countersign_core::rule::{PatternAnchors, RuleFile, RuleFileFormat, RuleLayer, RuleSource};

use crate::hint::HintExt;

/// Returns the rules of a file: they count as the user's own.
pub(super) fn load_rule_file(file: &Path, anchors: &PatternAnchors) -> anyhow::Result<RuleLayer> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read `{}`", file.display()))
        .hint("give --rules a file like countersign.toml, or Claude Code's settings.json")?;
    let json = file.extension().is_some_and(|ending| ending == "json");
    let format = if json { RuleFileFormat::Json } else { RuleFileFormat::Toml };
    Ok(match RuleFile::parse(&text, format, anchors) {
        Ok(rules) => RuleLayer::from_file(RuleSource::User, true, rules),
        Err(error) => RuleLayer::for_unreadable_file(
            RuleSource::User,
            format!("`{}`: {error}", file.display()),
            &[],
        ),
    })
}
