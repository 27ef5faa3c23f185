//! Limits: how much of the machine a child of the sandbox may use.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// How much a child and all its kin may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Processes at the same time.
    pub processes: u64,
    /// Bytes of memory, all processes together; no single one gets more either.
    pub memory: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of the private `/tmp`.
    pub temporary: u64,
    /// Bytes that stay free on the workspace's disk, or half of what was free if that is less.
    pub disk_reserve: u64,
}

impl ResourceLimits {
    /// Returns the limits for this machine: room for a large build, and the machine goes on living.
    pub fn of_machine() -> Self {
        Self {
            processes: 1024,
            memory: machine_memory().map_or(4 * GIB, |total| total / 4 * 3),
            file: 16 * GIB,
            temporary: GIB,
            disk_reserve: GIB,
        }
    }

    /// Applies to this process, and to what it starts, what the kernel counts per process.
    ///
    /// Where the child has a namespace of users of its own, the kernel also counts its threads there.
    pub(crate) fn apply(self, counts_apart: bool) -> rustix::io::Result<()> {
        lower(Resource::Core, 0)?;
        lower(Resource::Fsize, self.file)?;
        lower(Resource::Data, self.memory)?;
        if counts_apart {
            // Threads count here, and a build has many per process.
            lower(Resource::Nproc, self.processes.saturating_mul(4))?;
        }
        Ok(())
    }
}

/// Sets a limit that may already be lower, for good.
fn lower(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let known = getrlimit(resource);
    let most = Some(known.maximum.map_or(most, |known| known.min(most)));
    setrlimit(resource, Rlimit { current: most, maximum: most })
}

fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
