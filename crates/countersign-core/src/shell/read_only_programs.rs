//! Programs that are proven to only read. The forms are data: the files in `programs/`, which the build
//! script makes tables of.
//!
//! Left out on purpose: network tools, interpreters, pagers, whatever shows the environment,
//! options that write, run or read a list of further files, and options that follow links while
//! walking. Version managers answer `--version` by running what the project asks for (`rustup`,
//! `yarn`, `pnpm`, `go`), so a version is proven only of the program itself.

mod find;
mod form_tables;
mod found_names;
mod git;

use self::form_tables::{FORMS, GIT_FORMS};
pub(super) use self::found_names::found_names;
use super::CommandWord;
use super::argument_grammar::{self, ProgramSpec};
use super::machine_view::MachineView;
use crate::Effect;

/// What the table says of a call.
pub(super) enum ReadOnlyProof {
    /// It only reads, and this.
    Reads(Vec<Effect>),
    /// The program is listed, these arguments are not.
    Unproven(String),
    /// The program is not listed.
    Unlisted,
}

/// Returns whether a listed program is one that the shell does itself.
pub(super) fn is_builtin(name: &str) -> bool {
    FORMS.iter().any(|entry| entry.builtin && entry.names.contains(&name))
}

/// Looks a call up.
pub(super) fn prove(name: &str, args: &[CommandWord], view: MachineView<'_>) -> ReadOnlyProof {
    match name {
        "find" => proof(find::prove_find(args, view)),
        "git" => proof(git::prove_git(args, view)),
        _ => first_that_fits(FORMS, name, args, view),
    }
}

fn proof(result: Result<Vec<Effect>, String>) -> ReadOnlyProof {
    result.map_or_else(ReadOnlyProof::Unproven, ReadOnlyProof::Reads)
}

/// A name may have several entries, for several ways of using it.
fn first_that_fits(
    entries: &[ProgramSpec],
    name: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> ReadOnlyProof {
    let mut found = ReadOnlyProof::Unlisted;
    for entry in entries.iter().filter(|entry| entry.names.contains(&name)) {
        let Some(args) = entry.without_command(args).filter(|args| entry.is_meant(args)) else {
            continue;
        };
        match argument_grammar::apply(entry, &args, view) {
            Ok(mut effects) => {
                effects.extend(entry.remote_effect(name));
                return ReadOnlyProof::Reads(effects);
            }
            Err(_) if entry.may_change => {}
            Err(why) => found = ReadOnlyProof::Unproven(why),
        }
    }
    found
}

#[cfg(test)]
pub(super) fn examples() -> impl Iterator<Item = (&'static str, bool)> {
    let entries = FORMS.iter().chain(GIT_FORMS);
    entries.flat_map(|entry| {
        let ok = entry.ok.iter().map(|example| (*example, true));
        ok.chain(entry.not.iter().map(|example| (*example, false)))
    })
}

#[cfg(test)]
pub(super) fn names() -> std::collections::BTreeSet<&'static str> {
    FORMS.iter().flat_map(|entry| entry.names).copied().collect()
}
