//! `find`: tests and printing only.

use super::super::grammar::Eye;
use super::super::{Value, Word};
use crate::Effect;

/// Tests and actions, with the kinds of their values.
const PRIMARIES: &[(&str, &str)] = &[
    ("-a", ""),
    ("-and", ""),
    ("-o", ""),
    ("-or", ""),
    ("-not", ""),
    ("!", ""),
    ("(", ""),
    (")", ""),
    (",", ""),
    ("-daystart", ""),
    ("-depth", ""),
    ("-d", ""),
    ("-mount", ""),
    ("-xdev", ""),
    ("-noleaf", ""),
    ("-ignore_readdir_race", ""),
    ("-noignore_readdir_race", ""),
    ("-warn", ""),
    ("-nowarn", ""),
    ("-maxdepth", "text"),
    ("-mindepth", "text"),
    ("-regextype", "text"),
    ("-amin", "text"),
    ("-atime", "text"),
    ("-cmin", "text"),
    ("-ctime", "text"),
    ("-mmin", "text"),
    ("-mtime", "text"),
    ("-anewer", "path"),
    ("-cnewer", "path"),
    ("-newer", "path"),
    ("-samefile", "path"),
    ("-newermt", "text"),
    ("-newerct", "text"),
    ("-newerat", "text"),
    ("-empty", ""),
    ("-executable", ""),
    ("-readable", ""),
    ("-writable", ""),
    ("-false", ""),
    ("-true", ""),
    ("-fstype", "text"),
    ("-gid", "text"),
    ("-group", "text"),
    ("-uid", "text"),
    ("-user", "text"),
    ("-nouser", ""),
    ("-nogroup", ""),
    ("-name", "text"),
    ("-iname", "text"),
    ("-path", "text"),
    ("-ipath", "text"),
    ("-wholename", "text"),
    ("-iwholename", "text"),
    ("-regex", "text"),
    ("-iregex", "text"),
    ("-lname", "text"),
    ("-ilname", "text"),
    ("-inum", "text"),
    ("-links", "text"),
    ("-perm", "text"),
    ("-size", "text"),
    ("-type", "text"),
    ("-xtype", "text"),
    ("-used", "text"),
    ("-print", ""),
    ("-print0", ""),
    ("-printf", "text"),
    ("-ls", ""),
    ("-prune", ""),
    ("-quit", ""),
];

/// Returns what a `find` reads, or why it may do more.
pub(super) fn reads(args: &[Word], eye: Eye<'_>) -> Result<Vec<Effect>, String> {
    let is_start = |word: &&Word| match &word.value {
        Value::Literal(text) => !text.starts_with(['-', '(', '!', ')', ',']),
        Value::Glob(pattern) => {
            !pattern.starts_with(['-', '*', '?', '[', '\\', '(', '!', ')', ','])
        }
        Value::Text | Value::Words => false,
    };
    let options =
        args.iter().take_while(|word| matches!(word.literal(), Some("-H" | "-P"))).count();
    let args = args.get(options..).unwrap_or_default();
    let starts: Vec<_> = args.iter().take_while(is_start).collect();
    let mut effects = Vec::new();
    for start in &starts {
        effects.extend(eye.reads(start)?);
    }
    if starts.is_empty() {
        effects.extend(eye.reads(&Word::plain("."))?);
    }
    effects.extend(expression(args.get(starts.len()..).unwrap_or_default(), eye)?);
    Ok(effects)
}

fn expression(words: &[Word], eye: Eye<'_>) -> Result<Vec<Effect>, String> {
    let mut effects = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let name = word
            .literal()
            .ok_or_else(|| format!("`{}` may turn out to be an action", word.text))?;
        let known = PRIMARIES.iter().find(|(primary, _)| *primary == name);
        let (_, kind) =
            known.ok_or_else(|| format!("`{name}` is not among the tests known to be harmless"))?;
        if kind.is_empty() {
            continue;
        }
        let value = words.next().ok_or_else(|| format!("`{name}` lacks its value"))?;
        value
            .literal()
            .ok_or_else(|| format!("`{}` may turn out to be several words", value.text))?;
        if *kind == "path" {
            effects.extend(eye.reads(value)?);
        }
    }
    Ok(effects)
}
