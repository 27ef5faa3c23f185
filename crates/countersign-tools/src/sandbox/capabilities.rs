//! Rights: what root has beyond its own files, given up for good where no view has taken it.

use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, capability_is_in_bounding_set, remove_capability_from_bounding_set,
    set_no_new_privs,
};

/// Gives up every capability: whoever is started from here on has none, root included.
pub(super) fn give_up() -> rustix::io::Result<()> {
    set_no_new_privs(true)?;
    if !geteuid().is_root() {
        // Nothing was there to give up, and nothing new can come.
        return Ok(());
    }
    for capability in CapabilitySet::all().iter() {
        // One that the kernel does not know is not there.
        if capability_is_in_bounding_set(capability).unwrap_or(false) {
            remove_capability_from_bounding_set(capability)?;
        }
    }
    Ok(())
}
