//! The watch: looks at what a child and all its kin use together, and says when it is too much.
//!
//! The kernel's limits are per process. In a namespace of processes of its own nobody gets away from
//! the tree below the child, so walking the tree finds all of them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::param::page_size;

use super::resource_limits::ResourceLimits;

/// How often it looks.
const EVERY: Duration = Duration::from_millis(100);

/// What was too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExceededLimit {
    Processes(u64),
    Memory(u64),
    Disk(u64),
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: &u64| bytes / (1024 * 1024);
        match self {
            Self::Processes(most) => {
                write!(f, "it was ended because it had more than {most} processes at once")
            }
            Self::Memory(most) => {
                write!(f, "it was ended because it used more than {} MiB of memory", mib(most))
            }
            Self::Disk(reserve) => write!(
                f,
                "it was ended because it left less than {} MiB of the disk free",
                mib(reserve)
            ),
        }
    }
}

/// Who looks at one child.
#[derive(Clone, Debug)]
pub(crate) struct UsageWatch {
    limits: ResourceLimits,
    /// Folders whose disks must not run full, with what has to stay free.
    disks: Vec<(PathBuf, u64)>,
}

impl UsageWatch {
    /// Returns the watch over a child that may write in some folders.
    pub(crate) fn new(limits: ResourceLimits, folders: &[PathBuf]) -> Self {
        let reserve = |folder: &PathBuf| {
            let free = free_bytes(folder)?;
            Some((folder.clone(), limits.disk_reserve.min(free / 2)))
        };
        Self { limits, disks: folders.iter().filter_map(reserve).collect() }
    }

    /// Returns when the child and its kin use too much.
    pub(crate) async fn exceeded(&self, child: u32) -> ExceededLimit {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let watch = self.clone();
            let look = tokio::task::spawn_blocking(move || watch.look(child));
            if let Ok(Some(exceeded)) = look.await {
                return exceeded;
            }
        }
    }

    fn look(&self, child: u32) -> Option<ExceededLimit> {
        let low = |(folder, reserve): &(PathBuf, u64)| {
            free_bytes(folder).is_some_and(|free| free < *reserve).then_some(*reserve)
        };
        if let Some(reserve) = self.disks.iter().find_map(low) {
            return Some(ExceededLimit::Disk(reserve));
        }
        let (mut processes, mut memory, mut ahead) = (0, 0, vec![child]);
        while let Some(id) = ahead.pop() {
            processes += 1;
            memory += own_bytes(id).unwrap_or_default();
            if processes > self.limits.processes {
                return Some(ExceededLimit::Processes(self.limits.processes));
            }
            ahead.extend(children(id));
        }
        (memory > self.limits.memory).then_some(ExceededLimit::Memory(self.limits.memory))
    }
}

fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the children of all threads of a process.
fn children(id: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).ok();
    let texts: Vec<String> = threads.filter_map(|it| of_thread(it.ok()?)).collect();
    texts.iter().flat_map(|text| text.split_whitespace()).filter_map(|id| id.parse().ok()).collect()
}

/// Returns the memory a process shares with nobody.
fn own_bytes(id: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/statm")).ok()?;
    let mut pages = text.split(' ').skip(1).map_while(|it| it.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared).saturating_mul(page_size() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_too_much_is_found_and_nothing_else() {
        let plenty =
            ResourceLimits { processes: 1024, memory: u64::MAX, ..ResourceLimits::of_machine() };
        let us = std::process::id();
        let here = PathBuf::from("/");
        let watch = |limits, reserve| UsageWatch { limits, disks: vec![(here.clone(), reserve)] };
        assert_eq!(watch(plenty, 0).look(us), None);
        assert_eq!(watch(plenty, u64::MAX).look(us), Some(ExceededLimit::Disk(u64::MAX)));
        let few = ResourceLimits { processes: 0, ..plenty };
        assert_eq!(watch(few, 0).look(us), Some(ExceededLimit::Processes(0)));
        let little = ResourceLimits { memory: 1, ..plenty };
        assert_eq!(watch(little, 0).look(us), Some(ExceededLimit::Memory(1)));
    }

    #[test]
    fn of_a_disk_that_is_nearly_full_half_may_still_be_used() {
        let limits = ResourceLimits { disk_reserve: u64::MAX, ..ResourceLimits::of_machine() };
        let watch = UsageWatch::new(limits, &[PathBuf::from("/")]);
        assert!(watch.disks.iter().all(|(_, reserve)| *reserve < u64::MAX / 2));
        assert_eq!(watch.look(std::process::id()), None);
    }
}
