//! The processes a process has started, for the moment before it is killed.
//!
//! The CLI gives each shell a session of its own, which a signal to its group does not reach. It ends
//! them itself when it is asked to end; when it is killed, nobody does.

use rustix::process::{Pid, Signal, kill_process};

/// Kills all that `root` has started, and what they have started. Linux only: elsewhere there is no
/// list to read.
pub(super) fn kill_descendants(root: Pid) {
    let parents = list_parents();
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = parents.iter().filter(|(_, of)| *of == parent).map(|(child, _)| *child);
        let children: Vec<_> = children.filter(|child| !family.contains(child)).collect();
        family.extend(children);
        next += 1;
    }
    for &descendant in family.iter().skip(1) {
        let _ = kill_process(descendant, Signal::KILL);
    }
}

/// Returns every process with its parent.
fn list_parents() -> Vec<(Pid, Pid)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let status = |entry: std::fs::DirEntry| {
        let child = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // `pid (name) state ppid`, and the name may hold anything, even brackets.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((child, Pid::from_raw(parent)?))
    };
    entries.filter_map(status).collect()
}
