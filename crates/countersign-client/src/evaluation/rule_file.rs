//! The rules of a file that somebody named.

use std::path::{Path, PathBuf};

use countersign_core::rule::{PatternAnchors, RuleFile, RuleFileFormat, RuleLayer, RuleSource};

/// A file of rules that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("could not read `{}`", .0.display())]
pub struct RuleFileError(PathBuf, #[source] std::io::Error);

/// Returns the rules of a file: they count as the user's own.
pub fn load_rule_file(file: &Path, anchors: &PatternAnchors) -> Result<RuleLayer, RuleFileError> {
    let text =
        std::fs::read_to_string(file).map_err(|error| RuleFileError(file.to_owned(), error))?;
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
