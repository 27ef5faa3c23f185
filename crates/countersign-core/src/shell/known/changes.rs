//! Programs that change files, and nothing else: which, and with which options.

use super::super::Word;
use super::super::grammar::{self, Entry, Eye, entry};
use super::trees;
use crate::Effect;

/// Programs that change files, and nothing else, with these options.
const CHANGES: &[Entry] = &[
    entry(
        &["touch"],
        "-a -c -h -m -d=moment -t=text --date=moment --no-create --time=text",
        "write write*",
    ),
    entry(&["mkdir"], "-p -v -m=text --parents --verbose --mode=text", "write write*"),
    entry(&["tee"], "-a -i --append --ignore-interrupts", "write*"),
    entry(&["truncate"], "-c -o -s=text --no-create --size=text", "write write*"),
    entry(
        &["rm", "unlink"],
        "-d -f -i -I -r -R -v --dir --force --interactive[=text] --recursive --verbose --one-file-system --preserve-root",
        "",
    ),
    entry(&["rmdir"], "-p -v --parents --verbose --ignore-fail-on-non-empty", ""),
    entry(
        &["cp"],
        "-a -d -f -i -l -n -p -P -r -R -T -u -v -x --archive --force --interactive --link --no-clobber --no-dereference --preserve[=text] --recursive --update[=text] --verbose --no-target-directory",
        "",
    ),
    entry(
        &["mv"],
        "-f -i -n -T -u -v --force --interactive --no-clobber --update[=text] --verbose --no-target-directory",
        "",
    ),
    entry(
        &["ln"],
        "-f -i -n -r -s -T -v --force --interactive --no-dereference --relative --symbolic --no-target-directory --verbose",
        "",
    ),
    entry(&["chmod"], "-c -f -R -v --changes --silent --quiet --recursive --verbose", ""),
];

/// Returns what a program changes, if that is all it does.
pub(in super::super) fn changes(name: &str, args: &[Word], eye: Eye<'_>) -> Option<Vec<Effect>> {
    let entry = CHANGES.iter().find(|entry| entry.names.contains(&name))?;
    let given = || grammar::sort_arguments(entry, args, eye);
    let effects = match name {
        "rm" | "unlink" | "rmdir" => given().and_then(|given| trees::removed(&given, eye)),
        "cp" => given().and_then(|given| trees::copied(&given, eye)),
        "mv" => given().and_then(|given| trees::moved(&given, eye)),
        "ln" => given().and_then(|given| trees::linked(&given, eye)),
        "chmod" => given().and_then(|given| trees::set_modes(&given, eye)),
        _ => grammar::apply(entry, args, eye),
    };
    effects.ok()
}
