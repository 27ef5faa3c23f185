//! Files that are not there: what they may have been meant to be.

use std::path::Path;

use countersign_core::{EffectTarget, WorkspaceSide};

use crate::tool_error::ToolError;

/// Says that a file is not there, and what it may have been meant to be.
pub(super) fn missing_file_error(path: &str, target: &EffectTarget) -> ToolError {
    let hint = match similar(target) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; find it with Glob".to_owned(),
    };
    ToolError::invalid(format!("`{path}` does not exist{hint}"))
}

/// Returns the name next to a missing one that looks most like it.
fn similar(target: &EffectTarget) -> Option<String> {
    // Outside the workspace even names are nobody's business.
    if target.place.side == WorkspaceSide::Outside {
        return None;
    }
    let wanted = target.path.file_name()?.to_str()?.to_lowercase();
    let names = std::fs::read_dir(target.path.parent()?).ok()?.take(10_000);
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let stem = |name: &str| Path::new(name).file_stem().map(std::ffi::OsStr::to_owned);
    names
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance =
                if stem(&lower) == stem(&wanted) { 1 } else { distance(&lower, &wanted) };
            (distance <= 1 + wanted.chars().count() / 5).then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// Returns how many letters have to be put in, taken out or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (to, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(from != *to);
            diagonal = *cell;
            before = changed.min(before + 1).min(*cell + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("main.rs", "main.rs"), 0);
        assert_eq!(distance("mian.rs", "main.rs"), 2);
        assert_eq!(distance("mai.rs", "main.rs"), 1);
    }
}
