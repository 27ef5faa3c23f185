//! git's reading commands, and only in a folder whose configuration was audited and is clean.

mod exposed_secrets;

use super::super::CommandWord;
use super::super::machine_view::MachineView;
use super::super::shell_state::ShellState;
use super::{GIT_FORMS, ReadOnlyProof, first_that_fits};
use crate::{Effect, WorkspaceSide};

/// Returns what a `git` reads, or why it may do more.
pub(super) fn prove_git(
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    let (args, state) = enter_folder(args, view)?;
    let view = MachineView { state: &state, ..view };
    let mut words = args.iter().map(|word| word.literal().filter(|_| !word.expanded));
    let command = words.next().flatten().ok_or("which git command it runs is not clear")?;
    let args = args.get(1..).unwrap_or_default();
    let two = words.next().flatten().map(|second| format!("{command} {second}"));
    let two = two.filter(|two| GIT_FORMS.iter().any(|entry| entry.names.contains(&two.as_str())));
    let (command, args) = match &two {
        Some(two) => (two.as_str(), args.get(1..).unwrap_or_default()),
        None => (command, args),
    };
    let mut effects = prove(command, args, view)?;
    if !matches!(command, "version" | "--version") {
        audit(view)?;
        compares_outside(command, args, view)?;
        effects.extend(whole_repository(command, view)?);
        effects.extend(exposed_secrets::find_exposed_secrets(command, args, view)?);
    }
    Ok(effects)
}

/// Takes off what stands before the command: `--no-pager`, and `-C` with the folder it moves to.
fn enter_folder<'w>(
    args: &'w [CommandWord],
    view: MachineView<'_>,
) -> Result<(&'w [CommandWord], ShellState), String> {
    let mut state = view.state.clone();
    let mut rest = args;
    loop {
        match rest {
            [option, more @ ..] if option.literal() == Some("--no-pager") => rest = more,
            [option, folder, more @ ..] if option.literal() == Some("-C") => {
                let unclear = || format!("which folder `{}` is, is not clear", folder.text);
                let path = folder.literal().filter(|path| !path.is_empty()).ok_or_else(unclear)?;
                let found = view.lowering.targets(path, &state)?;
                if found.iter().any(|target| target.place.side == WorkspaceSide::Outside) {
                    return Err(format!("`{path}` is not in the workspace"));
                }
                state.enter(found.into_iter().map(|target| target.path).collect());
                rest = more;
            }
            _ => return Ok((rest, state)),
        }
    }
}

fn prove(
    command: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<Vec<Effect>, String> {
    match first_that_fits(GIT_FORMS, command, args, view) {
        ReadOnlyProof::Reads(effects) => Ok(effects),
        ReadOnlyProof::Unproven(why) => Err(why),
        ReadOnlyProof::Unlisted => {
            Err(format!("`git {command}` is not among the commands known to only read"))
        }
    }
}

/// Where there is no repository, `git diff` compares any two paths, and `git grep` may search them.
fn compares_outside(
    command: &str,
    args: &[CommandWord],
    view: MachineView<'_>,
) -> Result<(), String> {
    let names_something = args.iter().any(|word| !word.effective_text().starts_with('-'));
    let may = command == "grep" || (command == "diff" && names_something);
    let machine = view.lowering.context.machine;
    let mut folders = view.state.folders.iter().flatten();
    if may && folders.any(|folder| machine.git_top(folder).is_none()) {
        return Err(format!("outside a repository `git {command}` reads any files it is given"));
    }
    Ok(())
}

/// Commands that tell of references and settings, and of no file.
const WITHOUT_FILES: &[&str] = &[
    "branch",
    "config",
    "count-objects",
    "describe",
    "for-each-ref",
    "ls-remote",
    "merge-base",
    "name-rev",
    "remote",
    "remote get-url",
    "rev-parse",
    "show-ref",
    "symbolic-ref",
    "tag",
    "worktree list",
];

/// Returns that git reads all of its repository, also from a folder inside it: `git diff` compares files
/// above the folder that it runs in, which may lie outside the workspace.
fn whole_repository(command: &str, view: MachineView<'_>) -> Result<Vec<Effect>, String> {
    if WITHOUT_FILES.contains(&command) {
        return Ok(Vec::new());
    }
    let mut effects = Vec::new();
    for folder in view.state.folders.iter().flatten() {
        let Some(top) = view.lowering.context.machine.git_top(folder) else { continue };
        if top == *folder {
            continue;
        }
        let path = top.to_str().ok_or("the name of git's repository is not UTF-8")?;
        let found = view.lowering.targets(path, view.state)?;
        effects.extend(found.into_iter().map(Effect::Read));
    }
    Ok(effects)
}

/// Every folder it may run in has a repository of its own, perhaps.
fn audit(view: MachineView<'_>) -> Result<(), String> {
    let machine = view.lowering.context.machine;
    let folders = view.state.folders.as_ref().ok_or("in which folder git runs is not clear")?;
    let changed = view.lowering.parts.iter().flat_map(|part| &part.effects);
    let changed = changed.into_iter().any(|effect| !effect.is_read_only());
    for folder in folders {
        match machine.git_hazards(folder) {
            Some(hazards) if hazards.is_empty() => {}
            Some(hazards) => {
                return Err(format!(
                    "git may run programs or show other files here: {}",
                    hazards.join(", ")
                ));
            }
            None => return Err("git's configuration here could not be checked".to_owned()),
        }
        // Three files make a folder a repository, and git takes the nearest.
        if changed && machine.git_top(folder).as_ref() != Some(folder) {
            return Err("what was changed before may make git use another repository".to_owned());
        }
    }
    Ok(())
}
