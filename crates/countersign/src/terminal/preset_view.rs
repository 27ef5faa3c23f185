//! Presets of rules, as `policy preset` prints them.

use anyhow::Context;
use countersign_core::rule::RulePreset;
use serde_json::{Value, json};

use crate::hint::HintExt;
use crate::output;

/// Prints all presets, or one with its rules and how to choose it.
pub(crate) fn print(name: Option<&str>, as_json: bool) -> anyhow::Result<()> {
    let presets = match name {
        Some(name) => vec![find(name)?],
        None => RulePreset::all(),
    };
    if as_json {
        output::line(&presets.iter().map(to_json).collect::<Value>().to_string());
    } else if name.is_some() {
        presets.iter().for_each(print_one);
    } else {
        for preset in &presets {
            output::line(&format!("{:<16} {}", preset.name, preset.title));
        }
    }
    Ok(())
}

fn find(name: &str) -> anyhow::Result<RulePreset> {
    let names: Vec<_> = RulePreset::names().collect();
    RulePreset::find(name)
        .with_context(|| format!("no preset is called `{name}`"))
        .hint(format!("there are {}", names.join(", ")))
}

fn print_one(preset: &RulePreset) {
    let RulePreset { name, title, about, allow, not_matches, .. } = preset;
    output::line(&format!("{title}\n{about}\n\nIt allows:"));
    for rule in allow {
        output::line(&format!("  {rule}"));
    }
    output::line("\nFor example, these still ask:");
    for command in not_matches {
        output::line(&format!("  {command}"));
    }
    output::line(&format!(
        "\nTo choose it, write this into your config.toml or the workspace's countersign.toml:\n\
         [permissions]\npresets = [\"{name}\"]"
    ));
}

fn to_json(preset: &RulePreset) -> Value {
    let RulePreset { name, title, about, allow, matches, not_matches } = preset;
    json!({
        "name": name,
        "title": title,
        "about": about,
        "allow": allow,
        "match": matches,
        "not_match": not_matches,
    })
}
