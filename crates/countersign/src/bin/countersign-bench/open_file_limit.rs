//! How many files and connections a process may have open.

use anyhow::anyhow;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a process opens besides its connections.
const OTHERS: usize = 128;

/// Raises the limit of this process and its children so far that `connections` fit, where that is allowed.
pub(crate) fn raise_open_file_limit(connections: usize) -> anyhow::Result<()> {
    let needed = u64::try_from(connections + OTHERS)?;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum: maximum.map(|most| most.max(needed)) };
    let most = maximum.map_or_else(|| "fewer".to_owned(), |most| most.to_string());
    setrlimit(Resource::Nofile, raised).map_err(|_| {
        anyhow!(
            "{connections} listeners take {needed} open files, and {most} are allowed here; raise the \
             limit first (`ulimit -n {needed}` as root), or take a smaller --n"
        )
    })
}
