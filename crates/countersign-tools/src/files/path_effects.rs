//! What a call reaches on the disk: the effects of reading and writing a path, with what is odd
//! about the thing that stands there.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use countersign_core::{Effect, EffectTarget, InvalidCall};

use crate::files::disk::{self, DiskError};
use crate::files::escape::escape_to_line;

/// Returns the effect of reading what a path of a call leads to, a file or a folder.
pub(crate) fn read_effect(path: &str, target: EffectTarget) -> Result<Effect, InvalidCall> {
    look_at_target(path, &target)?;
    Ok(Effect::Read(target))
}

/// Returns the effect of reading everything below what a path of a call leads to.
pub(crate) fn search_effect(path: &str, target: EffectTarget) -> Result<Effect, InvalidCall> {
    look_at_target(path, &target)?;
    Ok(Effect::ReadAll(target))
}

/// Returns the effects of writing to what a path of a call leads to.
///
/// A file with a second name is not only what its path says: that cannot be judged by the path.
pub(crate) fn write_effects(path: &str, target: EffectTarget) -> Result<Vec<Effect>, InvalidCall> {
    let found = look_at_target(path, &target)?;
    let mut effects = vec![Effect::Write(target)];
    effects.extend(found.filter(is_shared).map(|_| Effect::Opaque {
        why: format!(
            "`{}` has another name (hard link): what else the change reaches is not known",
            escape_to_line(path)
        ),
    }));
    Ok(effects)
}

/// Returns whether something stands there already.
pub(crate) fn exists(target: &EffectTarget) -> bool {
    target.path.symlink_metadata().is_ok()
}

/// Returns whether a path of a call, as it is written, is a link.
pub(crate) fn is_link(cwd: &Path, path: &str) -> bool {
    cwd.join(path).symlink_metadata().is_ok_and(|found| found.is_symlink())
}

fn is_shared(found: &Metadata) -> bool {
    found.is_file() && found.nlink() > 1
}

/// Returns what stands at a path, if it is something that is read and written by its content.
fn look_at_target(path: &str, target: &EffectTarget) -> Result<Option<Metadata>, InvalidCall> {
    // What cannot be looked at is said when it is opened; a link here was put there just now.
    let Ok(found) = target.path.symlink_metadata() else { return Ok(None) };
    match disk::check_regular(&found) {
        Ok(()) | Err(DiskError::Folder) => Ok(Some(found)),
        Err(odd) => Err(odd.in_preview(&escape_to_line(path))),
    }
}
