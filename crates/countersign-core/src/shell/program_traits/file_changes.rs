//! Programs that change files, and nothing else: which, and with which options.

use super::super::CommandWord;
use super::super::argument_grammar::{self, ProgramSpec, entry};
use super::super::machine_view::MachineView;
use super::tree_effects;
use crate::Effect;

/// Programs that change files, and nothing else, with these options.
const CHANGES: &[ProgramSpec] = &[
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
pub(in super::super) fn file_change_effects(
    name: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Option<Vec<Effect>> {
    let entry = CHANGES.iter().find(|entry| entry.names.contains(&name))?;
    let given = || argument_grammar::sort_arguments(entry, args, view);
    let effects = match name {
        "rm" | "unlink" | "rmdir" => {
            given().and_then(|given| tree_effects::removal_effects(&given, view))
        }
        "cp" => given().and_then(|given| tree_effects::copy_effects(&given, view)),
        "mv" => given().and_then(|given| tree_effects::move_effects(&given, view)),
        "ln" => given().and_then(|given| tree_effects::link_effects(&given, view)),
        "chmod" => given().and_then(|given| tree_effects::mode_effects(&given, view)),
        _ => argument_grammar::apply(entry, args, view),
    };
    effects.ok()
}
