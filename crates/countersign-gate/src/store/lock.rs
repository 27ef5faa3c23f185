//! A lock that ends with its process, however that ends.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::{DatabaseUrl, StoreError};

/// How long a server that is going down may hold it while its successor starts.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(20);

/// A file that is locked.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Keeps other servers away from a database in a file: they would not hear each other. Blocks.
    pub(crate) fn for_database(url: &DatabaseUrl) -> Result<Option<Self>, StoreError> {
        let DatabaseUrl::Sqlite(file) = url else { return Ok(None) };
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(StoreError::folder)?;
        }
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let taken = Self::acquire(Path::new(&name)).map_err(StoreError::folder)?;
        taken.map(Some).ok_or(StoreError::InUse)
    }

    /// Locks a file, which is made if need be; none if another process has it.
    fn try_acquire(path: &Path) -> std::io::Result<Option<Self>> {
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Locks a file, and waits a little for a process that is about to give it up. Blocks.
    pub(crate) fn acquire(path: &Path) -> std::io::Result<Option<Self>> {
        let started = Instant::now();
        loop {
            match Self::try_acquire(path)? {
                None if started.elapsed() < PATIENCE => std::thread::park_timeout(PAUSE),
                taken => return Ok(taken),
            }
        }
    }
}
