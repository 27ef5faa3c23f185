//! The second fence, for files: Landlock, which also holds where the view should have a hole.
//!
//! It can only give rights to whole trees, so what is read-only within a writable folder is for the
//! view. Where there is no view, what must not be read is left out by giving its neighbours instead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};

use super::launch_spec::LaunchSpec;

/// The least that is a fence: files cannot be cut short or moved across it (Linux 6.2).
const LEAST: ABI = ABI::V3;
/// The most this knows how to use (Linux 7.1, which also fences sockets that have a path); what the
/// kernel lacks of it is left out.
const MOST: ABI = ABI::V9;

/// Devices that everybody uses.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// Why the fence does not stand.
#[derive(Debug, thiserror::Error)]
pub(super) enum LandlockError {
    #[error("this kernel's Landlock is missing or too old (Linux 6.2 or newer is needed)")]
    Missing,
    #[error("Landlock: {0}")]
    Landlock(#[from] landlock::RulesetError),
    #[error("could not list `{path}`: {cause}")]
    List { path: PathBuf, cause: io::Error },
}

/// What the kernel lets the fence close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LandlockScope {
    /// Files, but no sockets that are files.
    Files,
    /// Both: all that this knows of.
    FilesAndSockets,
}

/// Fences this process and all it starts, for good.
pub(super) fn close(order: &LaunchSpec) -> Result<LandlockScope, LandlockError> {
    let needed =
        if order.needs_landlock { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let mut rules = Ruleset::default()
        .set_compatibility(needed)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(MOST))?
        .scope(Scope::AbstractUnixSocket)?
        .scope(Scope::Signal)?;
    if !order.has_view {
        // Without a network of its own it gets none.
        rules = rules.handle_access(AccessNet::from_all(MOST))?;
    }
    let rules = rules.create()?;
    let rules = give(rules, Path::new("/"), AccessFs::from_read(MOST), &order.hidden)?;
    let rules = order.writable.iter().try_fold(rules, |rules, folder| {
        give(rules, folder, AccessFs::from_all(MOST), &order.hidden)
    })?;
    let devices = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let rules = DEVICES
        .iter()
        .try_fold(rules, |rules, device| give(rules, Path::new(device), devices, &[]))?;
    let status = rules.restrict_self()?;
    match status.ruleset {
        RulesetStatus::NotEnforced if order.needs_landlock => Err(LandlockError::Missing),
        RulesetStatus::FullyEnforced => Ok(LandlockScope::FilesAndSockets),
        RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => Ok(LandlockScope::Files),
    }
}

/// Gives rights to all that is in a folder but for what is hidden. What is not there gets nothing.
fn give(
    rules: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
    hidden: &[PathBuf],
) -> Result<RulesetCreated, LandlockError> {
    if hidden.iter().any(|it| path.starts_with(it)) {
        return Ok(rules);
    }
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    if !hidden.iter().any(|it| it.starts_with(path)) {
        let of_kind = if path.is_dir() { rights } else { rights & AccessFs::from_file(MOST) };
        return Ok(rules.add_rule(PathBeneath::new(opened, of_kind))?);
    }
    // The names in it may be listed, since a rule for the folder would be one for what is hidden.
    let rules = rules.add_rule(PathBeneath::new(opened, AccessFs::ReadDir))?;
    let listing = |cause| LandlockError::List { path: path.to_owned(), cause };
    fs::read_dir(path).map_err(listing)?.try_fold(rules, |rules, entry| {
        let entry = entry.map_err(listing)?;
        // A link gives nothing by itself: what it leads to has rights of its own.
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link { Ok(rules) } else { give(rules, &entry.path(), rights, hidden) }
    })
}
